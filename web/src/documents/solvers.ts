// Results of solve, eig, expm, fem and hpcg: what methods did, and what the applications found. They
// have one time each, of many iterations or products.

import { isObject } from '../data.ts';
import { oneLine, shorten } from '../text.ts';
import { type Place, readMeasured } from './measured.ts';
import { formatName, formatOfVariant, libraryName } from './names.ts';
import { finite, type JsonObject, listOf, objectOf, objectsOf, positive } from './reading.ts';
import type { Elements, Hpcg, Method, Result } from './report.ts';

const solverKernels = ['solve', 'eig', 'expm', 'fem', 'hpcg'];

export function isSolver(kernel: string): boolean {
  return solverKernels.includes(kernel);
}

const mostPoints = 400; // of a curve
const longestLabel = 60;

/** A curve of a few hundred points that has the first and the last, all peaks and all valleys. */
export function thinned<P extends object>(points: readonly P[], value: (point: P) => number): P[] {
  if (points.length <= mostPoints) return [...points];
  const parts = mostPoints / 2 - 1; // each has its lowest and its highest point
  const kept = new Set([points[0]!, points[points.length - 1]!]);
  for (let part = 0; part < parts; ++part) {
    const from = Math.floor((part * points.length) / parts);
    const to = Math.floor(((part + 1) * points.length) / parts);
    let low = points[from]!;
    let high = low;
    for (let i = from + 1; i < to; ++i) {
      const point = points[i]!;
      if (value(point) < value(low)) low = point;
      if (value(point) > value(high)) high = point;
    }
    kept.add(low).add(high);
  }
  return points.filter((point) => kept.has(point));
}

/** Speeds and predictions of products are none of a solver's: what it has instead is in its parts. */
export function readSolved(raw: JsonObject, place: Place): Result {
  const { kernel } = place;
  const elements = kernel === 'fem' ? readElements(raw) : null;
  const hpcg = kernel === 'hpcg' ? readHpcg(raw) : null;
  const method = elements || hpcg ? null : readMethod(raw, kernel);
  // Powers are named after their strategy: "spmv packed SELL-32".
  const variant = oneLine(raw.variant).replace(/^(spmv|levels|wavefront|graph) (?=\S)/, '');
  const { predicted, seconds, parameters, ...plain } = raw;
  const result = readMeasured({ ...plain, gflops: hpcg ? hpcg.rating : raw.gflops }, place);
  const format = elements ? oneLine(raw.format) || oneLine(raw.matrix) : formatOfVariant(variant);
  result.method = method;
  result.elements = elements;
  result.hpcg = hpcg;
  result.seconds = method?.total ?? elements?.perIteration ?? hpcg?.set ?? null;
  if (method) result.gflops = null;
  result.family = result.own ? formatName(format) || 'other' : libraryName(variant);
  result.product = method
    ? method.label + (result.own ? '' : ` of ${result.family}`)
    : elements
      ? `${result.family}, degree ${elements.degree}`
      : variant || 'HPCG';
  // A check that failed; methods that end otherwise are no wrong results.
  result.passed = !method && typeof raw.passed === 'boolean' ? raw.passed : null;
  return result;
}

const parameterTexts: Record<string, (value: string) => string> = {
  powers: (value) => `s = ${value}`,
  basis: (value) => value,
  block_rows: (value) => `blocks of ${value}`,
};

function parametersText(parameters: JsonObject): string {
  return Object.entries(parameters)
    .filter(([, value]) => typeof value === 'number' || typeof value === 'string')
    .map(([key, value]) =>
      (parameterTexts[key] ?? ((text) => `${oneLine(key)} ${text}`))(oneLine(value)),
    )
    .join(', ');
}

/** What tells methods of one matrix apart, besides their names. */
function askedText(raw: JsonObject, kernel: string): string {
  if (kernel === 'solve') return parametersText(objectOf(raw.parameters));
  if (kernel === 'eig') {
    const { s, which } = raw;
    return [positive(s) ? `s = ${s}` : '', oneLine(which)].filter(Boolean).join(', ');
  }
  const phi = positive(raw.phi);
  const time = finite(raw.time);
  return [
    time === null ? '' : `t = ${raw.imaginary === true ? '−i · ' : ''}${time}`,
    phi ? `φ${phi}` : '',
  ]
    .filter(Boolean)
    .join(', ');
}

