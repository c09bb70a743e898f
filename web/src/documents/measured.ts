// Results of products and powers: times, speeds, predictions and parameters. What a document does
// not say is worked out where that is possible.

import { asText, isObject, type Run } from '../data.ts';
import { oneLine } from '../text.ts';
import type { Machine } from './machines.ts';
import { formatName, formatOfVariant, libraryName, productName, strategyName } from './names.ts';
import { finite, type JsonObject, objectOf, positive } from './reading.ts';
import type { Matrix, Result } from './report.ts';
import { readTrace } from './traces.ts';

/** Where a result stands. */
export interface Place {
  run: Run;
  index: number; // of the run
  document: JsonObject;
  kernel: string;
  backend: string;
  machine: Machine;
  matrix: Matrix;
}

export function readMeasured(raw: JsonObject, place: Place): Result {
  const { run, document, kernel, backend, machine, matrix } = place;
  const parameters = objectOf(raw.parameters);
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
  const formatBytes = positive(objectOf(raw.bytes).format);
  const gbytes = positive(raw.gbytes_per_second);
  const prediction = objectOf(raw.predicted);
  const predictedSeconds = positive(prediction.seconds) ?? positive(raw.predicted_seconds);
  const predicted =
    predictedSpeed(prediction, kernel) ??
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
  const { passed } = objectOf(raw.error);
  const traffic = isObject(raw.csr_gbytes_per_second) ? raw.csr_gbytes_per_second : null;
  return {
    index: -1,
    run: place.index,
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
    strategy: strategyName(strategy),
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
    model: oneLine(prediction.model),
    bound: oneLine(prediction.bound),
    predictedOverMeasured: ratio,
    roofline: positive(objectOf(raw.roofline).gflops),
    passed: typeof passed === 'boolean' ? passed : null,
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
    method: null,
    elements: null,
    hpcg: null,
    host: oneLine(run.host ?? ''),
    campaign: oneLine(run.campaign ?? ''),
    commit: oneLine(document.commit),
  };
}

/** The speed that the models allow: of a product also with the latency of its start, if that is less. */
function predictedSpeed(prediction: JsonObject, kernel: string): number | null {
  const speed = positive(prediction.gflops);
  const started = kernel === 'spmv' ? positive(prediction.with_latency_gflops) : null;
  return speed !== null && started !== null ? Math.min(speed, started) : speed;
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

function breakEvenOf(raw: JsonObject): number | null {
  for (const key of ['break_even_products', 'break_even_applications']) {
    if (!(key in raw)) continue;
    if (raw[key] === null) return Infinity;
    const value = finite(raw[key]);
    if (value !== null && value >= 0) return value;
  }
  return null;
}
