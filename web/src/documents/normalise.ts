// Makes flat results out of documents of any version. What a figure needs is read in this folder and
// nowhere else, so that figures need not ask whether a key is there, or a number, or a list.

import { asText, isObject, type PageData, type Run } from '../data.ts';
import { oneLine } from '../text.ts';
import { measuredChoices, readChoices } from './choices.ts';
import { type Machine, Machines } from './machines.ts';
import { Matrices, noteBytes } from './matrices.ts';
import { readMeasured } from './measured.ts';
import { readProfile } from './profiles.ts';
import { type JsonObject, objectsOf } from './reading.ts';
import { readRegisters } from './registers.ts';
import type {
  Choice,
  Failure,
  HeatMap,
  Matrix,
  Profile,
  Report,
  Result,
  Scaling,
} from './report.ts';
import { readScaling } from './scalings.ts';
import { isSolver, meshName, readSolved } from './solvers.ts';
import { fillSpeedups } from './speedups.ts';

class Collector {
  readonly machines = new Machines();
  readonly matrices = new Matrices();
  readonly results: Result[] = [];
  readonly profiles: Profile[] = [];
  readonly choices: Choice[] = [];
  readonly heatMaps: HeatMap[] = [];
  readonly scalings: Scaling[] = [];
  readonly failures: Failure[] = [];

  /** How much there is to show. */
  size(): number {
    return [this.results, this.profiles, this.choices, this.heatMaps, this.scalings].reduce(
      (sum, list) => sum + list.length,
      0,
    );
  }
}

export function normalise(data: PageData): Report {
  const collector = new Collector();
  for (const run of data.runs) collector.machines.expect(run.document ?? {}, run.host);
  data.runs.forEach((run, index) => readRun(collector, data, run, index));
  const machines = collector.machines.named();
  fillSpeedups(collector.results);
  collector.choices.push(...measuredChoices(collector.results));
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
    matrices: collector.matrices.list,
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
  const before = to.size();
  const results = objectsOf(document.results);
  const matrix = matrixOfRun(to, document, results);
  for (const raw of results) {
    // What fem calls a matrix is the form it is stored in.
    const named = raw.matrix !== undefined && kernelOf(raw) !== 'fem';
    const own = named ? to.matrices.find(raw.matrix) : matrix;
    readResult(to, { run, index, document, source }, raw, own);
  }
  to.choices.push(...readChoices(run, document, matrix, to.machines, to.matrices));
  const name = oneLine(run.case ?? '') || matrix?.name;
  if (run.status !== 'done') {
    to.failures.push({
      source,
      name: name || 'unnamed case',
      what: statusWords[run.status] ?? oneLine(run.status),
      reason: oneLine(run.reason ?? '') || 'no reason was given',
    });
  } else if (to.size() === before && (matrix === null || results.length === 0)) {
    to.failures.push({
      source,
      name: name || source,
      what: 'has nothing to show',
      reason:
        run.document === null
          ? 'it has no document'
          : 'its document has no results that this page knows',
    });
  }
}

/** The matrix that all results of a document are of, where they do not name their own. */
function matrixOfRun(
  to: Collector,
  document: JsonObject,
  results: readonly JsonObject[],
): Matrix | null {
  const given = document.matrix ?? null;
  if (given !== null && !(isObject(given) && Object.keys(given).length === 0))
    return to.matrices.find(given);
  const elements = results.find((raw) => kernelOf(raw) === 'fem');
  if (elements) return to.matrices.find(meshName(elements));
  const inside = results.some(({ matrix }) => typeof matrix === 'string' || isObject(matrix));
  return inside ? to.matrices.find('unnamed matrix') : null;
}

interface RunContext {
  run: Run;
  index: number;
  document: JsonObject;
  source: string;
}

// Kernels of which the page has nothing to show but the matrix.
const silent = ['info', 'write', 'model'];

function readResult(
  to: Collector,
  { run, index, document, source }: RunContext,
  raw: JsonObject,
  matrix: Matrix | null,
): void {
  const kernel = kernelOf(raw);
  const backend = oneLine(raw.backend) || 'cpu';
  const machine = machineOf(to, run, document, raw, backend);
  if (matrix) noteBytes(matrix, raw);
  if (kernel === 'machine') {
    to.profiles.push(readProfile(machine, raw, asText(document.time) ?? ''));
  } else if (silent.includes(kernel) || matrix === null) {
    return;
  } else if (kernel === 'scaling' || Array.isArray(raw.gflops_by_threads)) {
    const scaling = readScaling(machine, matrix, raw);
    if (scaling) to.scalings.push(scaling);
  } else if (kernel === 'registers') {
    to.heatMaps.push(...readRegisters(machine, matrix, raw));
  } else {
    const place = { run, index, document, kernel, backend, machine, matrix };
    const result = isSolver(kernel) ? readSolved(raw, place) : readMeasured(raw, place);
    keep(to, result, asText(raw.refused), source);
  }
}

function machineOf(
  to: Collector,
  run: Run,
  document: JsonObject,
  raw: JsonObject,
  backend: string,
): Machine {
  const onGpu =
    backend === 'cuda' ||
    backend === 'hip' ||
    isObject(raw.device) ||
    // Libraries on GPUs have no threads, and solvers no number of the device.
    (backend === 'vendor' && raw.threads === 0) ||
    (typeof raw.device === 'number' && raw.threads === undefined);
  const deviceName = isObject(raw.device) ? (asText(raw.device.name) ?? '') : '';
  return to.machines.find(document, run.host, onGpu ? deviceName : null);
}

/** Keeps a result that has something to show, and says so where it was refused or is wrong. */
function keep(to: Collector, result: Result, refused: string | undefined, source: string): void {
  if (refused !== undefined || result.passed === false)
    to.failures.push({
      source,
      name: result.matrix.name,
      what: `${result.product} ${refused !== undefined ? 'was not timed' : 'is wrong'}`,
      reason: oneLine(refused ?? 'the result failed its validation'),
    });
  else if (result.method?.tolerance && result.method.ended !== 'converged')
    to.failures.push({
      source,
      name: result.matrix.name,
      what: `${result.product} did not converge`,
      reason: result.method.reason || result.method.ended || 'no reason was given',
    });
  const empty =
    result.seconds === null &&
    result.gflops === null &&
    result.predicted === null &&
    result.trace.length === 0;
  if (refused !== undefined || empty) return;
  result.index = to.results.length;
  to.results.push(result);
}

function kernelOf(raw: JsonObject): string {
  const given = oneLine(raw.kernel);
  if (given) return given;
  if (raw.strategy !== undefined) return 'mpk';
  if (raw.predicted_seconds !== undefined) return 'tune';
  if (Array.isArray(raw.read) || isObject(raw.stream)) return 'machine';
  return 'spmv';
}
