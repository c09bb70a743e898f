// Shares of matrices: performance profiles of the formats (Ginkgo paper, figures 11, 14 and 15)
// and after how many products a format's set-up has paid off (Reguly and Giles).

import * as Plot from '@observablehq/plot';
import { type Case, casesOf } from '../cases.ts';
import type { Result } from '../documents/report.ts';
import type { View } from '../filter.ts';
import { chooseGroup, control, optionsOf, shownControls } from '../choices.ts';
import { collectionsOf } from '../collections.ts';
import {
  type Canvas,
  curve,
  type Drawing,
  type Figure,
  frame,
  logTicks,
  type Point,
  stylesOf,
  tip,
  xAxis,
  yAxis,
} from '../plot.ts';
import { groupBy, performanceProfiles, shareAt, shareUpTo, type Step } from '../statistics.ts';
import { capitalised, percent, plural, tick } from '../text.ts';
import { placeControls } from './speed_bars.ts';
import { heightFor, legendOf } from './charts.ts';

const farthest = 5;
const mostCurves = 10; // more cannot be told apart; those of other libraries are drawn besides

/** For the end of a sentence. */
function leftOut(count: number): string {
  return count > 0 ? ` The table has ${plural(count, 'format')} more.` : '';
}

const within = [1, 1.1, 1.25, 1.5, 2, 3, 5].map((x) => ({
  x,
  heading: x === 1 ? 'fastest' : `within ${x}×`,
}));

export const performanceProfile: Figure = {
  id: 'profiles',
  title: 'Performance profiles of the formats',
  section: 'Products',
  reading:
    'A curve is a format: the share of all matrices on which it is at most x times as slow as the fastest. At x = 1 it is the share of matrices on which the format wins; a format that cannot hold a matrix counts as slower than any x. Higher is better.',
  commands: ['strata bench campaigns/formats.json', 'strata bench campaigns/formats-gpu.json'],
  build(view, chosen): Drawing | null {
    const speeds = (item: Case) => {
      const best = new Map<string, number>();
      for (const result of item.results) {
        if (result.backend === 'reference' || result.planned) continue;
        best.set(result.family, Math.max(best.get(result.family) ?? 0, result.gflops ?? 0));
      }
      return best;
    };
    const sets = profileSets(view);
    const from = control('from', 'From', optionsOf(sets.keys()), chosen);
    const results = sets.get(from.value) ?? [];
    const cases = casesOf(results, 'spmv').filter((item) => speeds(item).size > 1);
    if (cases.length < 2) return null;
    const place = placeControls(cases, chosen);
    const here = cases.filter(place.keeps);
    const problems = here.map(speeds);
    const curves = [...performanceProfiles(problems)].sort((a, b) => area(b[1]) - area(a[1]));
    const others = new Set(
      here.flatMap((item) =>
        item.results.filter((result) => !result.own).map((result) => result.family),
      ),
    );
    const drawn = curves.filter(([name], rank) => rank < mostCurves || others.has(name));
    const winner = curves[0]!;
    return {
      summary: `Of ${plural(problems.length, 'matrix', 'matrices')}, ${winner[0]} is the fastest on ${percent(shareAt(winner[1], 1))} and within a factor of 1.5 of the fastest on ${percent(shareAt(winner[1], 1.5))}.${leftOut(curves.length - drawn.length)}`,
      controls: shownControls([from, ...place.controls]),
      table: {
        header: ['format', ...within.map(({ heading }) => heading)],
        units: Object.fromEntries(within.map(({ heading }) => [heading, 'share'] as const)),
        rows: curves.map(([name, steps]) => [name, ...within.map(({ x }) => shareAt(steps, x))]),
      },
      draw: (canvas) =>
        drawShares(canvas, drawn, {
          from: 1,
          to: farthest,
          label: 'times as slow as the fastest',
          ticks: [1, 1.25, 1.5, 2, 3, 4, 5],
        }),
    };
  },
};

/**
 * What is profiled together, the most results first. A format that is missing counts as slow, so that
 * matrices have to come from one campaign or file. Files of a matrix or two, as single runs write
 * them, are taken together.
 */
