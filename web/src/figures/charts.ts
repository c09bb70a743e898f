// Charts that several figures are: marks over two logarithmic axes, and lines with names.

import type * as Plot from '@observablehq/plot';
import type { Result } from '../documents/report.ts';
import {
  type Canvas,
  curve,
  dots,
  frame,
  type LegendItem,
  logDomain,
  logTicks,
  type Point,
  type Style,
  xAxis,
  yAxis,
} from '../plot.ts';
import { groupBy } from '../statistics.ts';

export const strataStyle: Style = { color: 'var(--s1)', symbol: 'circle' };
export const peerStyle: Style = { color: 'var(--s2)', symbol: 'square' };
export const plainStyle: Style = { color: 'var(--s3)', symbol: 'triangle' };

export interface Line<P extends Point = Point> {
  name: string;
  points: P[];
}

const mostGroups = 8; // marks of more kinds cannot be told apart

/** Groups by name, the largest first; those beyond the eighth are one group. */
export function largestGroups<T>(items: readonly T[], name: (item: T) => string): [string, T[]][] {
  const largest = [...groupBy(items, name)].sort((a, b) => b[1].length - a[1].length);
  if (largest.length <= mostGroups) return largest;
  const rest = largest.slice(mostGroups - 1).flatMap(([, list]) => list);
  return [...largest.slice(0, mostGroups - 1), ['other formats', rest]];
}

/** Of several results of one name the latest, in the order of the names. */
export function latestBy<R extends Result>(
  results: readonly R[],
  name: (result: R) => string,
): R[] {
  const latest = new Map<string, R>();
  for (const result of results) {
    const other = latest.get(name(result));
    if (!other || result.time >= other.time) latest.set(name(result), result);
  }
  return [...latest.values()];
}

/** The unit that the largest of some times is written in. */
export function secondsUnit(times: readonly number[]): { name: string; seconds: number } {
  const most = times.reduce((a, b) => Math.max(a, b), 0);
  if (most >= 1) return { name: 's', seconds: 1 };
  if (most >= 1e-3) return { name: 'ms', seconds: 1e-3 };
  return most >= 1e-6 ? { name: 'µs', seconds: 1e-6 } : { name: 'ns', seconds: 1e-9 };
}

/** So many pixels, or fewer where the window of a phone is all there is. */
export function heightFor(canvas: Canvas, wide: number, narrow: number): number {
  return canvas.width < 500 ? narrow : wide;
}

export function legendOf(
  names: Iterable<string>,
  styles: ReadonlyMap<string, Style>,
  kind: LegendItem['kind'],
): LegendItem[] {
  return [...names].map((label) => ({ label, kind, style: styles.get(label)! }));
}

/** The shades of a picture, from the lightest to the darkest. */
export function shadeLegend(lightest: string, darkest: string): LegendItem[] {
  const item = (label: string, shade: string): LegendItem => ({
    label,
    kind: 'bar',
    style: { color: `var(${shade})`, symbol: 'circle' },
  });
  return [item(lightest, '--h1'), item(darkest, '--h6')];
}

/** Curves with their points. */
export function linesWithDots(
  lines: readonly Line[],
  styles: ReadonlyMap<string, Style>,
  radius?: number,
): Plot.Markish[] {
  return lines.flatMap(({ name, points }) => [
    curve(points, styles.get(name)!),
    dots(points, styles.get(name)!, radius),
  ]);
}

interface LogAxis {
  label: string;
  values: readonly number[];
  room?: number; // beyond the smallest and the largest, as a factor
  format?: (value: number) => string;
  pixels?: number; // between ticks of the horizontal axis
}

type Domain = [number, number];

/** Marks over two logarithmic axes. `under` lies below the grid, `marks` above it. */
export function logChart(
  canvas: Canvas,
  chart: {
    height: number;
    legend: LegendItem[];
    x: LogAxis;
    y: LogAxis;
    marginRight?: number;
    under?(x: Domain, y: Domain): Plot.Markish[];
    marks(x: Domain, y: Domain): Plot.Markish[];
  },
): SVGElement {
  const x = logDomain(chart.x.values, chart.x.room ?? 1.3);
  const y = logDomain(chart.y.values, chart.y.room ?? 1.3);
  return frame(canvas, {
    height: chart.height,
    legend: chart.legend,
    marginRight: chart.marginRight,
    x: { type: 'log', domain: x },
    y: { type: 'log', domain: y },
    marks: [
      ...(chart.under?.(x, y) ?? []),
      ...yAxis({ label: chart.y.label, ticks: logTicks(y, 8), format: chart.y.format }),
      ...xAxis({
        label: chart.x.label,
        ticks: logTicks(x, Math.floor(canvas.width / (chart.x.pixels ?? 90))),
        format: chart.x.format,
      }),
      ...chart.marks(x, y),
    ],
  });
}
