// The few statistics that figures and sentences are made of.

export function geometricMean(values: readonly number[]): number | null {
  const positive = values.filter((value) => value > 0 && Number.isFinite(value));
  if (positive.length === 0) return null;
  return Math.exp(positive.reduce((sum, value) => sum + Math.log(value), 0) / positive.length);
}

export function median(values: readonly number[]): number | null {
  const sorted = values.filter(Number.isFinite).sort((a, b) => a - b);
  if (sorted.length === 0) return null;
  const half = sorted.length >> 1;
  return sorted.length % 2 ? sorted[half]! : (sorted[half - 1]! + sorted[half]!) / 2;
}

export interface Step {
  x: number;
  share: number;
}

/**
 * A performance profile (Dolan and Moré): `speeds` has, for every problem, the speed of every
 * solver that solved it. The curve of a solver is the share of all problems on which the best speed
 * is at most x times its own; a problem it did not solve counts against it.
 */
export function performanceProfiles(
  problems: readonly ReadonlyMap<string, number>[],
): Map<string, Step[]> {
  const ratios = new Map<string, number[]>();
  for (const speeds of problems) {
    const best = Math.max(...speeds.values());
    for (const [solver, speed] of speeds) {
      if (!(speed > 0)) continue;
      let list = ratios.get(solver);
      if (!list) ratios.set(solver, (list = []));
      list.push(best / speed);
    }
  }
  const curves = new Map<string, Step[]>();
  for (const [solver, list] of ratios) curves.set(solver, shareUpTo(list, problems.length));
  return curves;
}

/** The share of `total` whose value is at most x, at each x where it changes. */
export function shareUpTo(values: readonly number[], total = values.length): Step[] {
  const sorted = [...values].sort((a, b) => a - b);
  const steps: Step[] = [];
  sorted.forEach((x, index) => {
    const share = (index + 1) / total;
    const last = steps[steps.length - 1];
    if (last && last.x === x) last.share = share;
    else steps.push({ x, share });
  });
  return steps;
}

/** The value of such a curve at x. */
export function shareAt(steps: readonly Step[], x: number): number {
  let share = 0;
  for (const step of steps) {
    if (step.x > x) break;
    share = step.share;
  }
  return share;
}

export function groupBy<T, K>(items: Iterable<T>, key: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const item of items) {
    const name = key(item);
    const group = groups.get(name);
    if (group) group.push(item);
    else groups.set(name, [item]);
  }
  return groups;
}

export function largestBy<T>(items: Iterable<T>, value: (item: T) => number | null): T | null {
  let best: T | null = null;
  let largest = -Infinity;
  for (const item of items) {
    const candidate = value(item);
    if (candidate !== null && candidate > largest) {
      largest = candidate;
      best = item;
    }
  }
  return best;
}

export function distinct<T>(items: Iterable<T>): T[] {
  return [...new Set(items)];
}
