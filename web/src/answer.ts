// The answer in sentences: how fast Strata is compared with what people would use otherwise. A mean
// is worth as much as its set of matrices, so that every campaign, or file that belongs to none, has
// a mean of its own; means of several are given as a range.

import { champion, type Case, casesOf, overPeer, overPlain } from './cases.ts';
import { collectionsOf } from './collections.ts';
import type { View } from './filter.ts';
import { distinct, geometricMean, groupBy } from './statistics.ts';
import { grouped, listed, number, plural } from './text.ts';

export interface Answer {
  low: number; // the smallest mean and the largest
  high: number;
  matrices: number;
  machine: string;
  text: string; // a whole sentence
  parts: string[]; // a sentence per campaign or file, where there are several
}

/** What was compared on one machine in one campaign or file. */
interface Comparison {
  kernel: string;
  collection: string;
  againstPeers: boolean;
  cases: Case[];
  ratio(item: Case): number | null;
  means: { power: number; mean: number }[]; // by p
  low: number;
  high: number;
  matrices: number;
}

/** Fewer matrices are examples: they are mentioned, and no part of a range. */
const fewMatrices = 5;

/** The most telling sentence first; none if nothing was compared. */
export function answers(view: View): Answer[] {
  const places = groupBy(comparisonsOf(view), ({ kernel, againstPeers, cases }) =>
    [kernel, againstPeers, questionText(cases[0]!)].join('|'),
  );
  const found = [...places.values()].map((comparisons) => ({
    answer: answerOf(comparisons),
    weight: weightOf(comparisons),
  }));
  found.sort((a, b) => b.weight - a.weight);
  // A single matrix is an answer only where there is no better one.
  return found
    .map(({ answer }) => answer)
    .filter((answer, index) => index === 0 || answer.matrices > 2);
}

function comparisonsOf(view: View): Comparison[] {
  return [...collectionsOf(view)].flatMap(([collection, results]) =>
    ['spmv', 'mpk', 'solve'].flatMap((kernel) =>
      [...groupBy(casesOf(results, kernel), questionText).values()].flatMap(
        (cases) =>
          compare(kernel, collection, cases, true) ??
          (kernel === 'mpk' ? compare(kernel, collection, cases, false) : null) ??
          [],
      ),
    ),
  );
}

function compare(
  kernel: string,
  collection: string,
  all: readonly Case[],
  againstPeers: boolean,
): Comparison | null {
  const ratio = againstPeers ? overPeer : overPlain;
  const cases = all.filter((item) => ratio(item) !== null && champion(item)!.own);
  if (cases.length === 0) return null;
  const means = [...groupBy(cases, (item) => item.power)]
    .map(([power, list]) => ({ power, mean: geometricMean(list.map((item) => ratio(item)!))! }))
    .sort((a, b) => a.mean - b.mean);
  return {
    kernel,
    collection,
    againstPeers,
    cases,
    ratio,
    means,
    low: means[0]!.mean,
    high: means[means.length - 1]!.mean,
    matrices: distinct(cases.map((item) => item.matrix)).length,
  };
}

function weightOf(comparisons: readonly Comparison[]): number {
  const matrices = distinct(
    comparisons.flatMap(({ cases }) => cases.map((item) => item.matrix)),
  ).length;
  const first = comparisons[0]!;
  return (first.againstPeers ? 1e6 : 0) + matrices * (first.cases[0]!.machine.gpu ? 2 : 1);
}

function answerOf(comparisons: readonly Comparison[]): Answer {
  const sorted = [...comparisons].sort((a, b) => b.matrices - a.matrices);
  const broad = sorted.filter((item) => item.matrices >= fewMatrices);
  const counted = broad.length > 0 ? broad : sorted;
  const narrow = sorted.filter((item) => !counted.includes(item));
  const cases = counted.flatMap((item) => item.cases);
  const first = counted[0]!;
  const low = Math.min(...counted.map((item) => item.low));
  const high = Math.max(...counted.map((item) => item.high));
  const subject = subjectText(first.kernel, cases);
  const than = first.againstPeers ? peerText(cases) : 'plain products';
  const place = placeText(cases[0]!);
  const single = counted.length === 1;
  const matrices = distinct(cases.map((item) => item.matrix)).length;
  return {
    low,
    high,
    matrices,
    machine: cases[0]!.machine.label,
    text: single
      ? `${subject} ${factorText(first)} as fast as ${than} ${place}${first.cases.length === 1 ? `, on ${first.cases[0]!.matrix.name}.` : `, in geometric mean over ${plural(matrices, 'matrix', 'matrices')}; ${leastText(first)}.`}`
      : `${subject} ${number(low)} to ${number(high)} times as fast as ${than} ${place}, in geometric mean over the matrices of each of ${collectionsText(counted)}.`,
    parts: [
      ...(single ? [] : counted.map(partText)),
      ...(narrow.length === 0
        ? []
        : [
            `Fewer matrices: ${narrow.map((item) => `${item.collection} ${factorText(item)} (${item.matrices})`).join('; ')}.`,
          ]),
    ],
  };
}

