// Data for tests: a small world with everything in it, awkward documents, and many results.

import { toPageData } from './embed.mjs';

/** Pseudo-random numbers that are the same in every run (xorshift). */
function randomNumbers(seed = 1) {
  let state = seed >>> 0 || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state / 2 ** 32;
  };
}

export function machine(overrides = {}) {
  return {
    cpu: 'Example Processor',
    cores: 8,
    threads: 8,
    memory_bytes: 64 * 2 ** 30,
    architecture: 'x86_64',
    os: 'Debian',
    kernel: 'Linux',
    caches: [
      { level: 1, type: 'Data', bytes: 32768 },
      { level: 2, type: 'Unified', bytes: 2 ** 20 },
      { level: 3, type: 'Unified', bytes: 2 ** 25 },
    ],
    memory_read_bytes_per_second: 1e11,
    cache_bytes: 2 ** 25,
    private_cache_bytes: 2 ** 23,
    ...overrides,
  };
}

export function product(overrides = {}) {
  return {
    kernel: 'spmv',
    backend: 'cpu',
    format: 'csr',
    variant: 'CSR',
    power: 1,
    parameters: {},
    threads: 8,
    precision: 'double',
    setup_seconds: 1e-3,
    seconds: { median: 2e-3, min: 1.9e-3, p95: 2.2e-3, repetitions: 20 },
    gflops: 10,
    gbytes_per_second: 65,
    bytes: { minimum: 1e8, format: 1.3e8 },
    error: { passed: true },
    predicted: { gflops: 1.2 * (Number(overrides.gflops) || 10), bound: 'dram', model: 'roofline' },
    ...overrides,
  };
}

export function document(overrides = {}) {
  return {
    strata: '0.1.0',
    command: ['strata', 'spmv', 'example'],
    time: '2026-01-02T03:04:05Z',
    machine: machine(),
    matrix: { name: 'example', rows: 1_000_000, cols: 1_000_000, nnz: 10_000_000 },
    results: [product()],
    ...overrides,
  };
}

export function pageOf(...documents) {
  return {
    strata_report: 1,
    title: 'Test',
    made: '2026-01-02T03:04:05Z',
    sources: [{ name: 'test.json', problems: [] }],
    runs: documents.map((item) => ({ source: 0, status: 'done', document: item })),
  };
}

const formats = [
  ['csr', 'CSR'],
  ['sell', 'SELL-32-256'],
  ['packed-sell', 'packed SELL-32'],
  ['packed-sell-full', 'packed SELL-32, full values'],
  ['ell', 'ELL'],
  ['bcsr', 'BCSR 2x2'],
];

/** So many results of products, ten to a matrix, on two machines. */
export function manyResults(count) {
  const random = randomNumbers(7);
  const runs = [];
  for (let made = 0, index = 0; made < count; ++index) {
    const nnz = Math.round(10 ** (4 + 4 * random()));
    const base = 20 * (0.5 + random());
    const results = [];
    for (let k = 0; k < 10 && made < count; ++k, ++made) {
      const [format, variant] = formats[k % formats.length];
      const vendor = k >= 8;
      const gflops = base * (0.4 + random());
      results.push(
        product({
          backend: vendor ? 'vendor' : 'cpu',
          format,
          variant: vendor ? `Eigen 3.${k}` : `${variant}${k >= formats.length ? ', again' : ''}`,
          gflops,
          gbytes_per_second: gflops * 6.5,
          seconds: { median: (2 * nnz) / gflops / 1e9 },
          predicted: { gflops: gflops * (0.7 + 0.6 * random()), bound: 'dram', model: 'roofline' },
          break_even_products: k % 3 ? Math.round(1000 * random()) : null,
        }),
      );
    }
    runs.push(
      document({
        machine: machine(index % 2 ? {} : { cpu: 'Other Processor', cores: 16 }),
        matrix: {
          name: `matrix_${String(index).padStart(4, '0')}`,
          rows: Math.round(nnz / 9),
          cols: Math.round(nnz / 9),
          nnz,
        },
        results,
      }),
    );
  }
  return { ...pageOf(...runs), title: `${count} results` };
}

