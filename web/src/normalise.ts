// Makes flat results out of documents of any version. What a figure needs is read here and nowhere
// else, so that figures need not ask whether a key is there, or a number, or a list.

import { asText, isObject, type PageData, type Run } from './data.ts';
import { finite, type Machine, Machines, positive } from './machines.ts';
import { oneLine } from './text.ts';

export interface Matrix {
  index: number;
  name: string;
  rows: number | null;
  cols: number | null;
  nnz: number | null;
  meanRow: number | null;
  maxRow: number | null;
  bandwidth: number | null;
  symmetry: string;
  field: string;
  levels: number | null;
  maxLevelRows: number | null;
  rowLengths: { first: number; last: number; rows: number }[];
  levelRows: number[];
  levelsPerEntry: number;
  spy: { rows: number; cols: number; counts: number[] } | null;
}

export interface Task {
  level: number;
  levels: number;
  power: number;
  start: number;
  end: number;
  thread: number | null;
}

export interface Result {
  index: number;
  run: number;
  source: number;
  group: string; // results of one group were measured together and may be compared
  time: string;
  machine: Machine;
  matrix: Matrix;
  kernel: string; // spmv, mpk, tune, explain, scaling, …
  backend: string;
  own: boolean; // Strata's, not a peer's or the vendor's
  planned: boolean; // what a plan chose
  family: string; // the format, or the library that is compared with
  product: string; // family and parameters
  strategy: string;
  power: number;
  threads: number | null;
  precision: string;
  seconds: number | null;
  fastest: number | null;
  slow: number | null; // 95th percentile
  gflops: number | null;
  gbytes: number | null;
  formatBytes: number | null;
  intensity: number | null; // flop per byte moved
  setup: number | null;
  overPlain: number | null;
  overPeer: number | null;
  breakEven: number | null; // Infinity: never
  predicted: number | null; // GF/s
  model: string;
  bound: string;
  predictedOverMeasured: number | null; // of the speeds
  roofline: number | null; // GF/s
  passed: boolean | null;
  contender: boolean | null;
  cacheBytes: number | null;
  sliceHeight: number | null;
  sortWindow: number | null;
  coop: number | null;
  repeat: number | null;
  blockSize: number | null;
  blockRows: number | null;
  blockCols: number | null;
  traffic: {
    effective: number | null;
    worst: number | null;
    minimum: number | null;
    caching: number | null;
  } | null;
  trace: Task[];
  host: string;
  campaign: string;
  commit: string;
}

/** What `strata machine` measured. */
export interface Profile {
  machine: Machine;
  threads: number | null;
  read: { threads: number; bytes: number; bandwidth: number }[];
  plateaus: { bytes: number; bandwidth: number }[]; // of all threads: caches from the smallest, then memory
  stream: { name: string; bandwidth: number }[];
  overhead: number | null; // of the latency–bandwidth fit
  fitBandwidth: number | null;
  fitError: number | null;
  fitSamples: { bytes: number; bandwidth: number }[];
  memory: number | null;
  launch: number | null;
  handoff: number | null;
  time: string;
}

/** A tuner's choice and the best there is. */
export interface Choice {
  machine: Machine;
  matrix: Matrix;
  how: string;
  chosen: string;
  best: string;
  share: number; // speed of the choice over speed of the best
}

export interface HeatMap {
  machine: Machine;
  matrix: Matrix;
  measure: string;
  cells: { row: number; col: number; value: number }[];
}

export interface Scaling {
  machine: Machine;
  matrix: Matrix;
  product: string;
  threads: number[];
  gflops: (number | null)[];
  gbytes: (number | null)[];
  saturated: number | null;
}

export interface Failure {
  source: string;
  name: string; // matrix or case
  what: string;
  reason: string;
}

export interface Report {
  title: string;
  made: string;
  sources: PageData['sources'];
  runs: number;
  results: Result[];
  machines: Machine[];
  matrices: Matrix[];
  profiles: Profile[];
  choices: Choice[];
  heatMaps: HeatMap[];
  scalings: Scaling[];
  failures: Failure[];
}

