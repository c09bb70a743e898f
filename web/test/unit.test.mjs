// Tests of what needs no browser: texts, statistics, CSV, normalising, filters, answers, figures as files.

import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { dist } from './embed.mjs';
import { load } from './modules.mjs';
import {
  awkwardData,
  awkwardNames,
  campaignData,
  completeData,
  document,
  elements,
  hpcg,
  machine,
  manyResults,
  pageOf,
  product,
  solve,
} from './samples.mjs';

const m = await load(
  'text',
  'statistics',
  'csv',
  'data',
  'documents/normalise',
  'documents/machines',
  'documents/solvers',
  'filter',
  'cases',
  'answer',
  'cells',
  'fact_tables',
  'theme_colors',
  'plot',
  'figures/index',
  'figures/over_parameters',
);
const folder = mkdtempSync(join(tmpdir(), 'strata-figures-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const reportOf = (data) => m.normalise(m.pageData(data));
const viewOf = (data, filter = {}) => m.applyFilter(reportOf(data), { ...m.noFilter, ...filter });

test('numbers have three digits and groups', () => {
  assert.equal(m.number(1.23456), '1.23');
  assert.equal(m.number(0.995), '0.995');
  assert.equal(m.number(12345.6), '12\u202f346');
  assert.equal(m.number(null), '–');
  assert.equal(m.number(Infinity), '∞');
  assert.equal(m.number(-2), '−2.00');
  assert.equal(m.number(1e300), '1.00e+300');
  assert.equal(m.bytes(1.5e6), '1.50\u202fMB');
  assert.equal(m.seconds(2e-6), '2.00\u202fµs');
  assert.equal(m.tick(20000), '20k');
  assert.equal(m.secondTick(0.002), '2\u202fms');
});

test('names become one visible line', () => {
  assert.equal(m.oneLine('a\nb'), 'a␤b');
  assert.equal(m.oneLine('\u202egnp.exe'), '␦gnp.exe');
  assert.equal(m.oneLine('\u0000'), '␦');
  assert.equal(m.oneLine('🧮 x'), '🧮 x');
  assert.equal(m.oneLine(null), '');
  assert.equal([...m.shorten('😀'.repeat(50), 20)].length, 20);
});

test('the geometric mean leaves out what is not a speed', () => {
  assert.ok(Math.abs(m.geometricMean([1, 4, 0, NaN, Infinity, -3]) - 2) < 1e-12);
  assert.equal(m.geometricMean([]), null);
});

test('a performance profile counts unsolved problems against a solver', () => {
  const profiles = m.performanceProfiles([
    new Map([
      ['a', 10],
      ['b', 5],
    ]),
    new Map([
      ['a', 4],
      ['b', 8],
    ]),
    new Map([['b', 1]]),
  ]);
  assert.ok(Math.abs(m.shareAt(profiles.get('a'), 1) - 1 / 3) < 1e-12);
  assert.ok(Math.abs(m.shareAt(profiles.get('a'), 100) - 2 / 3) < 1e-12);
  assert.ok(Math.abs(m.shareAt(profiles.get('b'), 1) - 2 / 3) < 1e-12);
  assert.equal(m.shareAt(profiles.get('b'), 2), 1);
});

test('CSV quotes what needs it and defuses formulas', () => {
  assert.equal(m.csvCell('plain'), 'plain');
  assert.equal(m.csvCell('a,b'), '"a,b"');
  assert.equal(m.csvCell('say "x"\n'), '"say ""x""\n"');
  assert.equal(m.csvCell('=1+1'), "'=1+1");
  assert.equal(m.csvCell(-1.5), '-1.5');
  assert.equal(m.csvCell(null), '');
  assert.equal(m.csvCell(Infinity), '');
  assert.equal(m.csv(['a', 'b'], [[1, 'x']]), 'a,b\r\n1,x\r\n');
});

test('data is decoded, and damage is said', async () => {
  const data = pageOf(document());
  const decoded = await m.decode(gzipSync(JSON.stringify(data)).toString('base64'));
  assert.equal(decoded.runs.length, 1);
  await assert.rejects(m.decode('<!--STRATA-DATA-->'), /no results/);
  await assert.rejects(m.decode('AAAA'), /damaged/);
  await assert.rejects(m.decode(gzipSync('{').toString('base64')), /not JSON/);
  await assert.rejects(m.decode(gzipSync('[]').toString('base64')), /not an object/);
});

test('results without keys get what can be worked out', () => {
  const report = reportOf(
    pageOf(document({ results: [{ variant: 'packed SELL-32, full values', seconds: 0.001 }] })),
  );
  const [result] = report.results;
  assert.equal(result.kernel, 'spmv');
  assert.equal(result.family, 'packed SELL, full values');
  assert.equal(result.precision, 'double');
  assert.ok(Math.abs(result.gflops - 20) < 1e-9);
});

test('numbers that are none do not reach figures', () => {
  const report = reportOf(
    pageOf(
      document({
        results: [
          product({
            gflops: null,
            seconds: { median: 'x' },
            predicted: { gflops: -1 },
            speedup_over_vendor: 0,
          }),
        ],
      }),
    ),
  );
  assert.equal(report.results.length, 0);
  const kept = reportOf(
    pageOf(
      document({
        results: [
          product({ speedup_over_vendor: -1, setup_seconds: null, break_even_products: null }),
        ],
      }),
    ),
  ).results[0];
  assert.equal(kept.overPeer, null);
  assert.equal(kept.breakEven, Infinity);
});

test('machines of one name are told apart by their facts', () => {
  const report = reportOf(
    pageOf(
      document(),
      document({ machine: machine({ cores: 2 }) }),
      document({ machine: machine({ memory_bytes: 32 * 2 ** 30 }) }),
      document({ machine: machine({ memory_bytes: 64 * 2 ** 30 + 4096 }) }),
    ),
  );
  assert.equal(report.machines.length, 3);
  const labels = report.machines.map((item) => item.label);
  assert.equal(new Set(labels).size, 3);
  assert.ok(
    labels.some((label) => label.includes('64 GiB')) &&
      labels.some((label) => label.includes('32 GiB')),
    labels.join('; '),
  );
});

test('machines that no fact tells apart are told apart by their hosts', () => {
  const data = pageOf(document(), document());
  data.runs[0].host = 'node1';
  data.runs[1].host = 'node2';
  const labels = reportOf(data).machines.map((item) => item.label);
  assert.deepEqual(
    labels.map((label) => label.match(/on node\d/)?.[0]),
    ['on node1', 'on node2'],
  );
});

test('a document without a host is of the only host with its facts', () => {
  const data = pageOf(document(), document(), document({ machine: machine({ cores: 2 }) }));
  data.runs[1].host = 'node1';
  assert.deepEqual(
    reportOf(data).machines.map((item) => item.label),
    ['Example, 8 cores', 'Example, 2 cores'],
  );
  data.runs.push({ ...data.runs[0], host: 'node2' });
  assert.equal(reportOf(data).machines.length, 4);
});

test('a processor and its GPU are two machines', () => {
  const report = reportOf(completeData());
  assert.deepEqual(report.machines.map((item) => item.gpu).sort(), [false, true]);
  assert.equal(m.processorName('implementer 0x41, part 0xd40'), 'Arm Neoverse V1');
  assert.equal(m.processorName('Intel(R) Xeon(R) CPU E5 @ 2.20GHz'), 'Intel Xeon E5');
});

test('matrices of one name and different sizes are different matrices', () => {
  const report = reportOf(
    pageOf(document(), document({ matrix: { name: 'example', rows: 5, cols: 5, nnz: 9 } })),
  );
  assert.equal(report.matrices.length, 2);
  assert.notEqual(report.matrices[0].name, report.matrices[1].name);
});

test('speed-ups compare within a run, or within a campaign of one case per run', () => {
  const inRun = reportOf(
    pageOf(
      document({
        results: [
          product({ gflops: 30 }),
          product({ backend: 'vendor', variant: 'Eigen', gflops: 10 }),
        ],
      }),
    ),
  );
  assert.ok(Math.abs(inRun.results[0].overPeer - 3) < 1e-12);
  const apart = reportOf(campaignData());
  assert.ok(Math.abs(apart.results.find((result) => result.own).overPeer - 2) < 1e-12);
});

test('torn lines and failed cases are reported', () => {
  const report = reportOf(campaignData());
  assert.match(report.sources[0].problems[0], /torn/);
  assert.deepEqual(
    report.failures.map((failure) => [failure.name, failure.what, failure.reason]),
    [['slow', 'ran out of time', 'longer than 60 s']],
  );
});

test('refused and wrong results are listed', () => {
  const report = reportOf(awkwardData());
  assert.ok(report.failures.some((failure) => failure.reason === 'the matrix is not square'));
  assert.ok(report.failures.some((failure) => failure.what.endsWith('is wrong')));
});

test('the answer has mean, number of matrices and the worst', () => {
  const pair = (name, own, peer) =>
    document({
      matrix: { name, rows: 10, cols: 10, nnz: 100 },
      results: [
        product({ gflops: own }),
        product({ backend: 'vendor', variant: 'Eigen 3.4.0', gflops: peer }),
      ],
    });
  const [answer] = m.answers(viewOf(pageOf(pair('a', 4, 1), pair('b', 1, 1), pair('c', 2, 1))));
  assert.ok(Math.abs(answer.low - 2) < 1e-12 && answer.low === answer.high);
  assert.deepEqual(answer.parts, []);
  assert.equal(
    answer.text,
    'Strata’s fastest product is 2.00 times as fast as Eigen’s fastest on Example, 8 cores with 8 threads, in geometric mean over 3 matrices; at least 1.00, on b.',
  );
});

/** Data of several files or campaigns: for each its name and the speed-ups of its matrices. */
function collections(...given) {
  const data = pageOf();
  data.sources = given.map(({ file }) => ({ name: file, problems: [] }));
  given.forEach(({ campaign, speedups, prefix }, source) =>
    speedups.forEach((speedup, index) =>
      data.runs.push({
        source,
        campaign,
        status: 'done',
        document: document({
          matrix: { name: `${prefix}${index}`, rows: 10, cols: 10, nnz: 100 },
          results: [
            product({ gflops: speedup }),
            product({ backend: 'vendor', variant: 'Eigen 3.4.0', gflops: 1 }),
          ],
        }),
      }),
    ),
  );
  return data;
}

test('files and campaigns of different matrices are not averaged', () => {
  const five = (speedup) => [speedup, speedup, speedup, speedup, speedup];
  const [answer, ...others] = m.answers(
    viewOf(
      collections(
        { file: 'large.json', prefix: 'l', speedups: five(4) },
        { file: 'x.jsonl', campaign: 'small', prefix: 's', speedups: [...five(1), 1] },
        { file: 'one.json', prefix: 'o', speedups: [9] },
      ),
    ),
  );
  assert.equal(others.length, 0);
  assert.equal(
    answer.text,
    'Strata’s fastest product is 1.00 to 4.00 times as fast as Eigen’s fastest on Example, 8 cores with 8 threads, in geometric mean over the matrices of each of 1 campaign and 1 file.',
  );
  assert.deepEqual(answer.parts, [
    'small: 1.00 times over 6 matrices; at least 1.00, on s0.',
    'large: 4.00 times over 5 matrices; at least 4.00, on l0.',
    'Fewer matrices: one 9.00 times (1).',
  ]);
});

test('speed-ups of different powers are not averaged', () => {
  const power = (p, plan) => [
    { kernel: 'mpk', strategy: 'spmv', asked: 'spmv', power: p, threads: 8, gflops: 1 },
    { kernel: 'mpk', strategy: 'wavefront', asked: 'auto', power: p, threads: 8, gflops: plan },
  ];
  const [answer] = m.answers(
    viewOf(pageOf(document({ results: [...power(1, 1), ...power(4, 2), ...power(8, 1.5)] }))),
  );
  assert.match(
    answer.text,
    /^Strata’s powers \(p = 1 … 8\) are 1\.00 \(p = 1\) to 2\.00 \(p = 4\) times as fast as plain products on /,
  );
});

test('the latest measurement of a case counts', () => {
  const at = (time, gflops) =>
    document({
      time,
      results: [product({ gflops }), product({ backend: 'vendor', variant: 'Eigen', gflops: 1 })],
    });
  const cases = m.casesOf(
    reportOf(pageOf(at('2026-02-01', 5), at('2026-03-01', 7), at('2026-01-01', 9))).results,
    'spmv',
  );
  assert.equal(cases.length, 1);
  assert.equal(cases[0].best.gflops, 7);
});

test('filters keep peers when a format is chosen', () => {
  const data = completeData();
  const all = viewOf(data);
  const some = viewOf(data, { format: 'packed SELL' });
  assert.ok(some.results.length < all.results.length);
  assert.ok(some.results.some((result) => !result.own));
  assert.ok(some.results.every((result) => !result.own || result.family === 'packed SELL'));
  assert.equal(
    viewOf(data, { matrix: 'BAND 40000' }).results.every((result) =>
      result.matrix.name.includes('40000'),
    ),
    true,
  );
});

test('every figure has data in the complete sample, and draws', () => {
  const view = viewOf(completeData());
  for (const figure of m.figures) {
    const drawing = figure.build(view, {});
    assert.ok(drawing, figure.id);
    assert.ok(drawing.summary.length > 10, figure.id);
    assert.ok(drawing.table.rows.length > 0, figure.id);
    for (const row of drawing.table.rows)
      assert.equal(row.length, drawing.table.header.length, figure.id);
  }
});

test('every choice that a figure offers can be made', () => {
  for (const data of [completeData(), awkwardData()]) {
    const view = viewOf(data);
    for (const figure of m.figures) {
      for (const control of figure.build(view, {})?.controls ?? []) {
        for (const option of control.options.slice(0, 12))
          assert.ok(
            figure.build(view, { [control.id]: option.value }),
            `${figure.id} ${control.id} ${option.value}`,
          );
      }
    }
  }
});

/** A machine whose profile says what the thesis measured of the L40 (tables 4.1, 4.2 and 4.6). */
const l40 = () =>
  document({
    matrix: {},
    machine: machine({ gpu: { name: 'Nvidia L40' } }),
    results: [
      {
        kernel: 'machine',
        backend: 'cuda',
        stream: {
          copy_bytes_per_second: 775e9,
          mul_bytes_per_second: 769e9,
          add_bytes_per_second: 768e9,
          triad_bytes_per_second: 802e9,
          dot_bytes_per_second: 838e9,
        },
        plateaus: [
          { bytes: 5e7, bytes_per_second: 5286e9 },
          { bytes: 1e9, bytes_per_second: 833e9 },
        ],
        hockney: { overhead_seconds: 1.06e-6, bytes_per_second: 5205e9, relative_error: 0.1 },
      },
    ],
  });

const factTable = (data, id) => m.factTables.find((item) => item.id === id).build(reportOf(data));

test('the tables of the thesis come out of its numbers', () => {
  const data = pageOf(l40());
  const stream = factTable(data, 'stream');
  assert.deepEqual(stream.header, [
    'machine',
    'copy, GB/s',
    'scale (mul), GB/s',
    'add, GB/s',
    'triad, GB/s',
    'dot, GB/s',
  ]);
  assert.deepEqual(stream.rows, [['Nvidia L40', 775, 769, 768, 802, 838]]);
  assert.deepEqual(factTable(data, 'plateaus').rows[0].slice(0, 3), ['Nvidia L40', 5286, 833]);
  // Table 4.5 of the thesis, row of the L40.
  const speedups = [1.0, 1.73, 2.28, 2.72, 3.07, 3.36, 3.6, 3.8, 3.98, 4.13];
  const row = factTable(data, 'blocking-limits').rows[0].slice(2);
  assert.equal(row.length, speedups.length);
  row.forEach((value, i) => assert.ok(Math.abs(value - speedups[i]) < 0.006, `p = ${i + 1}`));
  const fit = factTable(data, 'fits').rows[0];
  assert.deepEqual(fit.slice(0, 3), ['Nvidia L40', 1.06e-6, 5205]);
  assert.ok(Math.abs(fit[3] - 1.06e-6 * 5205e9) < 1);
});

test('the table of matrices has the data intensity of the thesis, and SELL-8-1 where it is known', () => {
  const of = (name, rows, nnz) => document({ matrix: { name, rows, cols: rows, nnz } });
  const known = document({
    matrix: { name: 'ML_Geer', rows: 1504002, cols: 1504002, nnz: 110879972 },
    results: [
      {
        kernel: 'info',
        format: 'sell',
        parameters: { slice_height: 8, sort_window: 1 },
        bytes: { format: 1335.7e6 },
      },
    ],
  });
  const table = factTable(
    pageOf(known, of('Hamrle3', 1447360, 5514242), of('RM07R', 381689, 37464962)),
    'matrices',
  );
  const column = (name) => table.rows.map((row) => row[table.header.indexOf(name)]);
  assert.deepEqual(column('matrix'), ['Hamrle3', 'RM07R', 'ML_Geer']);
  assert.deepEqual(
    column('SELL-8, B/flop').map((value) => value.toFixed(2)),
    ['8.23', '6.09', '6.12'],
  );
  assert.deepEqual(column('as SELL-8-1'), [null, null, 1335.7e6]);
});

test('the table of cache sizes has the speed at the real size, at twice it, and the best', () => {
  const powers = [
    [16, 10],
    [32, 20],
    [64, 30],
    [128, 25],
  ].map(([mebibytes, gflops]) => ({
    kernel: 'mpk',
    strategy: 'levels',
    asked: 'levels',
    format: 'sell',
    power: 5,
    threads: 8,
    parameters: { cache_bytes: mebibytes * 2 ** 20 },
    seconds: 1,
    gflops,
  }));
  const table = factTable(pageOf(document({ results: powers })), 'cache-sizes');
  assert.deepEqual(table.rows[0].slice(2, 9), [5, 8, 2 ** 25, 20, 30, 2 ** 26, 30]);
});

test('tables without data are left out, and captions name the table of the thesis', () => {
  const report = reportOf(pageOf(document({ machine: 'a name alone' })));
  assert.deepEqual(
    m.factTables.filter((item) => item.build(report)).map((item) => item.id),
    ['machines', 'matrices'],
  );
  const named = m.factTables.flatMap((item) => item.thesis ?? []);
  assert.deepEqual(named, ['4.1', '4.2', '4.3', '4.4', '4.5', '4.6']);
  for (const item of m.factTables.filter((candidate) => candidate.thesis))
    assert.equal(m.correspondence(item), `as Table ${item.thesis} of Panzlaff’s thesis`);
  const complete = reportOf(completeData());
  for (const item of m.factTables) {
    const table = item.build(complete);
    assert.ok(table && table.rows.length > 0, item.id);
    assert.ok(item.summary(table).length > 10, item.id);
    for (const row of table.rows) assert.equal(row.length, table.header.length, item.id);
    for (const name of Object.keys(table.units ?? {}))
      if (item.id !== 'machines' && item.id !== 'matrices')
        assert.ok(table.header.includes(name), `${item.id}: ${name}`);
  }
});

const figureOf = (id, data, chosen = {}) =>
  m.figures.find((figure) => figure.id === id).build(viewOf(data), chosen);

test('long curves are thinned and keep their ends, peaks and valleys', () => {
  const points = Array.from({ length: 50_000 }, (_, x) => ({ x, y: 1 / (x + 1) }));
  points[12_345].y = 7;
  points[40_000].y = 1e-9;
  const few = m.thinned(points, (point) => point.y);
  assert.ok(few.length > 100 && few.length <= 400, `${few.length}`);
  assert.equal(few[0], points[0]);
  assert.equal(few[few.length - 1], points[49_999]);
  assert.ok(few.includes(points[12_345]) && few.includes(points[40_000]));
  assert.ok(few.every((point, i) => i === 0 || point.x > few[i - 1].x));
  assert.deepEqual(m.thinned(points.slice(0, 400), (point) => point.y).length, 400);
  const history = points.map(({ x, y }) => ({ iteration: x, products: x + 1, residual: y }));
  const drawing = figureOf('convergence', pageOf(document({ results: [solve({ history })] })));
  assert.ok(drawing.table.rows.length <= 400);
  assert.deepEqual(drawing.table.rows[0], ['cg', 1, 1, 1e-8]);
});

/** A matrix, the times of an iteration of Strata's cg and of those of libraries. */
const solved = (name, own, libraries, overrides = {}) =>
  document({
    matrix: { name, rows: 1000, cols: 1000, nnz: 7000 },
    results: [
      solve({ seconds: own, ...overrides }),
      ...Object.entries(libraries).map(([variant, seconds]) =>
        solve({ seconds, backend: 'vendor', variant, history: [], threads: 1, ...overrides }),
      ),
    ],
  });

test('iterations are compared with those of libraries, whatever threads these can use', () => {
  const data = pageOf(
    solved('a', 1e-3, { 'Eigen 3.4.0': 5e-3, 'PETSc 3.18.5': 4e-3 }),
    solved('b', 2e-3, { 'Eigen 3.4.0': 2e-3 }),
    solved('c', 1e-3, { 'Eigen 3.4.0': 2e-3 }),
  );
  const [answer] = m.answers(viewOf(data));
  assert.equal(
    answer.text,
    'Strata’s iterations of cg are 2.00 times as fast as the best of Eigen and PETSc on Example, 8 cores with 8 threads, in geometric mean over 3 matrices; at least 1.00, on b.',
  );
  const { table, summary } = figureOf('iterations', data);
  assert.match(summary, /cg on 3 matrices: .* 2\.00 times as fast .*, in geometric mean\.$/);
  const alone = pageOf(...data.runs.map((run) => run.document), solved('d', 1e-3, {}));
  assert.match(figureOf('iterations', alone).summary, /^cg on 4 .* over 3 of them\.$/);
  assert.deepEqual(table.header.slice(2, 6), [
    'Strata, per iteration',
    'Eigen, per iteration',
    'PETSc, per iteration',
    'over the others',
  ]);
  assert.deepEqual(table.rows.find(([name]) => name === 'a').slice(2, 6), [1e-3, 5e-3, 4e-3, 4]);
});

test('methods are compared with the same method alone', () => {
  const jacobi = { preconditioner: 'jacobi' };
  const own = solved('a', 1e-3, {}, jacobi).results;
  const both = solved('a', 2e-3, { 'Eigen 3.4.0': 4e-3 });
  const data = pageOf({ ...both, results: [...both.results, ...own] });
  const [plain, , preconditioned] = reportOf(data).results;
  assert.equal(plain.overPeer, 2);
  assert.equal(preconditioned.overPeer, null);
  assert.equal(preconditioned.product, 'cg with jacobi');
});

test('libraries that solve on a GPU are on the GPU', () => {
  const gpu = machine({ gpu: { name: 'Example GPU' } });
  const data = pageOf({
    ...solved('a', 1e-3, { 'cuSPARSE 12.6.3 SELL-32': 2e-3 }, { threads: 0 }),
    machine: gpu,
  });
  data.runs[0].document.results[0].backend = 'cuda';
  const report = reportOf(data);
  assert.deepEqual(
    report.results.map((result) => result.machine.label),
    ['Example GPU', 'Example GPU'],
  );
  assert.equal(report.results[0].overPeer, 2);
  assert.equal(report.results[0].threads, null);
});

test('s steps at a time are compared with the classical method', () => {
  const { table } = figureOf(
    'iterations',
    pageOf(
      document({
        results: [
          solve({ seconds: 3e-3 }),
          solve({ method: 'ca-cg', parameters: { powers: 4 }, seconds: 2e-3 }),
        ],
      }),
    ),
  );
  const column = table.header.indexOf('over the classical method');
  assert.deepEqual(
    table.rows.map((row) => [row[1], row[column]]),
    [
      ['cg', null],
      ['ca-cg, s = 4', 1.5],
    ],
  );
});

test('convergence has a curve per method and backend, and the tolerance', () => {
  const data = pageOf(
    document({
      results: [
        solve({ iterations: 80 }),
        solve({ method: 'gmres', parameters: { restart: 30 }, iterations: 40 }),
        solve({ method: 'cg', backend: 'cuda', threads: 0, iterations: 80 }),
      ],
    }),
  );
  const { summary, table } = figureOf('convergence', data);
  assert.equal(
    summary,
    'example: 3 of 3 solves converged; gmres, restart 30 with the fewest products, 42.',
  );
  assert.deepEqual(
    [...new Set(table.rows.map(([name]) => name))],
    ['cg', 'gmres, restart 30', 'cg (cuda)'],
  );
  const [{ text }] = writeFigures('convergence', data, 'convergence');
  assert.match(text, />tolerance 1e−8</);
  assert.equal([...text.matchAll(/<g[^>]*aria-label="line"/g)].length, 3);
  const endless = pageOf(
    document({ results: [solve({ tolerance: 0, status: 'most-iterations' })] }),
  );
  assert.match(figureOf('convergence', endless).summary, /1 solve, none to a tolerance/);
  assert.doesNotMatch(writeFigures('endless', endless, 'convergence')[0].text, />tolerance/);
});

test('solves that did not converge are listed with the reason', () => {
  const report = reportOf(
    pageOf(
      document({
        results: [
          solve({ status: 'stagnated', message: 'it gains nothing' }),
          solve({ tolerance: 0, status: 'most-iterations', message: 'as asked for' }),
        ],
      }),
    ),
  );
  assert.deepEqual(
    report.failures.map(({ what, reason }) => [what, reason]),
    [['cg did not converge', 'it gains nothing']],
  );
  assert.equal(report.results.length, 2);
});

test('the table of solves has where the time went', () => {
  const table = factTable(completeData(), 'solves');
  const of = (name, row = 0) => table.rows[row][table.header.indexOf(name)];
  assert.equal(of('ended'), 'converged');
  assert.equal(of('iterations'), 60);
  assert.equal(of('per iteration'), 1.5e-3);
  assert.ok(Math.abs(of('products, share') - 0.6) < 1e-12);
  assert.equal(of('preconditioner, share'), null);
  assert.equal(of('over the others'), 2);
  assert.equal(of('parameters', 1), 's = 4, newton');
  assert.equal(of('runs as', 1), 'packed SELL');
  assert.match(m.tableCsv(table), /^matrix,backend,method,.*"time, s","per iteration, s"/);
});

test('finite elements are drawn over their degree, in both precisions', () => {
  const { table, summary, controls } = figureOf('elements', completeData());
  assert.match(
    summary,
    /The fastest: packed SELL at degrees 1, 2 and 3; symmetric local matrices at degree 4\.$/,
  );
  const row = table.rows.find(
    ([degree, name]) => degree === 4 && name === 'symmetric local matrices',
  );
  assert.ok(Math.abs(row[table.header.indexOf('over CSR')] - 1.3) < 1e-12);
  assert.deepEqual(
    controls.find(({ id }) => id === 'precision').options.map(({ value }) => value),
    ['double', 'single'],
  );
  assert.match(
    figureOf('elements', completeData(), { precision: 'single' }).summary,
    /single precision/,
  );
});

test('results of earlier versions of fem and hpcg are read', () => {
  const { format, gflops, seconds_per_product, ...old } = elements('lma', 2, 100, {
    seconds: { total: 1, per_product: 5e-3 },
    bytes: { matrix: 998_001 * 72 },
  });
  const { table, summary } = figureOf('elements', pageOf(document({ matrix: {}, results: [old] })));
  assert.match(summary, /^fem:500x500 in double precision/);
  assert.deepEqual(table.rows[0].slice(0, 3), [2, 'local matrices', 100]);
  assert.equal(table.rows[0][table.header.indexOf('bytes per unknown')], 72);
  assert.equal(table.rows[0][table.header.indexOf('per product')], 5e-3);
  const { ratings, ...older } = hpcg({
    gflops: { raw: 23, converged: 22, rating: 18 },
    seconds: { sets: 30 },
  });
  const [run] = reportOf(pageOf(document({ results: [older] }))).results;
  assert.deepEqual([run.hpcg.raw, run.hpcg.rating, run.gflops, run.seconds], [23, 18, 18, 1.5]);
});

test('HPCG has its checks, its ratings, and its parts against the model', () => {
  const failing = hpcg({
    passed: false,
    checks: [{ name: 'symmetry', value: 3, limit: 1, passed: false }],
  });
  const data = pageOf(document({ matrix: { name: 'hpcg:16x16x16' }, results: [failing] }));
  assert.deepEqual(factTable(data, 'hpcg-checks').rows[0].slice(0, 4), [
    'symmetry',
    'failed',
    3,
    1,
  ]);
  const ratings = factTable(data, 'hpcg-ratings');
  assert.deepEqual(ratings.rows[0].slice(2, 7), [23, 22, 18, 0, 1]);
  assert.ok(reportOf(data).failures.some(({ what }) => what.endsWith('is wrong')));
  const { summary, table } = figureOf('hpcg', data);
  assert.match(
    summary,
    /23\.0 GF\/s of all iterations, a rating of 18\.0; an iteration takes 17\.6\u202fms, 1\.17 times what the model predicts; 1 of 1 check failed\.$/,
  );
  assert.deepEqual(table.rows[0].slice(0, 3), ['product', 5e-3, 4e-3]);
  assert.ok(Math.abs(table.rows[0][3] - 1.25) < 1e-12);
});

test('eigenvalues and exponentials have the time of a product, and of a bare one', () => {
  const table = factTable(completeData(), 'spectra');
  const column = (name) => table.rows.map((row) => row[table.header.indexOf(name)]);
  assert.deepEqual(column('method'), ['kpm', 'ca-lanczos', 'chebyshev']);
  assert.deepEqual(column('parameters'), ['', 's = 8, both', 't = -10']);
  assert.deepEqual(column('residual or bound'), [null, 3e-9, 4e-13]);
  assert.ok(Math.abs(column('per product')[0] - 0.5 / 450) < 1e-15);
  assert.ok(Math.abs(column('over bare')[0] - 1.05) < 1e-12);
  const density = figureOf('density', completeData());
  assert.match(density.summary, /eigenvalues from 0\.0100 to 7\.99, the densest near 3\.9/);
});

test('solvers stay out of figures of products', () => {
  const data = pageOf(document({ results: [solve(), hpcg(), elements('csr', 1, 100)] }));
  const drawn = m.figures.filter((figure) => figure.build(viewOf(data), {})).map(({ id }) => id);
  assert.deepEqual(drawn, ['convergence', 'iterations', 'elements', 'hpcg']);
});

test('cells sort by what they hold and show their units', () => {
  const sorted = (cells, descending) => [...cells].sort((a, b) => m.compareCells(a, b, descending));
  assert.deepEqual(sorted([10, null, 9, 100], false), [9, 10, 100, null]);
  assert.deepEqual(sorted([10, null, 9, 100], true), [100, 10, 9, null]);
  assert.deepEqual(sorted(['p10', '', 'p9'], false), ['p9', 'p10', '']);
  assert.equal(m.cellText(2e-6, 'seconds'), '2.00\u202fµs');
  assert.equal(m.cellText(0.25, 'share'), '25\u202f%');
  assert.equal(m.cellText(1234), '1\u202f234');
  const table = { header: ['a', 'time'], units: { time: 'seconds' }, rows: [['x', 1e-6]] };
  assert.equal(m.tableCsv(table), 'a,"time, s"\r\nx,0.000001\r\n');
});

test('figures of generators know families by their names', () => {
  assert.equal(m.familyOf('stencil27:64x64x128,dof=2'), 'stencil27, dof=2');
  assert.equal(m.familyOf('band:100,width=27'), 'band, width=27');
  assert.equal(m.familyOf('G2_circuit'), null);
});

test('logarithmic ticks are few and inside', () => {
  for (const domain of [
    [1, 1.5],
    [1, 1e9],
    [1e-300, 1e300],
    [3, 40],
  ]) {
    const ticks = m.logTicks(domain, 6);
    assert.ok(ticks.length <= 12, `${domain}: ${ticks.length}`);
    assert.ok(ticks.every((tick) => tick >= domain[0] * 0.99 && tick <= domain[1] * 1.01));
  }
});

test('the colours of exported figures are those of the style sheet', () => {
  const css = readFileSync(new URL('../src/style.css', import.meta.url), 'utf8');
  const block = (selector) => {
    const start = css.indexOf(`${selector} {`);
    return css.slice(start, css.indexOf('}', start));
  };
  for (const [selector, colors] of [
    [':root', m.lightColors],
    [":root:not([data-theme='light'])", m.darkColors],
    [":root[data-theme='dark']", m.darkColors],
  ])
    for (const [name, color] of Object.entries(colors))
      assert.ok(block(selector).includes(`${name}: ${color};`), `${selector} ${name}`);
  assert.deepEqual(Object.keys(m.lightColors), Object.keys(m.darkColors));
  // Dark rules go by the light colour: one may not stand for two.
  const light = Object.values(m.lightColors);
  assert.equal(new Set(light).size, light.length);
});

function writeFigures(name, data, ...only) {
  const input = join(folder, `${name}.json`);
  writeFileSync(input, JSON.stringify(data));
  const out = join(folder, name);
  const names = execFileSync(process.execPath, [join(dist, 'figures.mjs'), input, out, ...only], {
    encoding: 'utf8',
  })
    .trim()
    .split('\n');
  assert.equal(names.length, readdirSync(out).length);
  return readdirSync(out).map((file) => ({ file, text: readFileSync(join(out, file), 'utf8') }));
}

test('figures are written as SVG files with titles and without variables', () => {
  const files = writeFigures('complete', completeData());
  assert.deepEqual(
    files.map(({ file }) => file).sort(),
    m.figures.map(({ id }) => `${id}.svg`).sort(),
  );
  for (const { file, text } of files) {
    assert.match(text, /<desc>.{10,}<\/desc>/, file);
    const [, width, height] = text.match(/viewBox="0 0 ([\d.]+) ([\d.]+)"/);
    assert.ok(width >= 480 && width <= 860 && height <= 1100, `${file}: ${width} by ${height}`);
    assert.ok(
      text.includes(`<rect fill="#ffffff" rx="6" height="${height}" width="${width}"`),
      file,
    );
    assert.match(text, /@media \(prefers-color-scheme:dark\)\{\[fill="#/, file);
    for (const [tag] of text.matchAll(/<(?:line|rect|text|path)[^>]*>/g))
      assert.doesNotMatch(tag, /\d\.\d{3}/, file);
    assert.match(text, /^<\?xml[^>]*>\n<svg [^>]*xmlns="http:\/\/www.w3.org\/2000\/svg"/, file);
    assert.match(text, /<title>/, file);
    assert.doesNotMatch(text, /var\(--|NaN|undefined|Infinity/, file);
  }
});

test('what commands write for matrices, tasks, blocks and fits is drawn mark by mark', () => {
  const drawn = (id) => writeFigures(`marks-${id}`, completeData(), id)[0].text;
  const count = (text, pattern) => [...text.matchAll(pattern)].length;
  const group = (text, label) =>
    text.match(new RegExp(`<g[^>]*aria-label="${label}"[^>]*>(.*?)</g>`, 's'))?.[1] ?? '';
  const spy = completeData().runs[0].document.matrix.spy;
  assert.equal(count(group(drawn('spy'), 'rect'), /<rect/g), spy.counts.filter(Boolean).length);
  const levels = drawn('levels');
  assert.equal(count(group(levels, 'line'), /<path/g), 1);
  assert.match(levels, /60 levels, the widest of 900 rows/);
  assert.equal(count(group(drawn('tasks'), 'rect'), /<rect/g), 240);
  assert.equal(count(group(drawn('blocks'), 'cell'), /<rect/g), 36);
  // Twelve samples; the ring at n½ is in a group of its own.
  assert.equal(count(group(drawn('latency'), 'dot'), /<circle|<path/g), 12);
});

test('the same data gives the same files, all together or one alone', () => {
  const all = writeFigures('once', completeData());
  const again = writeFigures('twice', completeData());
  assert.deepEqual(again, all);
  assert.deepEqual(
    writeFigures('alone', completeData(), 'profiles'),
    all.filter(({ file }) => file === 'profiles.svg'),
  );
  const later = { ...completeData(), made: '2030-01-01T00:00:00Z' };
  assert.deepEqual(writeFigures('later', later), all);
});

/** So many matrices, each with so many formats of Strata's and one of a library, which is the slowest. */
function broad(matrices, formats) {
  return pageOf(
    ...Array.from({ length: matrices }, (_, i) =>
      document({
        matrix: { name: `matrix ${i}`, rows: 100, cols: 100, nnz: 1000 + i },
        results: [
          ...Array.from({ length: formats }, (_, k) =>
            product({ format: `format${k}`, variant: `format${k}`, gflops: 100 - k }),
          ),
          product({ backend: 'vendor', variant: 'Library 1.0', gflops: 1 }),
        ],
      }),
    ),
  );
}

test('profiles show the best formats and other libraries, their table all', () => {
  const [{ text }] = writeFigures('formats', broad(3, 24), 'profiles');
  const view = viewOf(broad(3, 24));
  const profile = m.figures.find(({ id }) => id === 'profiles').build(view, {});
  assert.equal(profile.table.rows.length, 25);
  const shown = (name) => text.includes(`>${name}</text>`);
  assert.ok(shown('format0') && shown('format9') && shown('Library'));
  assert.ok(!shown('format10'));
  assert.match(profile.summary, /The table has 14 formats more\.$/);
});

test('a missing format counts against it within a file, not across files', () => {
  const data = collections(
    { file: 'all.json', prefix: 'a', speedups: [1, 1, 1, 1] },
    { file: 'csr.json', prefix: 'b', speedups: [1, 1, 1] },
  );
  for (const run of data.runs.filter(({ source }) => source === 0))
    run.document.results.push(product({ format: 'ell', variant: 'ELL', gflops: 5 }));
  const profile = m.figures.find(({ id }) => id === 'profiles');
  const { table, controls } = profile.build(viewOf(data), {});
  assert.deepEqual(table.rows.find(([name]) => name === 'ELL').slice(0, 2), ['ELL', 1]);
  assert.deepEqual(
    controls[0].options.map(({ value }) => value),
    ['all', 'csr'],
  );
});

test('bars of many matrices are all shown, or spread evenly from the largest to the smallest', () => {
  for (const [count, expected] of [
    [30, 30],
    [45, 45],
    [90, 60],
  ]) {
    const [{ text }] = writeFigures(`bars${count}`, broad(count, 1), 'products');
    const names = [...text.matchAll(/>(matrix \d+)</g)].map(([, name]) => name);
    assert.equal(names.length, expected, `${count} matrices`);
    assert.equal(names[0], `matrix ${count - 1}`);
    assert.equal(names[names.length - 1], 'matrix 0');
    assert.ok(Number(text.match(/viewBox="0 0 [\d.]+ ([\d.]+)"/)[1]) <= 1100);
  }
});

test('products are predicted with the latency of their start', () => {
  const predicted = (prediction) =>
    reportOf(pageOf(document({ results: [product({ gflops: 5, predicted: prediction })] })))
      .results[0].predicted;
  assert.equal(predicted({ gflops: 100, with_latency_gflops: 6 }), 6);
  assert.equal(predicted({ gflops: 7, with_latency_gflops: 9 }), 7);
  assert.equal(predicted({ gflops: 7 }), 7);
});

test('foreign names stay text in SVG files', () => {
  for (const { file, text } of writeFigures('awkward', awkwardData())) {
    assert.doesNotMatch(text, /<script|<img|onerror="/, file);
    assert.doesNotMatch(text, /NaN|undefined/, file);
  }
  assert.ok(awkwardNames.length > 10);
});

test('the figure program says what is wrong', () => {
  const run = (...words) =>
    spawnSync(process.execPath, [join(dist, 'figures.mjs'), ...words], { encoding: 'utf8' });
  assert.equal(run().status, 2);
  const missing = run(join(folder, 'none.json'), folder);
  assert.equal(missing.status, 3);
  assert.match(missing.stderr, /none\.json/);
  const input = join(folder, 'one.json');
  writeFileSync(input, JSON.stringify(pageOf(document())));
  const unknown = run(input, folder, 'nonsense');
  assert.equal(unknown.status, 2);
  assert.match(unknown.stderr, /no figure "nonsense": products, speed-up/);
  const empty = run(input, folder, 'tasks');
  assert.equal(empty.status, 3);
  assert.match(empty.stderr, /no data for the figure tasks; this gives it: strata mpk/);
});

test('5000 results are normalised and all figures made in time', () => {
  const data = manyResults(5000);
  const start = performance.now();
  const view = viewOf(data);
  for (const figure of m.figures) figure.build(view, {});
  const milliseconds = performance.now() - start;
  console.log(`5000 results normalised and all figures prepared in ${milliseconds.toFixed(0)} ms`);
  assert.equal(view.results.length, 5000);
  assert.ok(milliseconds < 10_000);
});