export const awkwardNames = [
  '<script>window.injected = 1</script>',
  '"quoted" and \'single\'',
  'line\nbreak\r\nand\ttab',
  '🧮 matrix 😀',
  '</script><img src=x onerror="window.injected=1">',
  '=SUM(A1:A9)',
  'x'.repeat(300),
  '\u202egnp.exe',
  '',
  '\u0000\u0007',
  '<!--STRATA-DATA-->',
  '${window.injected=1}',
  '&lt;b&gt;',
  'a,b;c',
];

/** Documents that nobody should write and somebody will. */
export function awkwardData() {
  const documents = [
    ...awkwardNames.map((name, index) =>
      document({
        matrix: { name, rows: 100 + index, cols: 100 + index, nnz: 1000 + index },
        results: [
          product({ gflops: 3 + index }),
          product({ backend: 'vendor', variant: `${name} library`, gflops: 2 }),
        ],
      }),
    ),
    document({
      results: [
        product({ gflops: null, seconds: { median: null, min: null } }),
        product({ gflops: 1e300, seconds: { median: 1e-300 } }),
        product({ gflops: -5 }),
        product({ gflops: 'fast' }),
      ],
    }),
    document({
      machine: machine({ cores: 2 }),
      matrix: { name: 'twins', rows: 10, cols: 10, nnz: 30 },
    }),
    document({
      machine: machine({ memory_bytes: 32 * 2 ** 30 }),
      matrix: { name: 'twins', rows: 10, cols: 10, nnz: 30 },
    }),
    document({
      machine: 'a name alone',
      matrix: 'just a name',
      results: [{ seconds: 0.5, variant: 'CSR' }],
    }),
    document({ machine: null, matrix: null, results: null }),
    document({
      results: [
        {
          refused: 'the matrix is not square',
          backend: 'cpu',
          format: 'symmetric-csr',
          variant: 'symmetric CSR',
        },
        product({ error: { passed: false } }),
      ],
    }),
    document({ results: 'none' }),
    { unknown: true },
    document({
      matrix: {
        name: 'shapes',
        rows: 4,
        cols: 4,
        nnz: 8,
        nnz_per_row: { histogram: [{ first: 2 }, null, 'x', { first: 1, last: 3, rows: -1 }] },
        spy: { rows: 2, cols: 2, counts: [1, 2] },
        levels: { rows: [1, null, 'x'] },
      },
      results: [
        product({
          trace: [{ level: 'x' }, null],
          parameters: null,
          predicted: [],
          bytes: 7,
          roofline: null,
        }),
      ],
    }),
    ...awkwardNames.map((name) =>
      document({
        matrix: { name, rows: 5 },
        results: [
          solve({ method: name, preconditioner: name, parameters: { [name]: name, powers: 4 } }),
          solve({ method: name, backend: 'vendor', variant: name, message: name, status: name }),
          elements(name, 2, 100),
          hpcg({
            checks: [{ name, value: 'x', passed: 1 }],
            parts: [{ part: name, seconds: 1e-3, predicted_seconds: -1 }],
          }),
          { ...spectra()[0], method: name },
        ],
      }),
    ),
    document({
      results: [
        solve({ history: [null, 'x', { products: 1, residual: null }, { residual: 1 }] }),
        solve({
          history: [
            { products: 1, residual: 1e300 },
            { products: 2, residual: 1e-300 },
          ],
        }),
        solve({ history: 7, parameters: null, seconds: null }),
        solve({ method: null, tolerance: 'x', seconds: 1e-300 }),
        elements('csr', -1, 5),
        elements('csr', 1, 'fast', { bytes: null, convergence: null }),
        hpcg({ gflops: null, ratings: null, parts: 'none', checks: null, seconds: 3 }),
        { kernel: 'eig', method: 'kpm', energies: [1, 1], density: [-1, 2], seconds: { total: 1 } },
        { kernel: 'eig', method: 'kpm', energies: [1, null, 'x'], density: [1] },
        { kernel: 'expm', seconds: { total: -1 } },
      ],
    }),
    document({
      machine: machine({ caches: 'none', cpu: 7 }),
      matrix: {},
      results: [
        {
          kernel: 'machine',
          backend: 'cpu',
          read: [null, { bytes: 'x' }, { bytes: 1024, bytes_per_second: 1e9 }],
          stream: { copy_bytes_per_second: null },
          hockney: {},
        },
      ],
    }),
  ];
  const data = pageOf(...documents);
  data.title = '<b>Title</b> & more';
  data.sources[0] = { name: '<i>file</i>\n.json', problems: ['the last line is <torn>'] };
  data.runs.push(
    {
      source: 0,
      status: 'timeout',
      case: 'case <b>1</b>',
      reason: 'ran longer than 10 s',
      document: null,
    },
    {
      source: 9,
      status: 'crashed',
      case: 'case "2"',
      reason: null,
      document: { matrix: { name: 'half' } },
    },
    { source: 0, status: 'done', document: 7 },
    'not a run',
    null,
  );
  return data;
}

