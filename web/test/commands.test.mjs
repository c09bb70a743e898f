// The commands that the page gives for figures without data: their options exist, and those that
// need no GPU give the figure its data. STRATA_COMMAND is the program; without it nothing is run.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { toPageData } from './embed.mjs';
import { load } from './modules.mjs';

const m = await load('data', 'documents/normalise', 'filter', 'figures/index');
const program = process.env.STRATA_COMMAND;
const skip = program ? false : 'STRATA_COMMAND does not name the program';
if (skip) console.log(`commands are not run: ${skip}`);
const here = dirname(fileURLToPath(import.meta.url));
const results = process.env.STRATA_RESULTS ?? join(here, '..', '..', 'docs', 'results');
const repository = join(results, '..', '..');

const folder = mkdtempSync(join(tmpdir(), 'strata-commands-'));
after(() => rmSync(folder, { recursive: true, force: true }));

function strata(...words) {
  return spawnSync(program, words, {
    encoding: 'utf8',
    cwd: repository,
    env: { ...process.env, STRATA_CACHE_DIR: join(folder, 'cache') },
  });
}

const helps = new Map();
function helpOf(command) {
  if (!helps.has(command)) helps.set(command, strata(command, '--help').stdout);
  return helps.get(command);
}

// What hints are of, made small.
const instead = {
  MATRIX: 'stencil27:12x12x12',
  '1:8': '1,2',
  '1000x1000': '24x24',
  '104x104x104': '16x16x16',
};
const quick = {
  machine: ['--seconds', '0.5', '--refresh'],
  info: [],
  solve: [],
  eig: [],
  fem: [],
  hpcg: ['--time', '0'],
};

for (const figure of m.figures) {
  const lines = figure.commands.map((line) => line.split(' '));

  test(`${figure.id}: options exist`, { skip }, () => {
    for (const [name, command, ...words] of lines) {
      assert.equal(name, 'strata');
      const known = helpOf(command).match(/(?<![\w-])--?[a-zA-Z][\w-]*/g) ?? [];
      assert.ok(known.includes('--help'), `there is no command ${command}`);
      for (const word of words.filter((candidate) => candidate.startsWith('-')))
        assert.ok(known.includes(word), `${command} has no option ${word}`);
      if (command !== 'bench') continue;
      assert.ok(existsSync(join(repository, words[0])), words[0]);
      const listed = strata('bench', words[0], '--dry-run');
      assert.equal(listed.status, 0, listed.stderr);
    }
  });

  const first = lines[0];
  if (first[1] === 'bench' || first.includes('cuda')) continue;
  test(`${figure.id}: its command gives it data`, { skip }, () => {
    const file = join(folder, `${figure.id}.json`);
    const words = first.slice(1).map((word) =>
      // As many threads as the hint has are not everywhere.
      word === '1:8' && !first.includes('--threads') ? word : (instead[word] ?? word),
    );
    words[words.indexOf('FILE')] = file;
    words.push(...(quick[first[1]] ?? ['--min-time', '0']));
    const run = strata(...words, '--quiet');
    assert.equal(run.status, 0, run.stderr);
    const report = m.normalise(
      m.pageData(toPageData([{ name: 'hint', text: readFileSync(file, 'utf8') }])),
    );
    // Whether a set-up ever pays off is a matter of times, which are short here.
    const drawn =
      figure.id === 'break-even'
        ? report.results.some((result) => result.breakEven !== null)
        : figure.build(m.applyFilter(report, m.noFilter), {}) !== null;
    assert.ok(drawn, words.join(' '));
  });
}