function profileSets(view: View): Map<string, Result[]> {
  const isBroad = (results: readonly Result[]) =>
    new Set(results.map((result) => result.matrix.index)).size > 2;
  const collections = [...collectionsOf(view)];
  const broad = collections.filter(([, results]) => isBroad(results));
  const single = collections.filter(([, results]) => !isBroad(results));
  const sets: [string, Result[]][] =
    single.length > 1
      ? [...broad, ['files of one or two matrices', single.flatMap(([, results]) => results)]]
      : collections;
  const tried = new Map(
    sets.map(([name, results]) => [
      name,
      new Set(
        results
          .filter((result) => result.kernel === 'spmv')
          .map((result) => `${result.family}|${result.matrix.index}`),
      ).size,
    ]),
  );
  return new Map(
    sets
      .filter(([name]) => tried.get(name)! > 0)
      .sort((a, b) => tried.get(b[0])! - tried.get(a[0])!),
  );
}

/** Mean share over log x: what decides the order of the legend. */
function area(steps: readonly Step[], to = farthest): number {
  let sum = 0;
  for (let i = 0; i <= 20; ++i) sum += shareAt(steps, to ** (i / 20));
  return sum;
}

interface ShareOptions {
  from: number;
  to: number;
  label: string;
  ticks: number[];
  format?: (value: number) => string;
}

function drawShares(
  canvas: Canvas,
  curves: readonly (readonly [string, Step[]])[],
  options: ShareOptions,
): SVGElement {
  const styles = stylesOf(curves.map(([name]) => name));
  const lines = curves.map(([name, steps]) => {
    const points: Point[] = [
      { x: options.from, y: shareAt(steps, options.from) * 100, title: name },
    ];
    for (const step of steps) {
      if (step.x <= options.from || step.x > options.to) continue;
      points.push({ x: step.x, y: points[points.length - 1]!.y, title: '' });
      points.push({
        x: step.x,
        y: step.share * 100,
        title: `${name}\n${percent(step.share)} at ${(options.format ?? tick)(step.x)}`,
      });
    }
    points.push({ x: options.to, y: points[points.length - 1]!.y, title: name });
    return { name, points };
  });
  return frame(canvas, {
    height: heightFor(canvas, 400, 330),
    legend: legendOf(styles.keys(), styles, 'line'),
    x: { type: 'log', domain: [options.from, options.to] },
    y: { domain: [0, 100] },
    marks: [
      ...yAxis({ label: '% of matrices', ticks: [0, 20, 40, 60, 80, 100] }),
      ...xAxis({ label: options.label, ticks: options.ticks, format: options.format }),
      Plot.ruleY([0], { stroke: 'var(--muted)' }),
      ...lines.map((line) => curve(line.points, styles.get(line.name)!)),
      ...tip(
        canvas,
        lines.flatMap((line) => line.points.filter((point) => point.title.includes('\n'))),
      ),
    ],
  });
}

export const breakEven: Figure = {
  id: 'break-even',
  title: 'When the set-up has paid off',
  section: 'Parameters',
  reading:
    'A curve is a format: the share of matrices on which its set-up has paid off after so many products, compared with CSR; for powers, after so many applications compared with plain products. Where a curve stays level, the format is not faster on the others.',
  commands: ['strata spmv MATRIX --format all --json FILE'],
  build(view, chosen): Drawing | null {
    const usable = view.results.filter(
      (result) =>
        result.breakEven !== null &&
        result.own &&
        !(result.kernel === 'spmv' && result.family === 'CSR'),
    );
    if (usable.length < 3) return null;
    const name = (result: Result) =>
      `${result.machine.label}, ${result.kernel === 'mpk' ? 'powers' : 'products'}`;
    const { control: place, items: here } = chooseGroup('place', 'On', usable, name, chosen);
    // The parameters of a format that pay off first.
    const first = [
      ...groupBy(here, (result) => `${result.family}\n${result.matrix.index}`).values(),
    ].map((list) => list.reduce((a, b) => (b.breakEven! < a.breakEven! ? b : a)));
    const families = [...groupBy(first, (result) => result.family)];
    const most = Math.max(...families.map(([, list]) => list.length));
    // Beside curves of many matrices, one of a single matrix would say as much.
    const all = families.filter(([, list]) => list.length > 1 || most === 1);
    const curves = all
      .map(
        ([family, list]) =>
          [
            family,
            shareUpTo(
              list.map((result) => Math.max(1, result.breakEven!)).filter(Number.isFinite),
              list.length,
            ),
          ] as const,
      )
      .filter(([, steps]) => steps.length > 0)
      .sort((a, b) => area(b[1], 1e4) - area(a[1], 1e4));
    if (curves.length === 0) return null;
    const [best, steps] = curves[0]!;
    const largest = Math.min(
      1e7,
      Math.max(10, ...curves.flatMap(([, list]) => list.map((step) => step.x))),
    );
    const to = 10 ** Math.ceil(Math.log10(largest));
    return {
      summary: `${capitalised(best)} has paid off after 100 products on ${percent(shareAt(steps, 100))}, after 1000 on ${percent(shareAt(steps, 1000))} of the matrices.${leftOut(curves.length - mostCurves)}`,
      controls: shownControls([place]),
      table: {
        header: ['matrix', 'format', 'product', 'pays after', 'set-up, s', 'GF/s'],
        rows: first.map((result) => [
          result.matrix.name,
          result.family,
          result.product,
          result.breakEven === Infinity ? 'never' : result.breakEven,
          result.setup,
          result.gflops,
        ]),
      },
      draw: (canvas) =>
        drawShares(canvas, curves.slice(0, mostCurves), {
          from: 1,
          to,
          label: place.value.endsWith('powers') ? 'applications' : 'products',
          ticks: logTicks([1, to], 8),
        }),
    };
  },
};

