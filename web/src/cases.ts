// A case is one question that was asked: one matrix on one machine, with so many threads, in one
// precision, and for one power or by one method. It holds all answers, Strata's and those of others.

import type { Machine } from './documents/machines.ts';
import type { Matrix, Result } from './documents/report.ts';
import { comparedThreads, speedOf } from './documents/speedups.ts';
import { largestBy } from './statistics.ts';

export interface Case {
  machine: Machine;
  matrix: Matrix;
  kernel: string;
  power: number;
  method: string; // of solvers; empty for products and powers
  threads: number | null;
  precision: string;
  time: string;
  results: Result[];
  best: Result | null; // the fastest of Strata's
  plan: Result | null; // what the plan chose
  peer: Result | null; // the fastest of others
  plain: Result | null; // of powers: the fastest plain products of Strata
}

// Many figures ask the same question of the same results.
const remembered = new WeakMap<readonly Result[], Map<string, Case[]>>();

/** The latest measurement of every case, those with something to compare with first. */
export function casesOf(results: readonly Result[], kernel: string): readonly Case[] {
  let known = remembered.get(results);
  if (!known) remembered.set(results, (known = new Map()));
  let cases = known.get(kernel);
  if (!cases) known.set(kernel, (cases = findCases(results, kernel)));
  return cases;
}

function findCases(results: readonly Result[], kernel: string): Case[] {
  const asked = (result: Result, threads: number | null) =>
    `${result.machine.index}|${result.matrix.index}|${result.power}|${threads}|${result.precision}|${result.method?.label ?? ''}`;
  const groups = new Map<string, Result[]>();
  for (const result of results) {
    if (result.kernel !== kernel || speedOf(result) === null) continue;
    const key = `${result.group}|${asked(result, comparedThreads(result))}`;
    const group = groups.get(key);
    if (group) group.push(result);
    else groups.set(key, [result]);
  }
  const latest = new Map<string, Case>();
  for (const group of groups.values()) {
    const candidate = caseOf(group);
    const question = asked(group[0]!, candidate.threads);
    const other = latest.get(question);
    if (!other || isBetter(candidate, other)) latest.set(question, candidate);
  }
  return [...latest.values()];
}

function caseOf(results: Result[]): Case {
  const first = results.find((result) => result.own) ?? results[0]!;
  const own = results.filter((result) => result.own && result.backend !== 'reference');
  return {
    machine: first.machine,
    matrix: first.matrix,
    kernel: first.kernel,
    power: first.power,
    method: first.method?.label ?? '',
    threads: first.threads,
    precision: first.precision,
    time: results.reduce((time, result) => (result.time > time ? result.time : time), ''),
    results,
    best: largestBy(own, speedOf),
    plan: largestBy(
      own.filter((result) => result.planned),
      speedOf,
    ),
    peer: largestBy(
      results.filter((result) => !result.own),
      speedOf,
    ),
    plain: largestBy(
      own.filter((result) => result.strategy === 'plain products' && !result.planned),
      speedOf,
    ),
  };
}

function isBetter(a: Case, b: Case): boolean {
  const sides = (item: Case) => (item.best ? 2 : 0) + (item.peer ? 1 : 0);
  return sides(a) !== sides(b) ? sides(a) > sides(b) : a.time >= b.time;
}

/** What a case is compared by: powers by the plan, for that is what users get; products by the fastest. */
export function champion(item: Case): Result | null {
  return item.kernel === 'mpk' ? (item.plan ?? item.best) : item.best;
}

export function overPeer(item: Case): number | null {
  return champion(item)?.overPeer ?? null;
}

export function overPlain(item: Case): number | null {
  return champion(item)?.overPlain ?? null;
}