/** As strata solve writes it; residuals go down by a factor per product. */
export function solve(overrides = {}) {
  const { iterations = 60, seconds = 2e-3, ...rest } = overrides;
  const total = seconds * (iterations + 2);
  return {
    kernel: 'solve',
    backend: 'cpu',
    method: 'cg',
    preconditioner: 'none',
    parameters: {},
    variant: 'packed SELL-32',
    threads: 8,
    precision: 'double',
    status: 'converged',
    message: '',
    remark: '',
    iterations,
    products: iterations + 2,
    tolerance: 1e-8,
    residual: 9e-9,
    seconds: {
      total,
      products: 0.6 * total,
      preconditioner: rest.preconditioner ? 0.05 * total : 0,
      orthogonalisation: rest.method === 'gmres' ? 0.05 * total : 0,
      reductions: 0.1 * total,
      updates: 0.2 * total,
      rest: 0.1 * total,
      iteration: seconds,
    },
    history: Array.from({ length: iterations }, (_, k) => ({
      iteration: k + 1,
      products: k + 2,
      residual: 1e-8 ** ((k + 1) / iterations),
    })),
    ...rest,
  };
}

/** As strata fem writes it. */
export function elements(matrix, degree, rate, overrides = {}) {
  return {
    kernel: 'fem',
    backend: 'cpu',
    parameters: { degree },
    degree,
    matrix,
    format: matrix,
    variant: matrix,
    threads: 8,
    precision: 'double',
    elements: [Math.round(1000 / degree), Math.round(1000 / degree)],
    unknowns: 998_001,
    nnz: 9e6 * degree,
    iterations: 100,
    seconds: { median: 100 / rate, samples: [100 / rate] },
    seconds_per_product: 0.6 / rate,
    gflops: 10,
    iterations_per_second: rate,
    bytes: { format: 1.1e8 * degree },
    convergence: { order: degree + 1 },
    passed: true,
    ...overrides,
  };
}

/** As strata hpcg writes it. */
export function hpcg(overrides = {}) {
  return {
    kernel: 'hpcg',
    backend: 'cpu',
    variant: 'packed-sell C=32, full values',
    values: 'full',
    threads: 8,
    precision: 'double',
    checks: [
      { name: 'symmetry of the matrix', value: 0, limit: 1, passed: true },
      { name: 'iterations, large diagonal, plain', value: 11, limit: 12, passed: true },
    ],
    passed: true,
    reference: { iterations: 50, residual: 5e-8, seconds: 15 },
    iterations: 51,
    sets: 20,
    seconds: { median: 0.9, samples: [0.9, 0.91] },
    gflops: 18,
    ratings: { raw: 23, converged: 22, rating: 18 },
    predicted: { seconds: 1.5e-2 },
    seconds_per_iteration: 1.76e-2,
    parts: ['product', 'vectors', 'smoothing, level 0', 'transfer, level 0'].map((part, k) => ({
      part,
      bytes: 1e8 / (k + 1),
      flops: 1e7,
      predicted_seconds: 4e-3 / (k + 1),
      seconds: 5e-3 / (k + 1),
    })),
    ...overrides,
  };
}