export const tunedAgainstOptimal: Figure = {
  id: 'tuned',
  title: 'Tuned against optimal',
  section: 'Parameters',
  reading:
    'For every matrix the speed of what was chosen, as a share of the fastest of all that were timed. The curve shows how many matrices reach at least that share: a choice that is always best is a point at 100 %.',
  commands: ['strata tune MATRIX --exhaustive --again --json FILE'],
  build(view, chosen): Drawing | null {
    const usable = view.report.choices.filter(
      (choice) => view.keepsMachine(choice.machine) && view.keepsMatrix(choice.matrix),
    );
    if (usable.length === 0) return null;
    const { control: machine, items: here } = chooseGroup(
      'machine',
      'On',
      usable,
      (choice) => choice.machine.label,
      chosen,
    );
    const groups = [...groupBy(here, (choice) => choice.how)];
    return {
      summary: groups
        .map(
          ([how, list]) =>
            `${capitalised(how)}: ${percent(list.reduce((sum, choice) => sum + choice.share, 0) / list.length)} of the optimum on average, at least ${percent(Math.min(...list.map((choice) => choice.share)))}.`,
        )
        .join(' '),
      controls: shownControls([machine]),
      table: {
        header: ['matrix', 'choice of', 'chosen', 'best', 'share of the optimum'],
        units: { 'share of the optimum': 'share' },
        rows: [...here]
          .sort((a, b) => a.share - b.share)
          .map((choice) => [
            choice.matrix.name,
            choice.how,
            choice.chosen,
            choice.best,
            choice.share,
          ]),
      },
      draw(canvas) {
        const styles = stylesOf(groups.map(([how]) => how));
        const lines = groups.map(([how, list]) => {
          const sorted = [...list].sort((a, b) => b.share - a.share);
          return {
            how,
            points: sorted.map((choice, index) => ({
              x: ((index + 1) / sorted.length) * 100,
              y: choice.share * 100,
              title: `${choice.matrix.name}\n${percent(choice.share)} of the optimum\nchosen: ${choice.chosen}\nbest: ${choice.best}`,
            })),
          };
        });
        const lowest = Math.min(
          90,
          ...lines.flatMap((line) => line.points.map((point) => point.y)),
        );
        return frame(canvas, {
          height: heightFor(canvas, 350, 310),
          legend: legendOf(styles.keys(), styles, 'line'),
          x: { domain: [0, 100] },
          y: { domain: [Math.max(0, Math.floor(lowest / 10) * 10), 101] },
          marks: [
            ...yAxis({ label: '% of the speed of the best' }),
            ...xAxis({ label: '% of matrices, the best choices first' }),
            Plot.ruleY([100], { stroke: 'var(--ink)' }),
            ...lines.map((line) => curve(line.points, styles.get(line.how)!)),
            ...lines.map((line) =>
              Plot.dot(line.points, { x: 'x', y: 'y', r: 3, fill: styles.get(line.how)!.color }),
            ),
            ...tip(
              canvas,
              lines.flatMap((line) => line.points),
            ),
          ],
        });
      },
    };
  },
};