const formatNames: Record<string, string> = {
  coo: 'COO',
  csr: 'CSR',
  csc: 'CSC',
  'csr-reguly': 'CSR of Reguly',
  'symmetric-csr': 'symmetric CSR',
  ell: 'ELL',
  hyb: 'HYB',
  jds: 'JDS',
  dia: 'DIA',
  bcsr: 'BCSR',
  sell: 'SELL-C-σ',
  'packed-sell': 'packed SELL',
  'packed-sell-full': 'packed SELL, full values',
  'blocked-coo': 'COO in blocks',
};

const strategyNames: Record<string, string> = {
  spmv: 'plain products',
  levels: 'levels',
  graph: 'levels in a graph',
  wavefront: 'wavefront',
};

export function formatName(format: string): string {
  return formatNames[format] ?? oneLine(format);
}

/** A peer's name without its version: "cuSPARSE 12.6.3 CSR alg1" is cuSPARSE. */
function libraryName(variant: string): string {
  return oneLine(variant).split(/[\s,]/)[0] || 'other library';
}

class Collector {
  readonly machines = new Machines();
  readonly matrices: Matrix[] = [];
  readonly results: Result[] = [];
  readonly profiles: Profile[] = [];
  readonly choices: Choice[] = [];
  readonly heatMaps: HeatMap[] = [];
  readonly scalings: Scaling[] = [];
  readonly failures: Failure[] = [];
  private readonly byName = new Map<string, Matrix[]>();