function readMethod(raw: JsonObject, kernel: string): Method {
  const times = objectOf(raw.seconds);
  const total = positive(times.total);
  const iterations = positive(raw.iterations);
  const products = positive(raw.products);
  const name = oneLine(raw.method) || kernel;
  const parameters = askedText(raw, kernel);
  const given = oneLine(raw.preconditioner);
  const preconditioner = given === 'none' ? '' : given;
  const share = (key: string) => {
    const part = positive(times[key]);
    return part !== null && total !== null ? part / total : null;
  };
  return {
    name,
    label: shorten(
      [name + (preconditioner ? ` with ${preconditioner}` : ''), parameters]
        .filter(Boolean)
        .join(', '),
      longestLabel,
    ),
    parameters,
    preconditioner,
    ended: oneLine(raw.status),
    reason: oneLine(raw.message),
    iterations,
    products,
    tolerance: positive(raw.tolerance),
    residual:
      finite(raw.residual) ?? finite(raw.error_bound) ?? largest(listOf(raw.residuals).map(finite)),
    total,
    perIteration: positive(times.iteration),
    perProduct: total !== null && products !== null ? total / products : null,
    sweptProduct: positive(times.product),
    bareProduct: positive(times.bare_product),
    shares: {
      products: share('products'),
      preconditioner: share('preconditioner'),
      orthogonalisation: share('orthogonalisation'),
      reductions: share('reductions'),
      updates: share('updates'),
    },
    history: kernel === 'solve' ? readHistory(raw.history) : [],
    density: readDensity(raw),
  };
}

function largest(values: readonly (number | null)[]): number | null {
  return values.reduce((most, value) => (value !== null && !(value <= most!) ? value : most), null);
}

function readHistory(value: unknown): Method['history'] {
  const points = objectsOf(value).flatMap((point) => {
    const products = positive(point.products) ?? positive(point.iteration);
    const residual = positive(point.residual);
    return products !== null && residual !== null ? [{ products, residual }] : [];
  });
  return thinned(points, (point) => point.residual);
}

function readDensity(raw: JsonObject): Method['density'] {
  const density = listOf(raw.density);
  const points = listOf(raw.energies).flatMap((value, index) => {
    const energy = finite(value);
    const share = finite(density[index]);
    return energy !== null && share !== null ? [{ energy, share }] : [];
  });
  return thinned(points, (point) => point.share);
}

/** What fem was asked for, where a document does not say it: its elements of the lowest degree. */
export function meshName(raw: JsonObject): string {
  const [x, y] = listOf(raw.elements).map(positive);
  return x && y ? `fem:${x}x${y}` : 'finite elements';
}

/** Earlier versions wrote the seconds of all iterations, and the bytes under another name. */
function readElements(raw: JsonObject): Elements | null {
  const degree = positive(raw.degree);
  const rate = positive(raw.iterations_per_second);
  if (degree === null || rate === null) return null;
  const unknowns = positive(raw.unknowns);
  const sizes = objectOf(raw.bytes);
  const bytes = positive(sizes.format) ?? positive(sizes.matrix);
  return {
    degree,
    rate,
    perIteration: 1 / rate,
    unknowns,
    bytesPerUnknown: bytes !== null && unknowns !== null ? bytes / unknowns : null,
    perProduct: positive(raw.seconds_per_product) ?? positive(objectOf(raw.seconds).per_product),
    order: finite(objectOf(raw.convergence).order),
  };
}

/** Earlier versions wrote three ratings as gflops, and the seconds of all sets. */
function readHpcg(raw: JsonObject): Hpcg {
  const ratings = objectOf(isObject(raw.gflops) ? raw.gflops : raw.ratings);
  const times = objectOf(raw.seconds);
  const sets = positive(raw.sets);
  const all = positive(times.sets);
  const reference = objectOf(raw.reference);
  return {
    raw: positive(ratings.raw),
    converged: positive(ratings.converged),
    rating: positive(ratings.rating) ?? positive(raw.gflops),
    iterations: positive(raw.iterations),
    referenceIterations: positive(reference.iterations),
    sets,
    set: positive(times.median) ?? (all !== null && sets !== null ? all / sets : null),
    perIteration: positive(raw.seconds_per_iteration),
    predicted: positive(objectOf(raw.predicted).seconds),
    values: oneLine(raw.values),
    checks: objectsOf(raw.checks).map((check) => ({
      name: oneLine(check.name) || 'unnamed check',
      value: finite(check.value),
      limit: finite(check.limit),
      passed: check.passed === true,
    })),
    parts: objectsOf(raw.parts).flatMap((part) => {
      const measured = positive(part.seconds);
      const predicted = positive(part.predicted_seconds);
      return measured !== null || predicted !== null
        ? [
            {
              name: oneLine(part.part) || 'unnamed part',
              bytes: positive(part.bytes),
              measured,
              predicted,
            },
          ]
        : [];
    }),
  };
}
