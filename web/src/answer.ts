// The answer in sentences: how fast Strata is compared with what people would use otherwise.

import { champion, type Case, casesOf, overPeer, overPlain } from './cases.ts';
import type { View } from './filter.ts';
import { distinct, geometricMean, groupBy } from './statistics.ts';
import { grouped, listed, number, plural } from './text.ts';

export interface Answer {
  factor: number;
  matrices: number;
  machine: string;
  text: string; // a whole sentence
}

/** The most telling sentence first; none if nothing was compared. */
export function answers(view: View): Answer[] {
  const found: (Answer & { weight: number })[] = [];
  for (const kernel of ['spmv', 'mpk']) {
    const groups = groupBy(
      casesOf(view.results, kernel),
      (item) => `${item.machine.index}|${item.threads}|${item.precision}`,
    );
    for (const cases of groups.values()) {
      const against =
        compare(cases, overPeer) ?? (kernel === 'mpk' ? compare(cases, overPlain) : null);
      if (!against) continue;
      const peers = against.ratio === overPeer;
      const first = cases[0]!;
      const what =
        kernel === 'spmv'
          ? 'Strata’s fastest product'
          : `Strata’s powers${powersText(against.cases)}`;
      const than = peers ? peerText(against.cases) : 'plain products';
      const verb = kernel === 'spmv' ? 'is' : 'are';
      const place = `on ${first.machine.label}${first.machine.gpu || first.threads === null ? '' : ` with ${plural(first.threads, 'thread')}`}${first.precision === 'double' ? '' : `, in ${first.precision} precision`}`;
      const matrices = distinct(against.cases.map((item) => item.matrix)).length;
      found.push({
        factor: against.mean,
        matrices,
        machine: first.machine.label,
        weight: (peers ? 1e6 : 0) + matrices * (first.machine.gpu ? 2 : 1),
        text:
          matrices === 1 && against.cases.length === 1
            ? `${what} ${verb} ${number(against.mean)} times as fast as ${than} ${place}, on ${against.least.matrix.name}.`
            : `${what} ${verb} ${number(against.mean)} times as fast as ${than} ${place}, in geometric mean over ${plural(matrices, 'matrix', 'matrices')}; at least ${number(against.smallest)}, on ${against.least.matrix.name}.`,
      });
    }
  }
  found.sort((a, b) => b.weight - a.weight);
  // A single matrix is an answer only where there is no better one.
  return found.filter((answer, index) => index === 0 || answer.matrices > 2);
}

function compare(cases: Case[], ratio: (item: Case) => number | null) {
  const compared = cases.filter((item) => ratio(item) !== null && champion(item)!.own);
  const mean = geometricMean(compared.map((item) => ratio(item)!));
  if (mean === null) return null;
  const least = compared.reduce((a, b) => (ratio(b)! < ratio(a)! ? b : a));
  return { cases: compared, mean, least, smallest: ratio(least)!, ratio };
}

function powersText(cases: Case[]): string {
  const powers = distinct(cases.map((item) => item.power)).sort((a, b) => a - b);
  return powers.length === 1
    ? ` (p = ${powers[0]})`
    : ` (p = ${powers[0]} … ${powers[powers.length - 1]})`;
}

function peerText(cases: Case[]): string {
  const libraries = distinct(
    cases.flatMap((item) =>
      item.results.filter((result) => !result.own).map((result) => result.family),
    ),
  ).sort();
  return libraries.length === 0
    ? 'the best of the others'
    : libraries.length > 4
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