  matrix(value: unknown): Matrix {
    const raw = isObject(value) ? value : {};
    const given =
      typeof value === 'string'
        ? value.replace(/^@\//, '').replace(/\.mtx(\.gz)?$/, '')
        : asText(raw.name);
    const name = oneLine(given ?? '') || 'unnamed matrix';
    const rows = positive(raw.rows);
    const nnz = positive(raw.nnz);
    const same = this.byName.get(name) ?? [];
    const agree = (a: number | null, b: number | null) => a === null || b === null || a === b;
    let matrix = same.find((other) => agree(other.rows, rows) && agree(other.nnz, nnz));
    if (!matrix) {
      matrix = {
        index: this.matrices.length,
        name: same.length === 0 ? name : `${name} (${nnz ?? same.length + 1} entries)`,
        rows: null,
        cols: null,
        nnz: null,
        meanRow: null,
        maxRow: null,
        bandwidth: null,
        symmetry: '',
        field: '',
        levels: null,
        maxLevelRows: null,
        rowLengths: [],
        levelRows: [],
        levelsPerEntry: 1,
        spy: null,
      };
      this.matrices.push(matrix);
      this.byName.set(name, [...same, matrix]);
    }
    fillMatrix(matrix, raw, rows, nnz);
    return matrix;
  }
}

function fillMatrix(
  matrix: Matrix,
  raw: Record<string, unknown>,
  rows: number | null,
  nnz: number | null,
): void {
  matrix.rows ??= rows;
  matrix.nnz ??= nnz;
  matrix.cols ??= positive(raw.cols);
  matrix.bandwidth ??= finite(raw.bandwidth);
  matrix.symmetry ||= oneLine(raw.symmetry);
  matrix.field ||= oneLine(raw.field);
  const perRow = isObject(raw.nnz_per_row) ? raw.nnz_per_row : {};
  matrix.meanRow ??= finite(perRow.mean) ?? (rows && nnz ? nnz / rows : null);
  matrix.maxRow ??= finite(perRow.max);
  if (matrix.rowLengths.length === 0 && Array.isArray(perRow.histogram)) {
    for (const bin of perRow.histogram) {
      if (!isObject(bin)) continue;
      const first = finite(bin.first);
      const last = finite(bin.last) ?? first;
      const count = finite(bin.rows);
      if (first !== null && last !== null && count !== null && last >= first && count >= 0) {
        matrix.rowLengths.push({ first, last, rows: count });
      }
    }
  }
  const levels = isObject(raw.levels) ? raw.levels : {};
  matrix.levels ??= positive(levels.count);
  matrix.maxLevelRows ??= positive(levels.max_rows);
  if (matrix.levelRows.length === 0 && Array.isArray(levels.rows)) {
    matrix.levelRows = levels.rows.map((value) => finite(value) ?? 0);
    matrix.levelsPerEntry = positive(levels.levels_per_entry) ?? 1;
  }
  const spy = isObject(raw.spy) ? raw.spy : {};
  const spyRows = positive(spy.rows);
  const spyCols = positive(spy.cols);
  if (
    !matrix.spy &&
    spyRows &&
    spyCols &&
    spyRows <= 512 &&
    spyCols <= 512 &&
    Array.isArray(spy.counts)
  ) {
    if (spy.counts.length === spyRows * spyCols) {
      matrix.spy = {
        rows: spyRows,
        cols: spyCols,
        counts: spy.counts.map((count) => finite(count) ?? 0),
      };
    }
  }
}

export function normalise(data: PageData): Report {
  const collector = new Collector();
  data.runs.forEach((run, index) => readRun(collector, data, run, index));
  const machines = collector.machines.named();
  fillSpeedups(collector.results);
  addMeasuredChoices(collector);
  return {
    title: oneLine(data.title),
    made: data.made,
    sources: data.sources.map((source) => ({
      name: oneLine(source.name),
      problems: source.problems.map(oneLine),
    })),
    runs: data.runs.length,
    results: collector.results,
    machines,
    matrices: collector.matrices,
    profiles: collector.profiles,
    choices: collector.choices,
    heatMaps: collector.heatMaps,
    scalings: collector.scalings,
    failures: collector.failures,
  };
}

const statusWords: Record<string, string> = {
  failed: 'failed',
  timeout: 'ran out of time',
  memory: 'ran out of memory',
  crashed: 'crashed',
  lost: 'was lost',
};

function readRun(to: Collector, data: PageData, run: Run, index: number): void {
  const source = oneLine(data.sources[run.source]?.name ?? `source ${run.source + 1}`);
  const document = run.document ?? {};
  const before =
    to.results.length +
    to.profiles.length +
    to.choices.length +
    to.heatMaps.length +
    to.scalings.length;
  const whole =
    isObject(document.matrix) && Object.keys(document.matrix).length === 0
      ? null
      : (document.matrix ?? null);
  const results = Array.isArray(document.results) ? document.results.filter(isObject) : [];
  const inside = results.some(
    (result) => typeof result.matrix === 'string' || isObject(result.matrix),
  );
  const matrix = whole === null && !inside ? null : to.matrix(whole ?? 'unnamed matrix');
  for (const raw of results) {
    const own = raw.matrix !== undefined ? to.matrix(raw.matrix) : matrix;
    readResult(to, run, index, document, raw, own, source);
  }
  readChoices(to, run, document, matrix);
  if (run.status !== 'done') {
    to.failures.push({
      source,
      name: oneLine(run.case ?? '') || matrix?.name || 'unnamed case',
      what: statusWords[run.status] ?? oneLine(run.status),
      reason: oneLine(run.reason ?? '') || 'no reason was given',
    });
  } else if (
    before ===
    to.results.length +
      to.profiles.length +
      to.choices.length +
      to.heatMaps.length +
      to.scalings.length
  ) {
    if (matrix === null || results.length === 0) {
      to.failures.push({
        source,
        name: oneLine(run.case ?? '') || matrix?.name || source,
        what: 'has nothing to show',
        reason:
          run.document === null
            ? 'it has no document'
            : 'its document has no results that this page knows',
      });
    }
  }
}

function readResult(
  to: Collector,
  run: Run,
  index: number,
  document: Record<string, unknown>,
  raw: Record<string, unknown>,
  matrix: Matrix | null,
  source: string,
): void {
  const kernel = kernelOf(raw);
  const backend = oneLine(raw.backend) || 'cpu';
  const onGpu =
    backend === 'cuda' ||
    backend === 'hip' ||
    isObject(raw.device) ||
    (typeof raw.device === 'number' && raw.threads === undefined);
  const deviceName = isObject(raw.device) ? (asText(raw.device.name) ?? '') : '';
  const machine = to.machines.find(document, run.host, onGpu ? deviceName : null);
  if (kernel === 'machine') {
    readProfile(to, machine, raw, asText(document.time) ?? '');
    return;
  }
  if (kernel === 'info' || kernel === 'write' || matrix === null) return;
  if (kernel === 'model') return;
  if (kernel === 'scaling' || Array.isArray(raw.gflops_by_threads)) {
    readScaling(to, machine, matrix, raw);
    return;
  }
  if (kernel === 'registers') {
    readRegisters(to, machine, matrix, raw);
    return;
  }
  const result = measured(run, index, document, raw, kernel, backend, machine, matrix);
  const refused = asText(raw.refused);
  if (refused !== undefined || result.passed === false) {
    to.failures.push({
      source,
      name: matrix.name,
      what: `${result.product} ${refused !== undefined ? 'was not timed' : 'is wrong'}`,
      reason: oneLine(refused ?? 'the result failed its validation'),
    });
    if (refused !== undefined) return;
  }
  if (
    result.seconds === null &&
    result.gflops === null &&
    result.predicted === null &&
    result.trace.length === 0
  )
    return;
  result.index = to.results.length;
  to.results.push(result);
}

function kernelOf(raw: Record<string, unknown>): string {
  const given = oneLine(raw.kernel);
  if (given) return given;
  if (raw.strategy !== undefined) return 'mpk';
  if (raw.predicted_seconds !== undefined) return 'tune';
  if (Array.isArray(raw.read) || isObject(raw.stream)) return 'machine';
  return 'spmv';
}

function measured(
  run: Run,
  index: number,
  document: Record<string, unknown>,
  raw: Record<string, unknown>,
  kernel: string,
  backend: string,
  machine: Machine,
  matrix: Matrix,
): Result {
  const parameters = isObject(raw.parameters) ? raw.parameters : {};
  const settings = run.settings ?? {};
  const parameter = (name: string) => positive(parameters[name]) ?? positive(settings[name]);
  const times = isObject(raw.seconds) ? raw.seconds : { median: raw.seconds };
  const seconds = positive(times.median) ?? positive(raw.measured_seconds);
  const power = positive(raw.power) ?? 1;
  const precision = oneLine(raw.precision) || oneLine(settings.precision) || 'double';
  const flops =
    matrix.nnz === null ? null : (precision.startsWith('complex') ? 8 : 2) * matrix.nnz * power;
  const gflops =
    positive(raw.gflops) ?? (flops !== null && seconds !== null ? flops / seconds / 1e9 : null);
  const bytes = isObject(raw.bytes) ? raw.bytes : {};
  const formatBytes = positive(bytes.format);
  const gbytes = positive(raw.gbytes_per_second);
  const predictedRaw = isObject(raw.predicted) ? raw.predicted : {};
  const predictedSeconds = positive(predictedRaw.seconds) ?? positive(raw.predicted_seconds);
  const predicted =
    positive(predictedRaw.gflops) ??
    (predictedSeconds !== null && flops !== null ? flops / predictedSeconds / 1e9 : null);
  const ratio =
    predicted !== null && gflops !== null
      ? predicted / gflops
      : predictedSeconds !== null && seconds !== null
        ? seconds / predictedSeconds
        : null;
  const own = backend !== 'vendor' && backend !== 'peer';
  const variant = oneLine(raw.variant);
  const format = oneLine(raw.format) || formatOfVariant(variant);
  const strategy = oneLine(raw.strategy);
  const planned = kernel === 'mpk' ? raw.asked === 'auto' : /^plan\b/.test(variant);
  const roofline = isObject(raw.roofline) ? positive(raw.roofline.gflops) : null;
  const error = isObject(raw.error) ? raw.error : {};
  const traffic = isObject(raw.csr_gbytes_per_second) ? raw.csr_gbytes_per_second : null;
  return {
    index: -1,
    run: index,
    source: run.source,
    group: '',
    time: asText(document.time) ?? '',
    machine,
    matrix,
    kernel,
    backend,
    own,
    planned,
    family: own ? formatName(format) || 'other' : libraryName(variant),
    product: productName(kernel, own, variant, format, strategy, planned),
    strategy: strategyNames[strategy] ?? strategy,
    power,
    threads: positive(raw.threads) ?? (machine.gpu ? null : positive(settings.threads)),
    precision,
    seconds,
    fastest: positive(times.min),
    slow: positive(times.p95),
    gflops,
    gbytes,
    formatBytes,
    intensity:
      gbytes !== null && gflops !== null
        ? gflops / gbytes
        : intensityOf(flops, power, formatBytes, matrix),
    setup: positive(raw.setup_seconds),
    overPlain: positive(raw.speedup_over_spmv),
    overPeer: positive(raw.speedup_over_vendor),
    breakEven: breakEvenOf(raw),
    predicted,
    model: oneLine(predictedRaw.model),
    bound: oneLine(predictedRaw.bound),
    predictedOverMeasured: ratio,
    roofline,
    passed: typeof error.passed === 'boolean' ? error.passed : null,
    contender: typeof raw.contender === 'boolean' ? raw.contender : null,
    cacheBytes: parameter('cache_bytes') ?? positive(settings.cache_size),
    sliceHeight: parameter('slice_height'),
    sortWindow: parameter('sort_window'),
    coop: parameter('coop'),
    repeat: parameter('repeat'),
    blockSize: parameter('block_size'),
    blockRows: parameter('block_rows'),
    blockCols: parameter('block_cols'),
    traffic: traffic && {
      effective: positive(traffic.effective),
      worst: positive(traffic.worst),
      minimum: positive(traffic.minimum),
      caching: positive(traffic.caching),
    },
    trace: readTrace(raw.trace),
    host: oneLine(run.host ?? ''),
    campaign: oneLine(run.campaign ?? ''),
    commit: oneLine(document.commit),
  };
}

/** Without GB/s: the bytes of the format once per power, x read and y written once. */
function intensityOf(
  flops: number | null,
  power: number,
  formatBytes: number | null,
  matrix: Matrix,
): number | null {
  if (flops === null || formatBytes === null) return null;
  const vectors = 8 * ((matrix.rows ?? 0) + (matrix.cols ?? matrix.rows ?? 0));
  return flops / power / (formatBytes + vectors);
}

function breakEvenOf(raw: Record<string, unknown>): number | null {
  for (const key of ['break_even_products', 'break_even_applications']) {
    if (!(key in raw)) continue;
    if (raw[key] === null) return Infinity;
    const value = finite(raw[key]);
    if (value !== null && value >= 0) return value;
  }
  return null;
}

// Some documents give a product by its name alone.
function formatOfVariant(variant: string): string {
  const name = variant.replace(/^plan: /, '');
  const known: [RegExp, string][] = [
    [/^packed SELL.*full values/, 'packed-sell-full'],
    [/^packed SELL/, 'packed-sell'],
    [/^SELL/, 'sell'],
    [/^symmetric CSR/, 'symmetric-csr'],
    [/^CSR of Reguly/, 'csr-reguly'],
    [/^CSR/, 'csr'],
    [/^BCSR/, 'bcsr'],
    [/^COO in/, 'blocked-coo'],
    [/^COO/, 'coo'],
  ];
  return (
    known.find(([pattern]) => pattern.test(name))?.[1] ?? name.split(/[\s,-]/)[0]!.toLowerCase()
  );
}

function productName(
  kernel: string,
  own: boolean,
  variant: string,
  format: string,
  strategy: string,
  planned: boolean,
): string {
  if (kernel !== 'mpk' && kernel !== 'explain')
    return variant || formatName(format) || 'unnamed product';
  if (!own) return variant || 'other library';
  const how = strategyNames[strategy] ?? strategy;
  return `${planned ? 'plan: ' : ''}${how}${format ? `, ${formatName(format)}` : ''}`;
}

function readTrace(value: unknown): Task[] {
  if (!Array.isArray(value)) return [];
  const tasks: Task[] = [];
  for (const task of value) {
    if (!isObject(task)) continue;
    const level = finite(task.level);
    const power = finite(task.power);
    const start = finite(task.start);
    const end = finite(task.end);
    if (level === null || power === null || start === null || end === null) continue;
    tasks.push({
      level,
      levels: positive(task.levels) ?? 1,
      power,
      start,
      end,
      thread: finite(task.thread),
    });
  }
  return tasks;
}

function readProfile(
  to: Collector,
  machine: Machine,
  raw: Record<string, unknown>,
  time: string,
): void {
  const curve = (value: unknown) =>
    (Array.isArray(value) ? value : []).filter(isObject).flatMap((point) => {
      const size = positive(point.bytes);
      const bandwidth = positive(point.bytes_per_second);
      return size && bandwidth
        ? [{ threads: positive(point.threads) ?? 1, bytes: size, bandwidth }]
        : [];
    });
  const fit = isObject(raw.hockney) ? raw.hockney : isObject(raw.ramp_up) ? raw.ramp_up : {};
  const stream = isObject(raw.stream) ? raw.stream : {};
  const plateaus = curve(raw.plateaus);
  const most = Math.max(0, ...plateaus.map((plateau) => plateau.threads));
  const own = plateaus
    .filter((plateau) => plateau.threads === most)
    .sort((a, b) => a.bytes - b.bytes);
  const profile: Profile = {
    machine,
    plateaus: own,
    threads: positive(raw.threads),
    read: curve(raw.read),
    stream: Object.entries(stream).flatMap(([key, value]) => {
      const name = /^(.*)_bytes_per_second$/.exec(key);
      const bandwidth = positive(value);
      return name && bandwidth ? [{ name: oneLine(name[1]!), bandwidth }] : [];
    }),
    overhead: positive(fit.overhead_seconds),
    fitBandwidth: positive(fit.bytes_per_second),
    fitError: finite(fit.relative_error),
    fitSamples: (Array.isArray(fit.samples) ? fit.samples : [])
      .filter(isObject)
      .flatMap((sample) => {
        const size = positive(sample.bytes);
        const duration = positive(sample.seconds);
        return size && duration ? [{ bytes: size, bandwidth: size / duration }] : [];
      }),
    memory: positive(raw.memory_bytes_per_second),
    launch: positive(raw.launch_seconds) ?? positive(raw.fork_join_seconds),
    handoff: positive(raw.handoff_seconds),
    time,
  };
  to.profiles.push(profile);
  machine.memoryBandwidth ??= profile.memory ?? own[own.length - 1]?.bandwidth ?? null;
  machine.cacheBandwidth ??= positive(raw.l2_bytes_per_second) ?? own[0]?.bandwidth ?? null;
  machine.cacheBytes ??= positive(raw.l2_bytes) ?? positive(raw.cache_bytes);
  machine.privateCacheBytes ??= positive(raw.private_cache_bytes);
  machine.peakFlops ??= positive(raw.flops_per_second);
}

function readScaling(
  to: Collector,
  machine: Machine,
  matrix: Matrix,
  raw: Record<string, unknown>,
): void {
  const numbers = (value: unknown) => (Array.isArray(value) ? value.map(positive) : []);
  const threads = numbers(raw.thread_counts);
  const gflops = numbers(raw.gflops_by_threads);
  const kept = threads.map((_, i) => i).filter((i) => threads[i] !== null && gflops[i] != null);
  if (kept.length === 0) return;
  const gbytes = numbers(raw.gbytes_per_second_by_threads);
  to.scalings.push({
    machine,
    matrix,
    product: oneLine(raw.variant) || formatName(oneLine(raw.format)) || 'unnamed product',
    threads: kept.map((i) => threads[i]!),
    gflops: kept.map((i) => gflops[i]!),
    gbytes: kept.map((i) => gbytes[i] ?? null),
    saturated: positive(raw.saturated_at_threads),
  });
}

function readRegisters(
  to: Collector,
  machine: Machine,
  matrix: Matrix,
  raw: Record<string, unknown>,
): void {
  const rows = Array.isArray(raw.rows) ? raw.rows.map(positive) : [];
  const cols = Array.isArray(raw.cols) ? raw.cols.map(positive) : [];
  const measures: [string, string][] = [
    ['dense_gflops', 'GF/s of a dense matrix in blocks'],
    ['fill', 'fill: values stored per nonzero'],
    ['predicted_gflops', 'GF/s predicted: speed over fill'],
  ];
  for (const [key, measure] of measures) {
    const table = raw[key];
    if (!Array.isArray(table)) continue;
    const cells = rows.flatMap((row, i) =>
      cols.flatMap((col, j) => {
        const line: unknown = table[i];
        const value = Array.isArray(line) ? positive(line[j]) : null;
        return row && col && value ? [{ row, col, value }] : [];
      }),
    );
    if (cells.length > 1) to.heatMaps.push({ machine, matrix, measure, cells });
  }
}

// Documents of studies that compare a rule or a tuner with an exhaustive search.
function readChoices(
  to: Collector,
  run: Run,
  document: Record<string, unknown>,
  matrix: Matrix | null,
): void {
  const onGpu = isObject(document.machine) && isObject(document.machine.gpu) ? '' : null;
  const exhaustive = document.exhaustive;
  if (isObject(exhaustive) && matrix) {
    const best = positive(exhaustive.seconds);
    const machine = to.machines.find(document, run.host, onGpu);
    for (const [key, how] of [
      ['rule', 'rule'],
      ['after_8_calls', 'tuned for 8 calls'],
      ['settled', 'tuned until settled'],
    ] as const) {
      const tried = document[key];
      const seconds = isObject(tried) ? positive(tried.seconds) : null;
      if (best && seconds && isObject(tried)) {
        to.choices.push({
          machine,
          matrix,
          how: `CSR of Reguly, ${how}`,
          chosen: regulyName(tried),
          best: regulyName(exhaustive),
          share: Math.min(1, best / seconds),
        });
      }
    }
  }
  // Where the products themselves were timed, their times say it (addMeasuredChoices).
  if (
    Array.isArray(document.results) &&
    document.results.some((result) => isObject(result) && 'contender' in result)
  )
    return;
  const list = Array.isArray(document.matrices) ? document.matrices.filter(isObject) : [document];
  for (const item of list) {
    const distance = finite(item.distance);
    if (distance === null || distance < 0 || item.chosen === undefined) continue;
    const name = item === document ? matrix : to.matrix(item.matrix);
    if (!name) continue;
    to.choices.push({
      machine: to.machines.find(document, run.host, null),
      matrix: name,
      how: 'product chosen by the tuner',
      chosen: oneLine(item.chosen),
      best: oneLine(item.best),
      share: 1 / (1 + distance),
    });
  }
}

function regulyName(value: Record<string, unknown>): string {
  return `coop ${oneLine(value.coop)}, repeat ${oneLine(value.repeat)}, blocks of ${oneLine(value.block_size)}`;
}

/** Results may be compared within a run; across runs only where a run has one side alone. */
function fillSpeedups(results: Result[]): void {
  const sides = new Map<number, { own: boolean; peer: boolean }>();
  for (const result of results) {
    const side = sides.get(result.run) ?? { own: false, peer: false };
    if (result.own) side.own = true;
    else side.peer = true;
    sides.set(result.run, side);
  }
  const bestPeer = new Map<string, number>();
  const bestPlain = new Map<string, number>();
  const keys = results.map((result) => {
    const side = sides.get(result.run)!;
    result.group =
      side.own && side.peer ? `run ${result.run}` : `${result.source} ${result.campaign}`;
    return [
      result.group,
      result.machine.index,
      result.matrix.index,
      result.kernel,
      result.power,
      result.threads,
      result.precision,
    ].join('|');
  });
  const raise = (map: Map<string, number>, key: string, value: number) =>
    map.set(key, Math.max(value, map.get(key) ?? 0));
  results.forEach((result, i) => {
    if (result.gflops === null) return;
    if (!result.own) raise(bestPeer, keys[i]!, result.gflops);
    else if (result.kernel === 'mpk' && result.strategy === 'plain products' && !result.planned)
      raise(bestPlain, keys[i]!, result.gflops);
  });
  results.forEach((result, i) => {
    if (result.gflops === null) return;
    const peer = bestPeer.get(keys[i]!);
    if (peer) result.overPeer ??= result.gflops / peer;
    const plain = bestPlain.get(keys[i]!);
    if (plain && result.own) result.overPlain ??= result.gflops / plain;
  });
}

/** The plan's or the tuner's product against the fastest of Strata's that was timed beside it. */
function addMeasuredChoices(to: Collector): void {
  const groups = new Map<string, Result[]>();
  for (const result of to.results) {
    if (!result.own || result.seconds === null) continue;
    if (result.kernel !== 'spmv' && result.kernel !== 'tune') continue;
    const key = [
      result.run,
      result.kernel,
      result.machine.index,
      result.matrix.index,
      result.threads,
      result.precision,
    ].join('|');
    const group = groups.get(key);
    if (group) group.push(result);
    else groups.set(key, [result]);
  }
  for (const group of groups.values()) {
    const tuned = group[0]!.kernel === 'tune';
    const tried = group.filter((result) => (tuned ? result.contender === true : result.planned));
    const others = group.filter((result) => !tried.includes(result));
    if (tried.length === 0 || others.length === 0) continue;
    const fastest = (list: Result[]) => list.reduce((a, b) => (b.seconds! < a.seconds! ? b : a));
    const chosen = fastest(tried);
    const best = fastest(group);
    to.choices.push({
      machine: chosen.machine,
      matrix: chosen.matrix,
      how: tuned ? 'product chosen by the tuner' : 'product chosen by the plan',
      chosen: chosen.product.replace(/^plan: /, ''),
      best: best.product.replace(/^plan: /, ''),
      share: best.seconds! / chosen.seconds!,
    });
  }
}
