// What figures, tables and sentences are made of: documents of any version, made flat. Numbers that
// are not known are null, texts that are not known are empty.

import type { PageData } from '../data.ts';
import type { Machine } from './machines.ts';

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
  sell8Bytes: number | null; // as SELL-8-1, where a result says it
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

/** What a method did, once. */
export interface Method {
  name: string; // cg, lanczos, chebyshev, …
  label: string; // with its parameters and its preconditioner
  parameters: string;
  preconditioner: string;
  ended: string;
  reason: string; // why it ended otherwise than asked for
  iterations: number | null;
  products: number | null;
  tolerance: number | null; // null: none, all iterations were asked for
  residual: number | null; // of an exponential the bound of its error
  total: number | null; // seconds
  perIteration: number | null;
  perProduct: number | null;
  sweptProduct: number | null; // of a product in the sweeps of the method alone
  bareProduct: number | null; // in bare powers of the same plan, where they were timed beside
  shares: Record<
    'products' | 'preconditioner' | 'orthogonalisation' | 'reductions' | 'updates',
    number | null
  >; // of the total
  history: { products: number; residual: number }[];
  density: { energy: number; share: number }[]; // of eigenvalues per unit of energy
}

/** Conjugate gradients on finite elements of one degree. */
export interface Elements {
  degree: number;
  rate: number; // iterations per second
  perIteration: number;
  unknowns: number | null;
  bytesPerUnknown: number | null;
  perProduct: number | null;
  order: number | null; // in which errors decrease
}

export interface Hpcg {
  raw: number | null; // GF/s of all iterations
  converged: number | null; // of those that the reference needs
  rating: number | null; // with the set-up
  iterations: number | null;
  referenceIterations: number | null;
  sets: number | null;
  set: number | null; // seconds
  perIteration: number | null;
  predicted: number | null; // seconds of an iteration
  values: string;
  checks: { name: string; value: number | null; limit: number | null; passed: boolean }[];
  parts: {
    name: string;
    bytes: number | null;
    measured: number | null;
    predicted: number | null;
  }[]; // of an iteration
}

export interface Result {
  index: number;
  run: number;
  source: number;
  group: string; // results of one group were measured together and may be compared
  time: string;
  machine: Machine;
  matrix: Matrix;
  kernel: string; // spmv, mpk, tune, explain, scaling, solve, …
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
  method: Method | null; // of solve, eig and expm
  elements: Elements | null; // of fem
  hpcg: Hpcg | null;
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
