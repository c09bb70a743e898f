// Curves over one parameter: p, the size of the matrix, C, the cache size, threads, and those of
// Reguly's kernel. They differ in what is on the axis and in what makes a curve.

import * as Plot from '@observablehq/plot';
import type { View } from '../filter.ts';
import type { Machine } from '../documents/machines.ts';
import type { Result } from '../documents/report.ts';
import { chooseGroup, control, optionsOf, shownControls } from '../choices.ts';
import {
  type Canvas,
  curve,
  dots,
  type Drawing,
  type Figure,
  frame,
  type LegendItem,
  logDomain,
  logTicks,
  type Point,
  stylesOf,
  zeroDomain,
  tip,
  xAxis,
  yAxis,
  verticalMarks,
} from '../plot.ts';
import { groupBy, largestBy } from '../statistics.ts';
import { number, plural, tick } from '../text.ts';
import { heightFor, type Line } from './charts.ts';

export interface Sweep extends Pick<Figure, 'id' | 'title' | 'section' | 'reading' | 'commands'> {
  uses(result: Result): boolean;
  x(result: Result): number | null;
  label: string;
  name: string; // of the parameter, for sentences
  scale: 'linear' | 2 | 10;
  format?: (value: number) => string;
  series(result: Result): string;
  subject?(result: Result): string; // what one set of curves is about; the matrix when not given
  marks?(machine: Machine): { x: number; label: string }[];
  least?: number; // different values that make a curve
}

interface Measure {
  value: string;
  label: string;
  of(result: Result): number | null;
}

const measures: Measure[] = [
  { value: 'gflops', label: 'GF/s', of: (result) => result.gflops },
  { value: 'gbytes', label: 'GB/s', of: (result) => result.gbytes },
  { value: 'peer', label: 'speed-up over the best of the others', of: (result) => result.overPeer },
  { value: 'plain', label: 'speed-up over plain products', of: (result) => result.overPlain },
];

interface Place {
  machine: Machine;
  machineName: string;
  subject: string;
  results: Result[];
  values: number;
}

export function sweepFigure(sweep: Sweep): Figure {
  const { id, title, section, reading, commands } = sweep;
  return {
    id,
    title,
    section,
    reading,
    commands,
    build(view: View, chosen): Drawing | null {
      const places = placesOf(view, sweep);
      if (places.length === 0) return null;
      const { control: machine, items: here } = chooseGroup(
        'machine',
        'On',
        places,
        (place) => place.machineName,
        chosen,
      );
      const subject = control(
        'subject',
        sweep.subject ? 'Of' : 'Matrix',
        optionsOf(here.map((place) => place.subject)),
        chosen,
      );
      const place = here.find((item) => item.subject === subject.value)!;
      const useful = measures.filter((measure) =>
        place.results.some((result) => measure.of(result) !== null),
      );
      const measureControl = control('measure', 'Show', useful, chosen);
      const measure = useful.find((item) => item.value === measureControl.value);
      if (!measure) return null;
      const curves = curvesOf(place.results, sweep, measure);
      const best = largestBy(
        curves.flatMap((item) => item.points),
        (point) => point.y,
      );
      return {
        summary: `${place.subject} on ${place.machineName}: at most ${number(best?.y)} ${measure.label === 'GF/s' || measure.label === 'GB/s' ? measure.label : `as ${measure.label}`}, with ${sweep.name} ${(sweep.format ?? tick)(best?.x ?? 0)}.`,
        controls: shownControls([machine, subject, measureControl]),
        table: {
          header: [sweep.label, 'curve', measure.label, 'predicted GF/s', 'product'],
          rows: curves.flatMap((item) =>
            item.points.map((point) => [
              point.x,
              item.name,
              point.y,
              point.result.predicted,
              point.result.product,
            ]),
          ),
        },
        draw: (canvas) => draw(canvas, sweep, place, measure, curves),
      };
    },
  };
}

function placesOf(view: View, sweep: Sweep): Place[] {
  const usable = view.results.filter(
    (result) => sweep.uses(result) && sweep.x(result) !== null && result.gflops !== null,
  );
  // GPUs have no threads, double precision goes without saying.
  const machineName = (result: Result) =>
    [
      result.machine.label,
      result.machine.gpu || result.threads === null || sweep.name === 'threads'
        ? ''
        : plural(result.threads, 'thread'),
      result.precision === 'double' ? '' : result.precision,
    ]
      .filter(Boolean)
      .join(', ');
  const subject = sweep.subject ?? ((result: Result) => result.matrix.name);
  const groups = groupBy(usable, (result) => `${machineName(result)}\n${subject(result)}`);
  const places: Place[] = [];
  for (const results of groups.values()) {
    const series = groupBy(results, sweep.series);
    const values = Math.max(
      ...[...series.values()].map((list) => new Set(list.map((result) => sweep.x(result))).size),
    );
    if (values < (sweep.least ?? 2)) continue;
    const first = results[0]!;
    places.push({
      machine: first.machine,
      machineName: machineName(first),
      subject: subject(first),
      results,
      values,
    });
  }
  // The longest curves first, and of the largest matrices.
  const size = (place: Place) => Math.max(...place.results.map((result) => result.matrix.nnz ?? 0));
  return places.sort((a, b) => b.values - a.values || size(b) - size(a));
}

