// Speed-ups that documents do not have: over the best of the others, and over plain products.

import type { Result } from './report.ts';

/** Of products and powers GF/s, of solvers iterations per second: more is better. */
export function speedOf(result: Result): number | null {
  if (result.kernel !== 'solve') return result.gflops;
  return result.method?.perIteration ? 1 / result.method.perIteration : null;
}

/** Threads that have to agree. Solvers of other libraries take part with those they can use. */
export function comparedThreads(result: Result): number | null {
  return result.kernel === 'solve' && result.group === `run ${result.run}` ? null : result.threads;
}

/** Results may be compared within a run; across runs only where a run has one side alone. */
export function fillSpeedups(results: Result[]): void {
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
      comparedThreads(result),
      result.precision,
      result.method?.label ?? '',
    ].join('|');
  });
  const raise = (map: Map<string, number>, key: string, value: number) =>
    map.set(key, Math.max(value, map.get(key) ?? 0));
  results.forEach((result, i) => {
    const speed = speedOf(result);
    if (speed === null) return;
    if (!result.own) raise(bestPeer, keys[i]!, speed);
    else if (result.kernel === 'mpk' && result.strategy === 'plain products' && !result.planned)
      raise(bestPlain, keys[i]!, speed);
  });
  results.forEach((result, i) => {
    const speed = speedOf(result);
    if (speed === null) return;
    const peer = bestPeer.get(keys[i]!);
    if (peer) result.overPeer ??= speed / peer;
    const plain = bestPlain.get(keys[i]!);
    if (plain && result.own) result.overPlain ??= speed / plain;
  });
}
