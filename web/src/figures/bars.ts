// Horizontal bars, a few per name, with the model's ticks: the form that products, powers and
// bandwidths per matrix share. Names stand beside the bars, or above them where space is short.

import * as Plot from '@observablehq/plot';
import {
  type Canvas,
  frame,
  type LegendItem,
  type Point,
  type Style,
  textWidth,
  tip,
  zeroDomain,
  xAxis,
} from '../plot.ts';
import { shorten } from '../text.ts';

export interface Bar {
  series: string;
  value: number | null;
  tick?: number | null; // what the model predicts
  text: string; // for the tip
}

export interface BarGroup {
  name: string;
  bars: Bar[];
}

export interface BarOptions {
  label: string;
  styles: ReadonlyMap<string, Style>;
  tickLabel?: string;
  line?: number; // a value worth a line, such as a speed-up of 1
  lineLabel?: string;
}

export function drawBars(
  canvas: Canvas,
  groups: readonly BarGroup[],
  options: BarOptions,
): SVGElement {
  const above = canvas.width < 620;
  const series = [...options.styles.keys()].filter((name) =>
    groups.some((group) => group.bars.some((bar) => bar.series === name && bar.value !== null)),
  );
  // Many names stand closer, as close as they can be read.
  const many = groups.length > 32;
  const thickness = many ? 4 : series.length > 3 ? 6 : series.length > 1 ? 8 : 12;
  const head = above ? 17 : 0;
  const space = many ? 4 : 8;
  const pitch = Math.max(13, head + series.length * (thickness + 1) + space);
  const longest = Math.max(0, ...groups.map((group) => textWidth(shorten(group.name, 34))));
  const left = above ? 6 : Math.min(290, longest + 14);

  const ticks = groups.flatMap((group) =>
    group.bars.flatMap((bar) => (bar.tick ? [bar.tick] : [])),
  );
  const values = groups.flatMap((group) => group.bars.flatMap((bar) => bar.value ?? []));
  // A prediction far beyond the bars would make them unreadable: it is cut at the frame.
  const most = Math.max(0, ...values);
  const domain = zeroDomain([
    ...values,
    ...ticks.filter((value) => value <= 1.6 * most),
    options.line ?? 0,
  ]);

  const marks: Plot.Markish[] = [];
  const points: Point[] = [];
  for (const name of series) {
    const row = series.indexOf(name);
    const style = options.styles.get(name)!;
    const rects = groups.flatMap((group, index) => {
      const bar = group.bars.find((candidate) => candidate.series === name);
      if (!bar || bar.value === null) return [];
      const top = index * pitch + head + row * (thickness + 1);
      points.push({ x: bar.value, y: top + thickness / 2, title: `${group.name}\n${bar.text}` });
      return [{ x: bar.value, top, bottom: top + thickness, tick: bar.tick ?? null }];
    });
    marks.push(
      Plot.rect(rects, { x1: 0, x2: 'x', y1: 'top', y2: 'bottom', fill: style.color, rx: 1.5 }),
    );
    const predicted = rects.filter((rect) => rect.tick !== null && rect.tick <= domain[1]);
    marks.push(
      Plot.ruleX(predicted, {
        x: 'tick',
        y1: (rect) => rect.top - 1.5,
        y2: (rect) => rect.bottom + 1.5,
        stroke: 'var(--ink)',
        strokeWidth: 2,
      }),
    );
  }
  marks.push(
    Plot.text(groups, {
      x: above ? 0 : domain[0],
      y: (_: unknown, index: number) =>
        index * pitch + (above ? 8 : (series.length * (thickness + 1)) / 2),
      text: (group: BarGroup) => shorten(group.name, above ? Math.floor(canvas.width / 7.4) : 34),
      textAnchor: above ? 'start' : 'end',
      dx: above ? 0 : -8,
      fill: 'var(--ink)',
    } as Plot.TextOptions),
  );
  if (options.line !== undefined)
    marks.push(Plot.ruleX([options.line], { stroke: 'var(--muted)', strokeWidth: 1.5 }));
  const legend: LegendItem[] = series.map((name) => ({
    label: name,
    kind: 'bar',
    style: options.styles.get(name)!,
  }));
  if (ticks.length > 0)
    legend.push({
      label: options.tickLabel ?? 'predicted by the model',
      kind: 'tick',
      style: { color: 'var(--ink)', symbol: 'circle' },
    });
  if (options.line !== undefined && options.lineLabel)
    legend.push({
      label: options.lineLabel,
      kind: 'tick',
      style: { color: 'var(--muted)', symbol: 'circle' },
    });
  const body = groups.length * pitch;
  return shifted(canvas, body, legend, left, domain, options.label, marks, points);
}

// Rows are placed by their pixels, so that every row has the same height however many there are.
function shifted(
  canvas: Canvas,
  body: number,
  legend: LegendItem[],
  left: number,
  domain: [number, number],
  label: string,
  marks: Plot.Markish[],
  points: Point[],
): SVGElement {
  return frame(canvas, {
    height: body + 6 + 38,
    marginTop: 6,
    legend,
    marginLeft: left,
    marginRight: 18,
    x: { domain },
    y: { domain: [0, body] as [number, number], reverse: true },
    marks: [
      ...xAxis({ label, ticks: undefined }),
      ...marks,
      Plot.ruleX([0], { stroke: 'var(--muted)' }),
      ...tip(canvas, points),
    ],
  });
}