function spectra() {
  const energies = Array.from({ length: 400 }, (_, k) => (k + 0.5) / 50);
  const seconds = {
    total: 0.5,
    products: 0.4,
    orthogonalisation: 0.03,
    reductions: 0.01,
    updates: 0.02,
    preconditioner: 0.01,
    product: 1.05e-3,
    bare_product: 1e-3,
  };
  const common = { threads: 8, precision: 'double', status: 'converged', setup_seconds: 0.1 };
  return [
    {
      kernel: 'eig',
      backend: 'cpu',
      method: 'kpm',
      products: 450,
      energies,
      density: energies.map((energy) => 0.2 * Math.sin((energy / 8) * Math.PI) ** 2),
      seconds,
      ...common,
    },
    {
      kernel: 'eig',
      backend: 'cpu',
      method: 'ca-lanczos',
      which: 'both',
      s: 8,
      tolerance: 1e-8,
      residuals: [1e-9, 3e-9],
      products: 480,
      seconds,
      ...common,
    },
    {
      kernel: 'expm',
      backend: 'cpu',
      method: 'chebyshev',
      time: -10,
      imaginary: false,
      phi: 0,
      tolerance: 1e-12,
      error_bound: 4e-13,
      products: 470,
      seconds,
      ...common,
    },
  ];
}

