// The page in a real browser: no errors, no requests, filters, sorting, CSV and keyboard work; and
// screenshots for people to look at, in test/screenshots.

import assert from 'node:assert/strict';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { errors } from 'playwright-core';
import { browserPath, launch, open } from './browser.mjs';
import { dist, embed, readInputs, toPageData } from './embed.mjs';
import { awkwardData, completeData, manyResults } from './samples.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const shots = join(here, 'screenshots');
const results = process.env.STRATA_RESULTS ?? join(here, '..', '..', 'docs', 'results');
const skip =
  browserPath() === null
    ? 'there is no chromium on the PATH (Debian: apt-get install chromium); STRATA_BROWSER names another browser'
    : false;
if (skip) console.log(`browser tests are skipped: ${skip}`);

/** True of an error of waiting, thrown again if it is another. */
function timedOut(error) {
  if (error instanceof errors.TimeoutError) return true;
  throw error;
}

describe('the page in a browser', { skip }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'strata-page-'));
  const files = {};
  let browser;

  before(async () => {
    mkdirSync(shots, { recursive: true });
    // The project's own results: all, those of GPUs, and those of processors.
    const own = (keep) =>
      toPageData(
        readInputs(
          readdirSync(results)
            .filter((name) => /\.jsonl?(\.gz)?$/.test(name) && keep(name))
            .map((name) => join(results, name)),
        ),
      );
    const pages = {
      own: own(() => true),
      gpu: own((name) => name.startsWith('gpu')),
      cpu: own((name) => !name.startsWith('gpu')),
      complete: completeData(),
      awkward: awkwardData(),
      many: manyResults(5000),
    };
    for (const [name, data] of Object.entries(pages)) {
      files[name] = join(folder, `${name}.html`);
      writeFileSync(files[name], embed(data));
    }
    browser = await launch();
  });

  after(async () => {
    await browser?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /**
   * A test in the browser. If that stops answering, some of what waits for it would wait for ever:
   * the test is then repeated once in a new one. Failed checks are not repeated.
   */
  function inBrowser(name, body) {
    const patience = 90_000;
    test(name, async (context) => {
      for (const last of [false, true]) {
        const attempt = body();
        attempt.catch(() => {}); // of an attempt that is given up
        const silence = sleep(patience, true, { ref: false });
        const silent = await Promise.race([attempt.then(() => false, timedOut), silence]);
        if (!silent) return;
        assert.ok(!last, 'the browser stopped answering twice');
        context.diagnostic('the browser stopped answering; again in a new one');
        await browser.close();
        browser = await launch();
      }
    });
  }

  /** The text that a click saves. */
  async function saved(page, click) {
    const [download] = await Promise.all([page.waitForEvent('download'), click()]);
    const file = join(folder, 'saved');
    await download.saveAs(file);
    return readFileSync(file, 'utf8');
  }

  async function drawn(page) {
    await page.evaluate(async () => {
      for (const card of document.querySelectorAll('.card')) {
        card.scrollIntoView({ behavior: 'instant' });
        await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 20)));
      }
      scrollTo({ top: 0, behavior: 'instant' });
    });
    await page.waitForFunction(
      () =>
        [...document.querySelectorAll('.picture')].every(
          (picture) => picture.hidden || picture.firstElementChild,
        ),
      undefined,
      { timeout: 30_000 },
    );
  }

  const quiet = ({ errors, requests }) => {
    assert.deepEqual(errors, []);
    assert.deepEqual(requests, []);
  };

  for (const name of ['own', 'complete', 'awkward', 'many']) {
    inBrowser(`${name}: every figure is drawn, without errors and requests`, async () => {
      const opened = await open(browser.context, files[name]);
      await drawn(opened.page);
      const broken = await opened.page.evaluate(() =>
        [...document.querySelectorAll('.picture svg')]
          .filter((svg) => /NaN|undefined|Infinity/.test(svg.outerHTML))
          .map((svg) => svg.closest('.card').id),
      );
      assert.deepEqual(broken, []);
      assert.ok((await opened.page.locator('h1').textContent()).length > 20);
      quiet(opened);
      await opened.page.close();
    });
  }

  inBrowser('every figure of the complete sample is there', async () => {
    const { page } = await open(browser.context, files.complete);
    assert.ok((await page.locator('.picture').count()) > 25);
    assert.equal(await page.locator('#left-out').count(), 0);
    await page.close();
  });

  inBrowser('foreign names are text and nothing else', async () => {
    const opened = await open(browser.context, files.awkward);
    await drawn(opened.page);
    await opened.page.evaluate(() => {
      for (const fold of document.querySelectorAll('details')) fold.open = true;
    });
    await opened.page.waitForTimeout(200);
    assert.equal(await opened.page.evaluate(() => window.injected), undefined);
    assert.equal(await opened.page.locator('main img, main script, main b, main i').count(), 0);
    assert.match(await opened.page.locator('#failures').textContent(), /ran longer than 10 s/);
    await opened.page.locator('#everything').scrollIntoViewIfNeeded();
    await opened.page.locator('#everything tbody tr').first().waitFor();
    assert.match(await opened.page.locator('#everything').textContent(), /<script>/);
    quiet(opened);
    await opened.page.close();
  });

  inBrowser('filters change the answer, the figures and the table', async () => {
    const opened = await open(browser.context, files.own);
    const { page } = opened;
    const status = page.locator('#table-status');
    const all = await status.textContent();
    const answer = await page.locator('h1').textContent();
    const picture = await page.locator('#products svg').innerHTML();
    await page.selectOption('#filter-machine', { index: 1 });
    assert.notEqual(await status.textContent(), all);
    assert.notEqual(await page.locator('h1').textContent(), answer);
    await page.fill('#filter-matrix', 'stencil');
    await page.locator('#everything tbody').scrollIntoViewIfNeeded();
    await page.waitForFunction(() =>
      /stencil/.test(document.querySelector('#everything tbody tr:first-child th')?.textContent),
    );
    await page.fill('#filter-matrix', 'no such matrix');
    assert.match(await status.textContent(), /No result/);
    await page.locator('#products h3').scrollIntoViewIfNeeded();
    await page.waitForFunction(() =>
      /Nothing passes/.test(document.querySelector('#products .summary').textContent),
    );
    await page.click('#filter-clear');
    assert.equal(await status.textContent(), all);
    await page.waitForFunction(
      (same) => document.querySelector('#products svg')?.innerHTML === same,
      picture,
    );
    quiet(opened);
    await page.close();
  });

  inBrowser('the table sorts by its headings, numbers as numbers', async () => {
    const { page } = await open(browser.context, files.own);
    await page.locator('#everything').scrollIntoViewIfNeeded();
    await page.locator('#everything tbody tr').first().waitFor();
    const column = await page.evaluate(() =>
      [...document.querySelectorAll('#everything thead th')].findIndex(
        (cell) => cell.textContent.trim() === 'GF/s',
      ),
    );
    const heading = page.locator('#everything thead th').nth(column);
    const values = async () =>
      (
        await page.locator(`#everything tbody tr > :nth-child(${column + 1})`).allTextContents()
      ).map((text) => Number(text.replaceAll('\u202f', '')));
    await heading.locator('button').click();
    assert.equal(await heading.getAttribute('aria-sort'), 'descending');
    const down = await values();
    assert.deepEqual(
      down,
      [...down].sort((a, b) => b - a),
    );
    await heading.locator('button').click();
    assert.equal(await heading.getAttribute('aria-sort'), 'ascending');
    const up = await values();
    assert.deepEqual(
      up,
      [...up].sort((a, b) => a - b),
    );
    assert.ok(up[0] < down[0]);
    await page.close();
  });

  inBrowser('tables of facts sort, say what they correspond to, and download', async () => {
    const { page } = await open(browser.context, files.complete);
    for (const [id, number] of [
      ['stream', '4.1'],
      ['plateaus', '4.2'],
      ['matrices', '4.3'],
      ['cache-sizes', '4.4'],
      ['blocking-limits', '4.5'],
      ['fits', '4.6'],
    ]) {
      const words = `s Table ${number} of Panzlaff’s thesis`;
      assert.ok((await page.locator(`#${id} .summary`).textContent()).includes(words), id);
      assert.ok((await page.locator(`#${id} caption`).textContent()).includes(words), id);
    }
    await page.locator('#matrices details').evaluate((fold) => (fold.open = true));
    const rows = async () =>
      (await page.locator('#matrices tbody tr > :nth-child(2)').allTextContents()).map((text) =>
        Number(text.replaceAll('\u202f', '')),
      );
    const before = await rows();
    await page.locator('#matrices thead button', { hasText: /^rows$/ }).click();
    assert.deepEqual(
      await rows(),
      [...before].sort((a, b) => b - a),
    );
    const csv = await saved(page, () => page.locator('#matrices .actions button').click());
    assert.match(csv, /^matrix,rows,columns,nonzeros,/);
    await page.close();
  });

  inBrowser('solvers: curves, choices, and a table that sorts and downloads', async () => {
    const opened = await open(browser.context, files.complete);
    const { page } = opened;
    await page.locator('#convergence').scrollIntoViewIfNeeded();
    await page.waitForFunction(() => document.querySelector('#convergence svg'));
    assert.equal(await page.locator('#convergence svg [aria-label=line] path').count(), 4);
    assert.match(await page.locator('#convergence svg').textContent(), /tolerance 1e−8/);
    const bars = page.locator('#iterations svg');
    await page.locator('#iterations').scrollIntoViewIfNeeded();
    await page.waitForFunction(() => document.querySelector('#iterations svg'));
    assert.match(await bars.textContent(), /time per iteration, ms.*stencil7:256x256x256.*PETSc/s);
    await page
      .locator('#iterations select')
      .last()
      .selectOption({ label: 'all methods on stencil7:64x64x64' });
    assert.match(await bars.textContent(), /ca-cg, s = 4, newton/);
    await page.selectOption('#filter-kernel', 'solve');
    await page.waitForFunction(() =>
      /of 18$/.test(document.querySelector('#table-status').textContent),
    );
    await page.locator('#solves details').evaluate((fold) => (fold.open = true));
    await page.locator('#solves thead button', { hasText: /^per iteration$/ }).click();
    const times = await page.evaluate(() => {
      const table = document.querySelector('#solves table');
      const column = [...table.tHead.rows[0].cells].findIndex((cell) =>
        cell.textContent.trim().startsWith('per iteration'),
      );
      return [...table.tBodies[0].rows].map((row) => parseFloat(row.cells[column].textContent));
    });
    assert.deepEqual([times[0], times.length], [12, 18]);
    const csv = await saved(page, () => page.locator('#solves .actions button').click());
    assert.match(csv, /^matrix,backend,method,parameters,/);
    quiet(opened);
    await page.close();
  });

  inBrowser('CSV has every filtered row, and figures have their numbers', async () => {
    const { page } = await open(browser.context, files.awkward);
    const everything = await saved(page, () => page.click('#download-csv'));
    const shown = await page.locator('#table-status').textContent();
    assert.equal(everything.trimEnd().split('\r\n').length - 1, Number(shown.match(/of (\d+)/)[1]));
    assert.match(everything, /"""quoted"" and 'single'"/);
    assert.match(everything, /\r\n'=SUM/);
    await page.locator('#products details.numbers > summary').click();
    assert.match(
      await saved(page, () => page.locator('#products .numbers .actions button').click()),
      /^matrix,nonzeros,/,
    );
    const svg = await saved(page, () => page.locator('#products .below > button').click());
    assert.match(svg, /^<\?xml/);
    assert.doesNotMatch(svg, /var\(--|<script/);
    await page.close();
  });

  inBrowser('saved figures are light or dark as the system is', async () => {
    const { page } = await open(browser.context, files.complete);
    const figure = join(folder, 'saved.svg');
    writeFileSync(
      figure,
      await saved(page, () => page.locator('#products .below > button').click()),
    );
    await page.goto(`file://${figure}`);
    const ground = () => page.evaluate(() => getComputedStyle(document.querySelector('rect')).fill);
    assert.equal(await ground(), 'rgb(255, 255, 255)');
    await page.emulateMedia({ colorScheme: 'dark' });
    assert.equal(await ground(), 'rgb(28, 32, 38)');
    await page.close();
  });

  inBrowser('everything can be reached and used by the keyboard', async () => {
    const { page } = await open(browser.context, files.own);
    await page.keyboard.press('Tab');
    assert.equal(await page.evaluate(() => document.activeElement.className), 'skip');
    const reached = new Set();
    for (let i = 0; i < 60; ++i) {
      await page.keyboard.press('Tab');
      reached.add(
        await page.evaluate(
          () =>
            document.activeElement.id ||
            document.activeElement.className ||
            document.activeElement.tagName,
        ),
      );
    }
    for (const id of ['theme-system', 'filter-matrix', 'filter-machine', 'filter-clear'])
      assert.ok(reached.has(id), id);
    await page.focus('#filter-machine');
    const before = await page.locator('#table-status').textContent();
    await page.keyboard.press('ArrowDown');
    assert.notEqual(await page.locator('#table-status').textContent(), before);
    assert.match(await page.locator('#announcer').textContent(), /results pass the filters/);
    const reading = page.locator('#products details.reading > summary');
    await reading.focus();
    await page.keyboard.press('Enter');
    assert.ok(await page.locator('#products details.reading').evaluate((node) => node.open));
    const sort = page.locator('#everything thead button').first();
    await sort.focus();
    await page.keyboard.press('Space');
    assert.equal(
      await page.locator('#everything thead th').first().getAttribute('aria-sort'),
      'ascending',
    );
    await page.close();
  });

  inBrowser('choices of a figure keep the focus and change the drawing', async () => {
    const { page } = await open(browser.context, files.own);
    const list = page.locator('#products .controls select').first();
    await list.focus();
    const before = await page.locator('#products svg').innerHTML();
    await list.selectOption({ index: 1 });
    assert.ok((await page.locator('#products svg').innerHTML()) !== before);
    assert.equal(await page.evaluate(() => document.activeElement.tagName), 'SELECT');
    await page.close();
  });

  inBrowser('screen readers find names, descriptions and tables', async () => {
    const { page } = await open(browser.context, files.complete);
    await drawn(page);
    const gaps = await page.evaluate(() => {
      const named = (node) =>
        node.getAttribute('aria-label') ||
        document.getElementById(node.getAttribute('aria-labelledby') ?? '')?.textContent;
      const problems = [];
      for (const picture of document.querySelectorAll('.picture')) {
        if (picture.getAttribute('role') !== 'img' || !named(picture))
          problems.push('a picture without a name');
        if (
          !(
            document.getElementById(picture.getAttribute('aria-describedby'))?.textContent.length >
            10
          )
        )
          problems.push(`${picture.closest('.card').id} has no description`);
      }
      for (const field of document.querySelectorAll('select, input'))
        if (!field.labels?.length) problems.push(`${field.id} has no label`);
      for (const table of document.querySelectorAll('table'))
        if (!table.caption) problems.push('a table without a caption');
      const levels = [...document.querySelectorAll('h1, h2, h3')].map((node) =>
        Number(node.tagName[1]),
      );
      levels.forEach((level, index) => {
        if (index > 0 && level > levels[index - 1] + 1)
          problems.push('a level of headings is left out');
      });
      if (document.querySelectorAll('h1').length !== 1) problems.push('not one h1');
      const ids = [...document.querySelectorAll('[id]')].map((node) => node.id);
      if (new Set(ids).size !== ids.length) problems.push('an id twice');
      return problems;
    });
    assert.deepEqual(gaps, []);
    await page.close();
  });

  inBrowser('texts have the contrast that WCAG AA asks for, light and dark', async () => {
    for (const scheme of ['light', 'dark']) {
      const { page } = await open(browser.context, files.own, { scheme });
      const worst = await page.evaluate(() => {
        const channel = (value) =>
          value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
        const luminance = (hex) =>
          [1, 3, 5]
            .map((i) => channel(parseInt(hex.slice(i, i + 2), 16) / 255))
            .reduce((sum, value, i) => sum + value * [0.2126, 0.7152, 0.0722][i], 0);
        const style = getComputedStyle(document.documentElement);
        const color = (name) => luminance(style.getPropertyValue(name).trim());
        const ratio = (a, b) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        const text = ['--ink', '--muted', '--accent'].flatMap((name) =>
          ['--card', '--page'].map((ground) => [name, ratio(color(name), color(ground)) / 4.5]),
        );
        const marks = [1, 2, 3, 4, 5, 6, 7, 8].map((i) => [
          `--s${i}`,
          ratio(color(`--s${i}`), color('--card')) / 2.9,
        ]);
        return [...text, ...marks]
          .filter(([, share]) => share < 1)
          .map(([name, share]) => `${name} ${share.toFixed(2)}`);
      });
      assert.deepEqual(worst, [], scheme);
      await page.close();
    }
  });

  inBrowser('the switch changes the colours and is remembered', async () => {
    const { page } = await open(browser.context, files.own);
    const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const light = await ground();
    await page.click('label[for=theme-dark]');
    assert.notEqual(await ground(), light);
    await page.reload();
    await page.waitForFunction(() => document.documentElement.dataset.ready);
    assert.notEqual(await ground(), light);
    await page.click('label[for=theme-system]');
    assert.equal(await ground(), light);
    await page.close();
  });

  inBrowser('nothing is wider than a phone', async () => {
    for (const name of ['awkward', 'complete']) {
      const { page } = await open(browser.context, files[name], { width: 360, height: 740 });
      await drawn(page);
      assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 360, name);
      await page.close();
    }
  });

  inBrowser('a page without data and a damaged one say so', async () => {
    const damaged = join(folder, 'damaged.html');
    writeFileSync(
      damaged,
      readFileSync(join(dist, 'report.html'), 'utf8').replace('<!--STRATA-DATA-->', 'H4sIAAAA'),
    );
    for (const [file, words] of [
      [join(dist, 'report.html'), /no results/],
      [damaged, /damaged/],
    ]) {
      const opened = await open(browser.context, file);
      assert.match(await opened.page.locator('[role=alert]').textContent(), words);
      quiet(opened);
      await opened.page.close();
    }
  });

  inBrowser('5000 results: size, start and filters', async () => {
    const { page } = await open(browser.context, files.many);
    const ready = await page.evaluate(
      () => performance.getEntriesByName('strata-ready')[0].startTime,
    );
    await page.waitForTimeout(1000);
    const slowest = await page.evaluate(async () => {
      let most = 0;
      const frame = () =>
        new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
      for (const text of ['1', '12', '', '00', '']) {
        const input = document.getElementById('filter-matrix');
        const start = performance.now();
        input.value = text;
        input.dispatchEvent(new Event('input', { bubbles: true }));
        document.body.getBoundingClientRect();
        most = Math.max(most, performance.now() - start);
        await frame();
      }
      return most;
    });
    const size = statSync(files.many).size;
    console.log(
      `5000 results: ${(size / 1e6).toFixed(2)} MB, interactive after ${ready.toFixed(0)} ms, a filter takes at most ${slowest.toFixed(0)} ms`,
    );
    assert.ok(size <= 6e6);
    // Generous: machines of tests have other work. test/benchmark.mjs has the strict bounds.
    assert.ok(ready < 20_000 && slowest < 2_000);
    await page.close();
  });

  const sizes = { phone: { width: 390, height: 844 }, laptop: { width: 1280, height: 800 } };
  for (const scheme of ['light', 'dark']) {
    for (const [name, size] of Object.entries(sizes)) {
      for (const sample of ['gpu', 'cpu', 'complete']) {
        inBrowser(`screenshot: ${sample}, ${name}, ${scheme}`, async () => {
          const { page } = await open(browser.context, files[sample], { ...size, scheme });
          await drawn(page);
          await page.screenshot({
            path: join(shots, `${sample}-${name}-${scheme}.png`),
            fullPage: true,
          });
          await page.close();
        });
      }
    }
    for (const sample of ['gpu', 'cpu'])
      inBrowser(`screenshot: ${sample}, print, ${scheme}`, async () => {
        const { page } = await open(browser.context, files[sample], {
          width: 794,
          height: 1123,
          scheme,
        });
        await page.emulateMedia({ media: 'print', colorScheme: scheme });
        await drawn(page);
        assert.equal(
          await page.evaluate(() =>
            getComputedStyle(document.documentElement).getPropertyValue('--card').trim(),
          ),
          '#ffffff',
        );
        await page.screenshot({
          path: join(shots, `${sample}-print-${scheme}.png`),
          fullPage: true,
        });
        await page.pdf({ path: join(shots, `${sample}-print-${scheme}.pdf`), format: 'A4' });
        await page.close();
      });
  }
});