type Curve = Line<Point & { result: Result }>;

/** Where several results have the same value, the fastest counts. */
function curvesOf(results: readonly Result[], sweep: Sweep, measure: Measure): Curve[] {
  const curves: Curve[] = [];
  for (const [name, list] of groupBy(results, sweep.series)) {
    const points = [...groupBy(list, (result) => sweep.x(result)!)].flatMap(([x, same]) => {
      const best = largestBy(same, measure.of);
      const y = best && measure.of(best);
      return best && y !== null
        ? [
            {
              x,
              y,
              result: best,
              title: `${name}\n${(sweep.format ?? tick)(x)}: ${number(y)} ${measure.label}\n${best.product}`,
            },
          ]
        : [];
    });
    points.sort((a, b) => a.x - b.x);
    if (points.length > 0) curves.push({ name, points });
  }
  return curves
    .sort(
      (a, b) =>
        b.points.length - a.points.length ||
        Math.max(...b.points.map((p) => p.y)) - Math.max(...a.points.map((p) => p.y)),
    )
    .slice(0, 16);
}

function draw(
  canvas: Canvas,
  sweep: Sweep,
  place: Place,
  measure: Measure,
  curves: readonly Curve[],
): SVGElement {
  const styles = stylesOf(curves.map((item) => item.name));
  const all = curves.flatMap((item) => item.points);
  const xs = all.map((point) => point.x);
  const log = sweep.scale !== 'linear';
  const xDomain: [number, number] = log
    ? logDomain(xs, 1.12)
    : [Math.min(...xs) - 0.25, Math.max(...xs) + 0.25];
  const most = Math.max(...all.map((point) => point.y));
  const predictions =
    measure.value === 'gflops'
      ? curves.flatMap((item) => {
          const points = item.points
            .filter((point) => point.result.predicted !== null)
            .map((point) => ({ x: point.x, y: point.result.predicted!, title: '' }));
          return points.length > 1 && Math.max(...points.map((point) => point.y)) <= 2 * most
            ? [{ name: item.name, points }]
            : [];
        })
      : [];
  const yDomain = zeroDomain([
    most,
    ...predictions.flatMap((item) => item.points.map((point) => point.y)),
    measure.label.startsWith('speed-up') ? 1 : 0,
  ]);
  const values = [...new Set(xs)].sort((a, b) => a - b);
  const count = Math.max(3, Math.floor(canvas.width / 90));
  const ticks =
    sweep.scale === 'linear'
      ? values.length <= 2 * count
        ? values
        : undefined
      : values.length <= count
        ? values
        : logTicks(xDomain, count, sweep.scale);
  const legend: LegendItem[] = curves.map((item) => ({
    label: item.name,
    kind: item.points.length > 1 ? 'line' : 'dot',
    style: styles.get(item.name)!,
  }));
  if (predictions.length > 0)
    legend.push({
      label: 'predicted',
      kind: 'line',
      style: { color: 'var(--muted)', dash: '1.5 3', symbol: 'circle' },
    });
  return frame(canvas, {
    height: heightFor(canvas, 360, 300),
    legend,
    x: { type: log ? 'log' : 'linear', domain: xDomain },
    y: { domain: yDomain },
    marks: [
      ...yAxis({ label: measure.label }),
      ...xAxis({ label: sweep.label, ticks, format: sweep.format }),
      ...verticalMarks(sweep.marks?.(place.machine) ?? [], xDomain),
      ...(measure.label.startsWith('speed-up')
        ? [Plot.ruleY([1], { stroke: 'var(--muted)' })]
        : []),
      ...predictions.map((item) =>
        curve(item.points, { ...styles.get(item.name)!, dash: '1.5 3' }, 1.5),
      ),
      ...curves.flatMap((item) => [
        curve(item.points, styles.get(item.name)!),
        dots(item.points, styles.get(item.name)!, item.points.length > 30 ? 2.5 : 3.5),
      ]),
      ...tip(canvas, all),
    ],
  });
}