/** Something for every figure. */
export function completeData() {
  const gpu = machine({
    gpu: {
      api: 'cuda',
      name: 'Example GPU',
      memory_read_bytes_per_second: 2e12,
      l2_read_bytes_per_second: 6e12,
      l2_bytes: 4e7,
    },
  });
  const random = randomNumbers(3);
  const documents = [];
  const spyOf = (size) => ({
    rows: size,
    cols: size,
    counts: Array.from({ length: size * size }, (_, i) => {
      const d = Math.abs((i % size) - Math.floor(i / size));
      return d < 2 ? 200 : d === 12 ? 40 : d === 30 ? 3 : 0;
    }),
  });
  for (let i = 1; i <= 8; ++i) {
    const n = 10_000 * 4 ** i;
    const matrix = {
      name: `band:${n},width=27`,
      rows: n,
      cols: n,
      nnz: 27 * n,
      symmetry: 'symmetric',
      bandwidth: 13,
      nnz_per_row: {
        mean: 27,
        max: 27,
        histogram: [
          { first: 14, last: 20, rows: 14 },
          { first: 21, last: 26, rows: 12 },
          { first: 27, last: 27, rows: n - 26 },
        ],
      },
      levels: {
        count: 60,
        max_rows: 900,
        rows: Array.from({ length: 60 }, (_, k) =>
          Math.round(900 * Math.sin(((k + 1) / 61) * Math.PI)),
        ),
      },
      spy: spyOf(64),
    };
    const speed = i < 3 ? 30 * i : i < 6 ? 120 : 60;
    documents.push(
      document({
        matrix,
        results: [
          product({ gflops: speed }),
          product({
            format: 'packed-sell',
            variant: 'packed SELL-32',
            gflops: speed * 1.6,
            break_even_products: 40 * i,
          }),
          product({
            format: 'sell',
            variant: 'SELL-32-1',
            gflops: speed * 1.3,
            break_even_products: 15 * i,
          }),
          product({
            variant: 'plan: packed SELL-32',
            format: 'packed-sell',
            gflops: speed * 1.55,
            seconds: { median: 1.3e-3 },
          }),
          product({ backend: 'vendor', variant: 'Eigen 3.4.0', gflops: speed * 0.8 }),
        ],
      }),
    );
    documents.push(
      document({
        machine: gpu,
        matrix,
        results: [
          product({
            backend: 'cuda',
            threads: undefined,
            device: 0,
            gflops: speed * 9,
            format: 'packed-sell',
            variant: 'packed SELL-32',
          }),
          product({
            backend: 'vendor',
            threads: undefined,
            device: 0,
            variant: 'cuSPARSE 12 CSR',
            gflops: speed * 5,
          }),
        ],
      }),
    );
  }
  const stencil = { name: 'stencil27:64x64x192', rows: 786_432, cols: 786_432, nnz: 20_721_400 };
  documents.push(
    document({
      matrix: stencil,
      results: [1, 2, 3, 4, 5, 6, 7, 8].flatMap((power) => [
        {
          kernel: 'mpk',
          backend: 'cpu',
          format: 'packed-sell',
          strategy: 'spmv',
          asked: 'spmv',
          power,
          threads: 8,
          precision: 'double',
          seconds: { median: 1e-2 * power },
          gflops: 12,
          predicted: { gflops: 13 },
          speedup_over_spmv: 1,
        },
        {
          kernel: 'mpk',
          backend: 'cpu',
          format: 'packed-sell',
          strategy: 'wavefront',
          asked: 'auto',
          power,
          threads: 8,
          precision: 'double',
          seconds: { median: (1e-2 * power) / (1 + power / 5) },
          gflops: 12 * (1 + power / 5 - power ** 2 / 60),
          predicted: { gflops: 12 * (1 + power / 5) },
          speedup_over_spmv: 1 + power / 5 - power ** 2 / 60,
          break_even_applications: 200 * power,
          ...(power === 4
            ? {
                trace: Array.from({ length: 240 }, (_, k) => {
                  const level = Math.floor(k / 4);
                  const step = k % 4;
                  return {
                    level,
                    power: step + 1,
                    start: (level + 2 * step) * 1e-5,
                    end: (level + 2 * step + 1) * 1e-5,
                    thread: k % 8,
                  };
                }),
              }
            : {}),
        },
      ]),
    }),
  );
  documents.push(
    document({
      matrix: stencil,
      results: [18, 19, 20, 21, 22, 23, 24].map((bits) => ({
        kernel: 'mpk',
        backend: 'cpu',
        format: 'packed-sell',
        strategy: 'levels',
        asked: 'levels',
        power: 4,
        parameters: { cache_bytes: 2 ** bits },
        threads: 8,
        precision: 'double',
        seconds: { median: 1e-2 },
        gflops: 20 - Math.abs(bits - 21) * 2,
      })),
    }),
  );
  documents.push(
    document({
      machine: gpu,
      matrix: stencil,
      results: [1, 2, 4, 8, 16, 32].flatMap((coop) =>
        [1, 4, 16].flatMap((repeat) =>
          [64, 128, 256].map((block_size) =>
            product({
              backend: 'cuda',
              threads: undefined,
              device: 0,
              format: 'csr-reguly',
              variant: `CSR of Reguly, coop ${coop}, repeat ${repeat}`,
              parameters: { coop, repeat, block_size },
              gflops: 100 - 9 * Math.abs(Math.log2(coop) - 3) - repeat + block_size / 60,
            }),
          ),
        ),
      ),
    }),
  );
  documents.push(
    document({
      matrix: stencil,
      results: [4, 8, 16, 32].flatMap((slice_height) =>
        [1, 256].map((sort_window) =>
          product({
            format: 'sell',
            variant: `SELL-${slice_height}-${sort_window}`,
            parameters: { slice_height, sort_window },
            gflops: 8 + Math.log2(slice_height) - (sort_window > 1 ? 1 : 0),
          }),
        ),
      ),
    }),
  );
  documents.push(
    document({
      matrix: stencil,
      results: [
        {
          kernel: 'scaling',
          backend: 'cpu',
          format: 'csr',
          variant: 'CSR',
          thread_counts: [1, 2, 4, 8],
          gflops_by_threads: [2, 4, 7, 8],
          gbytes_per_second_by_threads: [13, 26, 45, 52],
          saturated_at_threads: 8,
        },
        {
          kernel: 'scaling',
          backend: 'cpu',
          format: 'sell',
          variant: 'SELL-32-1',
          thread_counts: [1, 2, 4, 8],
          gflops_by_threads: [3, 6, 8.8, 9],
          saturated_at_threads: 4,
        },
      ],
    }),
  );
  const shapes = [1, 2, 3, 4, 6, 8];
  const table = (value) => shapes.map((r) => shapes.map((c) => value(r, c)));
  documents.push(
    document({
      matrix: { name: 'stencil27:16x16x16,dof=3', rows: 12288, cols: 12288, nnz: 876024 },
      results: [
        {
          kernel: 'registers',
          backend: 'cpu',
          threads: 8,
          rows: shapes,
          cols: shapes,
          dense_gflops: table((r, c) => 4 + Math.sqrt(r * c)),
          fill: table((r, c) => (r % 3 || c % 3 ? 1 + 0.1 * r * c : 1)),
          predicted_gflops: table(
            (r, c) => (4 + Math.sqrt(r * c)) / (r % 3 || c % 3 ? 1 + 0.1 * r * c : 1),
          ),
        },
        {
          kernel: 'tune',
          backend: 'cpu',
          threads: 8,
          format: 'bcsr',
          variant: 'BCSR 3x3',
          contender: true,
          rank: 0,
          seconds: { median: 1e-3 },
          predicted: { seconds: 1.05e-3 },
          gflops: 1.7,
        },
        {
          kernel: 'tune',
          backend: 'cpu',
          threads: 8,
          format: 'csr',
          variant: 'CSR',
          contender: false,
          rank: 3,
          seconds: { median: 0.9e-3 },
          predicted: { seconds: 1.5e-3 },
          gflops: 1.9,
        },
      ],
    }),
  );
  for (let i = 1; i <= 3; ++i) {
    const n = 32 * 2 ** i;
    const library = { method: 'cg', seconds: 3e-3 * i, history: [] };
    documents.push(
      document({
        matrix: { name: `stencil7:${n}x${n}x${n}`, rows: n ** 3, cols: n ** 3, nnz: 7 * n ** 3 },
        results: [
          solve({ seconds: 1.5e-3 * i }),
          solve({
            method: 'ca-cg',
            parameters: { powers: 4, basis: 'newton' },
            variant: 'wavefront packed SELL-32',
            seconds: 1.2e-3 * i,
          }),
          solve({
            method: 'cg',
            preconditioner: 'jacobi',
            iterations: 50,
            seconds: 1.7e-3 * i,
          }),
          solve({ method: 'gmres', parameters: { restart: 30 }, seconds: 4e-3 * i }),
          solve({ ...library, backend: 'vendor', variant: 'Eigen 3.4.0' }),
          solve({ ...library, backend: 'vendor', variant: 'PETSc 3.18.5', threads: 1 }),
        ],
      }),
    );
  }
  for (const precision of ['double', 'single'])
    documents.push(
      document({
        matrix: { name: 'fem:1000x1000' },
        results: [1, 2, 3, 4].flatMap((degree) => [
          elements('csr', degree, 400 / degree, { precision }),
          elements('packed-sell', degree, 500 / degree, { precision }),
          elements('lma-symmetric', degree, 260 / Math.sqrt(degree), { precision }),
        ]),
      }),
    );
  documents.push(
    document({ matrix: { name: 'hpcg:104x104x104', rows: 1124864 }, results: [hpcg()] }),
    document({ matrix: stencil, results: spectra() }),
  );
  const read = (threads) =>
    Array.from({ length: 18 }, (_, k) => ({
      threads,
      bytes: 16384 * 2 ** k,
      bytes_per_second:
        threads * (k < 2 ? 1e11 : k < 7 ? 6e10 : k < 12 ? 3e10 : 1.2e10) * (0.97 + 0.06 * random()),
    }));
  documents.push(
    document({
      matrix: {},
      results: [
        {
          kernel: 'machine',
          backend: 'cpu',
          threads: 8,
          plateaus: [
            { threads: 8, bytes: 65536, bytes_per_second: 8e11 },
            { threads: 8, bytes: 2 ** 20, bytes_per_second: 4.8e11 },
            { threads: 8, bytes: 2 ** 25, bytes_per_second: 2.4e11 },
            { threads: 8, bytes: 2 ** 31, bytes_per_second: 9.6e10 },
          ],
          read: [...read(1), ...read(8)],
          stream: { copy_bytes_per_second: 9e10, triad_bytes_per_second: 9.4e10 },
          hockney: {
            overhead_seconds: 1e-6,
            bytes_per_second: 9e10,
            relative_error: 0.02,
            samples: Array.from({ length: 12 }, (_, k) => {
              const size = 32768 * 2 ** k;
              return { bytes: size, seconds: (1e-6 + size / 9e10) * (0.95 + 0.1 * random()) };
            }),
          },
        },
      ],
    }),
  );
  return { ...pageOf(...documents), title: 'Every figure' };
}

export function campaignText() {
  const line = (item) =>
    JSON.stringify({
      strata_results: 1,
      campaign: 'formats',
      host: 'node7',
      status: 'done',
      seconds: 1,
      ...item,
    });
  return [
    line({ case: 'own', document: document({ results: [product({ gflops: 20 })] }) }),
    line({
      case: 'peer',
      document: document({
        results: [product({ backend: 'vendor', variant: 'Eigen 3.4.0', gflops: 10 })],
      }),
    }),
    line({ case: 'slow', status: 'timeout', reason: 'longer than 60 s', document: null }),
    '{"strata_results": 1, "campaign": "formats", "ca',
  ].join('\n');
}

export function campaignData() {
  return toPageData([{ name: 'formats.jsonl', text: campaignText() }]);
}