function subjectText(kernel: string, cases: readonly Case[]): string {
  if (kernel === 'solve') return `Strata’s iterations of ${cases[0]!.method} are`;
  if (kernel === 'mpk') return `Strata’s powers${powersText(cases)} are`;
  return 'Strata’s fastest product is';
}

/** Cases of one mean are of one place, and those of solvers of one method. */
function questionText(item: Case): string {
  return `${item.method}|${placeText(item)}`;
}

/** "3 campaigns", "2 files", or both. */
function collectionsText(comparisons: readonly Comparison[]): string {
  const campaigns = comparisons.filter(({ cases }) => cases[0]!.results[0]!.campaign).length;
  const files = comparisons.length - campaigns;
  return listed([
    ...(campaigns > 0 ? [plural(campaigns, 'campaign')] : []),
    ...(files > 0 ? [plural(files, 'file')] : []),
  ]);
}

function partText(item: Comparison): string {
  return `${item.collection}: ${factorText(item)} over ${plural(item.matrices, 'matrix', 'matrices')}; ${leastText(item)}.`;
}

/** Means of different powers are not averaged: the least and the most are given. */
function factorText({ means }: Comparison): string {
  const text = ({ power, mean }: Comparison['means'][number]) => `${number(mean)} (p = ${power})`;
  return means.length === 1
    ? `${number(means[0]!.mean)} times`
    : `${text(means[0]!)} to ${text(means[means.length - 1]!)} times`;
}

function leastText({ cases, ratio }: Comparison): string {
  const least = cases.reduce((a, b) => (ratio(b)! < ratio(a)! ? b : a));
  return `at least ${number(ratio(least))}, on ${least.matrix.name}`;
}

function placeText({ machine, threads, precision }: Case): string {
  const with_ = machine.gpu || threads === null ? '' : ` with ${plural(threads, 'thread')}`;
  return `on ${machine.label}${with_}${precision === 'double' ? '' : `, in ${precision} precision`}`;
}

function powersText(cases: readonly Case[]): string {
  const powers = distinct(cases.map((item) => item.power)).sort((a, b) => a - b);
  return powers.length === 1
    ? ` (p = ${powers[0]})`
    : ` (p = ${powers[0]} … ${powers[powers.length - 1]})`;
}

function peerText(cases: readonly Case[]): string {
  const libraries = distinct(
    cases.flatMap((item) =>
      item.results.filter((result) => !result.own).map((result) => result.family),
    ),
  ).sort();
  if (libraries.length === 0) return 'the best of the others';
  if (libraries.length === 1)
    return `${libraries[0]}’s${cases[0]!.kernel === 'solve' ? '' : ' fastest'}`;
  return libraries.length > 4
    ? `the best of ${libraries.length} libraries`
    : `the best of ${listed(libraries)}`;
}

/** What the report is made of, in a line. */
export function extent(view: View): string {
  const { report } = view;
  const matrices = new Set(view.results.map((result) => result.matrix.index)).size;
  const machines = new Set([
    ...view.results.map((result) => result.machine.index),
    ...report.profiles
      .filter((profile) => view.keepsMachine(profile.machine))
      .map((profile) => profile.machine.index),
  ]).size;
  const shown =
    view.results.length === report.results.length ? '' : ` of ${grouped(report.results.length)}`;
  return `${grouped(view.results.length)}${shown} results · ${plural(matrices, 'matrix', 'matrices')} · ${plural(machines, 'machine')}`;
}
