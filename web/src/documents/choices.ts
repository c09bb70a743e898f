// What a plan, a rule or a tuner chose, and the best there is.

import { isObject, type Run } from '../data.ts';
import { oneLine } from '../text.ts';
import type { Machines } from './machines.ts';
import type { Matrices } from './matrices.ts';
import { finite, type JsonObject, objectsOf, positive } from './reading.ts';
import type { Choice, Matrix, Result } from './report.ts';

/** Of documents of studies that compare a rule or a tuner with an exhaustive search. */
export function readChoices(
  run: Run,
  document: JsonObject,
  matrix: Matrix | null,
  machines: Machines,
  matrices: Matrices,
): Choice[] {
  const choices: Choice[] = [];
  const onGpu = isObject(document.machine) && isObject(document.machine.gpu) ? '' : null;
  const exhaustive = document.exhaustive;
  if (isObject(exhaustive) && matrix) {
    const best = positive(exhaustive.seconds);
    const machine = machines.find(document, run.host, onGpu);
    for (const [key, how] of [
      ['rule', 'rule'],
      ['after_8_calls', 'tuned for 8 calls'],
      ['settled', 'tuned until settled'],
    ] as const) {
      const tried = document[key];
      const seconds = isObject(tried) ? positive(tried.seconds) : null;
      if (best && seconds && isObject(tried)) {
        choices.push({
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
  // Where the products themselves were timed, their times say it (measuredChoices).
  if (objectsOf(document.results).some((result) => 'contender' in result)) return choices;
  const list = Array.isArray(document.matrices) ? objectsOf(document.matrices) : [document];
  for (const item of list) {
    const distance = finite(item.distance);
    if (distance === null || distance < 0 || item.chosen === undefined) continue;
    const name = item === document ? matrix : matrices.find(item.matrix);
    if (!name) continue;
    choices.push({
      machine: machines.find(document, run.host, null),
      matrix: name,
      how: 'product chosen by the tuner',
      chosen: oneLine(item.chosen),
      best: oneLine(item.best),
      share: 1 / (1 + distance),
    });
  }
  return choices;
}

function regulyName(value: JsonObject): string {
  return `coop ${oneLine(value.coop)}, repeat ${oneLine(value.repeat)}, blocks of ${oneLine(value.block_size)}`;
}

/** The plan's or the tuner's product against the fastest of Strata's that was timed beside it. */
export function measuredChoices(results: readonly Result[]): Choice[] {
  const choices: Choice[] = [];
  const groups = new Map<string, Result[]>();
  for (const result of results) {
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
    choices.push({
      machine: chosen.machine,
      matrix: chosen.matrix,
      how: tuned ? 'product chosen by the tuner' : 'product chosen by the plan',
      chosen: chosen.product.replace(/^plan: /, ''),
      best: best.product.replace(/^plan: /, ''),
      share: best.seconds! / chosen.seconds!,
    });
  }
  return choices;
}
