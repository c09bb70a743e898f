// What all figures share: the frame, axes, legends, colours and marks. Colours are CSS variables,
// so that a figure follows the page from light to dark and to paper; exported files get their values.

import * as Plot from '@observablehq/plot';
import type { Table } from './cells.ts';
import type { Chosen, Control } from './choices.ts';
import type { View } from './filter.ts';
import { tick } from './text.ts';

export interface Canvas {
  document: Document;
  width: number;
  interactive: boolean; // pointer tips
}

/** A figure that was made from the present results; drawing it is put off until it is seen. */
export interface Drawing {
  summary: string; // what there is to see, in a sentence
  controls?: Control[];
  table: Table;
  draw(canvas: Canvas): SVGElement;
}

export interface Figure {
  id: string;
  title: string;
  section: string;
  reading: string; // how to read it
  commands: readonly string[]; // what gives it data: command lines with MATRIX and FILE to fill in
  build(view: View, chosen: Chosen): Drawing | null;
}

export interface Style {
  color: string;
  dash?: string;
  symbol: Plot.SymbolType;
}

const colors = ['--s1', '--s2', '--s3', '--s4', '--s5', '--s6', '--s7', '--s8'].map(
  (name) => `var(${name})`,
);
const dashes = [undefined, '6 3', '2 3'];
const symbols: Plot.SymbolType[] = [
  'circle',
  'square',
  'triangle',
  'diamond',
  'star',
  'cross',
  'asterisk',
  'times',
];

// Names that are in many figures look the same in all of them.
const known = [
  'packed SELL',
  'cuSPARSE',
  'packed SELL, full values',
  'CSR',
  'SELL-C-σ',
  'BCSR',
  'HYB',
  'COO',
  'ELL',
  'Eigen',
  'DIA',
  'symmetric CSR',
  'JDS',
  'PETSc',
  'COO in blocks',
  'librsb',
  'CSC',
  'hipSPARSE',
  'CSR of Reguly',
];

export function styleAt(index: number): Style {
  return {
    color: colors[index % colors.length]!,
    dash: dashes[Math.floor(index / colors.length) % dashes.length],
    symbol: symbols[(index + Math.floor(index / colors.length)) % symbols.length]!,
  };
}

const strategies: Record<string, number> = {
  plan: 0,
  'plain products': 2,
  wavefront: 3,
  levels: 4,
  'levels in a graph': 6,
};

/** Styles by name: their own for known names, free ones for the others; colours repeat only when all are in use. In the order of the names. */
export function stylesOf(names: readonly string[]): Map<string, Style> {
  const styles = new Map<string, Style>();
  const taken = new Set<number>();
  const give = (name: string, index: number) => {
    styles.set(name, styleAt(index));
    taken.add(index);
  };
  for (const name of names) {
    const index = strategies[name] ?? known.indexOf(name);
    if (index >= 0 && index < colors.length && !taken.has(index)) give(name, index);
  }
  for (const name of names) {
    if (styles.has(name)) continue;
    let index = 0;
    while (taken.has(index)) ++index;
    give(name, index);
  }
  return new Map(names.map((name) => [name, styles.get(name)!]));
}

export interface LegendItem {
  label: string;
  kind: 'bar' | 'line' | 'dot' | 'tick';
  style: Style;
}

const widths: readonly [RegExp, number][] = [
  [/[mW@%]/, 11.6],
  [/[wM=+<>…×]/, 10],
  [/[iljI.,:;|' \u202f]/, 4],
  [/[ftr()/-]/, 4.9],
  [/[A-Z]/, 8.4],
  [/[^\u0000-\u2e7f]/, 12.5],
];

/**
 * Pixels of a text at 12 pixels, roughly: there is nothing to measure with outside a browser. They
 * are those of DejaVu Sans, the widest of the common fonts.
 */
export function textWidth(text: string): number {
  let width = 0;
  for (const character of text)
    width += widths.find(([characters]) => characters.test(character))?.[1] ?? 7.5;
  return width;
}

const usualLeft = 48;

interface Frame {
  height: number;
  marks: Plot.Markish[];
  legend?: LegendItem[];
  x?: Plot.ScaleOptions;
  y?: Plot.ScaleOptions;
  marginLeft?: number;
  marginRight?: number;
  marginBottom?: number;
  marginTop?: number;
}

/** Draws marks in a frame with the legend above it. */
export function frame(canvas: Canvas, parts: Frame): SVGElement {
  const lines = legendLines(parts.legend ?? [], canvas.width - 8);
  const legendHeight = lines.length * 20 + (lines.length > 0 ? 6 : 0);
  const marginTop = (parts.marginTop ?? 28) + legendHeight;
  const svg = Plot.plot({
    document: canvas.document,
    className: 'chart',
    width: canvas.width,
    height: parts.height + legendHeight,
    marginTop,
    marginLeft: parts.marginLeft ?? usualLeft,
    marginRight: parts.marginRight ?? 16,
    marginBottom: parts.marginBottom ?? 38,
    style: { fontSize: '12px', background: 'none', overflow: 'visible' },
    x: { axis: null, ...parts.x },
    y: { axis: null, ...parts.y },
    marks: parts.marks,
  } as Plot.PlotOptions) as unknown as SVGElement;
  const group = svg.ownerDocument.createElementNS('http://www.w3.org/2000/svg', 'g');
  lines.forEach((line, row) => {
    for (const { item, x } of line) drawLegendItem(group, item, x + 4, row * 20 + 10);
  });
  svg.appendChild(group);
  return svg;
}

function legendLines(
  items: readonly LegendItem[],
  width: number,
): { item: LegendItem; x: number }[][] {
  const lines: { item: LegendItem; x: number }[][] = [];
  let x = Infinity;
  for (const item of items) {
    const size = 26 + textWidth(item.label) + 18;
    if (x + size > width + 18) {
      lines.push([]);
      x = 0;
    }
    lines[lines.length - 1]!.push({ item, x });
    x += size;
  }
  return lines;
}

/** Symbols that are lines, and have nothing to fill. */
function isOpen(symbol: Plot.SymbolType): boolean {
  return symbol === 'asterisk' || symbol === 'times';
}

const symbolPaths: Record<string, string> = {
  circle: 'M4,0A4,4,0,1,1,-4,0A4,4,0,1,1,4,0Z',
  square: 'M-3.5,-3.5H3.5V3.5H-3.5Z',
  triangle: 'M0,-4.5L4.2,3.5H-4.2Z',
  diamond: 'M0,-5L3.6,0L0,5L-3.6,0Z',
  star: 'M0,-5L1.2,-1.6L4.8,-1.6L1.9,0.6L3,4L0,1.9L-3,4L-1.9,0.6L-4.8,-1.6L-1.2,-1.6Z',
  cross: 'M-1.5,-4.5H1.5V-1.5H4.5V1.5H1.5V4.5H-1.5V1.5H-4.5V-1.5H-1.5Z',
  asterisk: 'M0,-4.5V4.5M-3.9,-2.2L3.9,2.2M-3.9,2.2L3.9,-2.2',
  times: 'M-3.5,-3.5L3.5,3.5M-3.5,3.5L3.5,-3.5',
};

function drawLegendItem(group: Element, item: LegendItem, x: number, y: number): void {
  const add = (name: string, attributes: Record<string, string | number | undefined>) => {
    const element = group.ownerDocument.createElementNS('http://www.w3.org/2000/svg', name);
    for (const [key, value] of Object.entries(attributes))
      if (value !== undefined) element.setAttribute(key, String(value));
    group.appendChild(element);
    return element;
  };
  const { color, dash, symbol } = item.style;
  if (item.kind === 'bar') add('rect', { x, y: y - 5, width: 18, height: 10, rx: 2, fill: color });
  if (item.kind === 'tick')
    add('path', { d: `M${x + 9},${y - 7}V${y + 7}`, stroke: color, 'stroke-width': 2.5 });
  if (item.kind === 'line')
    add('path', {
      d: `M${x},${y}H${x + 20}`,
      stroke: color,
      'stroke-width': 2.2,
      'stroke-dasharray': dash,
    });
  if (item.kind === 'dot') {
    const open = isOpen(symbol);
    add('path', {
      d: symbolPaths[String(symbol)] ?? symbolPaths.circle,
      transform: `translate(${x + 10},${y})`,
      fill: open ? 'none' : color,
      stroke: color,
      'stroke-width': open ? 2 : 0,
    });
  }
  const text = add('text', {
    x: x + 26,
    y: y + 4,
    fill: 'var(--ink)',
    'font-size': 12,
    'text-anchor': 'start',
  });
  text.textContent = item.label;
}

interface AxisOptions {
  label: string;
  ticks?: number[];
  format?: (value: number) => string;
}

// Texts of ticks are given one by one: scales that are logarithmic would leave some of them out.
function tickTexts(
  ticks: number[] | undefined,
  format: (value: number) => string,
): { tickFormat?: (value: number) => string; text?: (value: number) => string } {
  return ticks ? { text: format } : { tickFormat: format };
}

export function xAxis({ label, ticks, format = tick }: AxisOptions): Plot.Markish[] {
  const options = {
    label,
    labelAnchor: 'center',
    labelArrow: 'none',
    tickSize: 0,
    tickPadding: 6,
    fill: 'var(--muted)',
    ...tickTexts(ticks, format),
  } as Plot.AxisXOptions;
  return [
    Plot.gridX({ ticks, stroke: 'var(--grid)', strokeOpacity: 1 }),
    ticks ? Plot.axisX(ticks, options) : Plot.axisX(options),
  ];
}

/** The label stands above the axis, at the edge of the figure, where it needs no turning of heads. */
export function yAxis({ label, ticks, format = tick }: AxisOptions): Plot.Markish[] {
  const options = {
    label: null,
    tickSize: 0,
    tickPadding: 6,
    fill: 'var(--muted)',
    ...tickTexts(ticks, format),
  } as Plot.AxisYOptions;
  return [
    Plot.gridY({ ticks, stroke: 'var(--grid)', strokeOpacity: 1 }),
    ticks ? Plot.axisY(ticks, options) : Plot.axisY(options),
    Plot.text([label], {
      frameAnchor: 'top-left',
      lineAnchor: 'bottom',
      textAnchor: 'start',
      dx: 4 - usualLeft,
      dy: -11,
      fill: 'var(--muted)',
    }),
  ];
}

/** The smallest and the largest, apart from each other even where there is one value alone. */
export function logDomain(values: readonly number[], room = 1.15): [number, number] {
  let low = Infinity;
  let high = -Infinity;
  for (const value of values) {
    if (!(value > 0) || !Number.isFinite(value)) continue;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  if (low > high) return [1, 10];
  return low * room * room < high ? [low / room, high * room] : [low / 2, high * 2];
}

export function zeroDomain(values: readonly number[]): [number, number] {
  let high = 0;
  for (const value of values) if (Number.isFinite(value) && value > high) high = value;
  return [0, high > 0 ? high * 1.08 : 1];
}

/** Ticks of a logarithmic axis, about `count` of them: 1, 2, 5 or powers of ten, or powers of two. */
export function logTicks(
  [low, high]: readonly [number, number],
  count = 6,
  base: 2 | 10 = 10,
): number[] {
  if (base === 2) {
    const first = Math.ceil(Math.log2(low) - 1e-9);
    const last = Math.floor(Math.log2(high) + 1e-9);
    const step = Math.max(1, Math.ceil((last - first + 1) / count));
    const ticks: number[] = [];
    for (let exponent = first; exponent <= last; exponent += step) ticks.push(2 ** exponent);
    return ticks;
  }
  const decades = Math.log10(high / low);
  const mantissas = decades <= count / 3 ? [1, 2, 5] : decades <= count / 1.5 ? [1, 3] : [1];
  const step = mantissas.length > 1 ? 1 : Math.max(1, Math.ceil(decades / count));
  const ticks: number[] = [];
  for (
    let exponent = Math.floor(Math.log10(low));
    exponent <= Math.ceil(Math.log10(high));
    ++exponent
  ) {
    if (step > 1 && exponent % step !== 0) continue;
    for (const mantissa of mantissas) {
      const value = Number((mantissa * 10 ** exponent).toPrecision(3));
      if (value >= low * 0.999 && value <= high * 1.001) ticks.push(value);
    }
  }
  return ticks;
}

export interface Point {
  x: number;
  y: number;
  title: string;
}

/** A tip that follows the pointer, where there is one. */
export function tip(
  canvas: Canvas,
  points: readonly Point[],
  by: 'both' | 'x' = 'both',
): Plot.Markish[] {
  if (!canvas.interactive || points.length === 0) return [];
  const options = {
    x: 'x',
    y: 'y',
    title: 'title',
    maxRadius: 30,
    fill: 'var(--card)',
    stroke: 'var(--edge)',
    fontSize: 12,
    lineWidth: 26,
  };
  return [Plot.tip(points as Point[], by === 'x' ? Plot.pointerX(options) : Plot.pointer(options))];
}

/** Vertical marks with names, such as the sizes of caches; names near the right edge stand to their left. */
export function verticalMarks(
  items: readonly { x: number; label: string }[],
  domain: readonly [number, number],
): Plot.Markish[] {
  const inside = items.filter((item) => item.x > domain[0] && item.x < domain[1]);
  const isLate = (item: { x: number }) =>
    Math.log(item.x / domain[0]) > 0.7 * Math.log(domain[1] / domain[0]);
  const names = (late: boolean) =>
    Plot.text(
      inside.filter((item) => isLate(item) === late),
      {
        x: 'x',
        text: 'label',
        frameAnchor: 'top',
        textAnchor: late ? 'end' : 'start',
        dx: late ? -4 : 4,
        dy: 2,
        fill: 'var(--muted)',
        fontSize: 11,
        stroke: 'var(--card)',
        strokeWidth: 3,
      },
    );
  return [
    Plot.ruleX(inside, { x: 'x', stroke: 'var(--muted)', strokeDasharray: '2 3' }),
    names(false),
    names(true),
  ];
}

export function dots(points: readonly Point[], style: Style, radius = 3.5): Plot.Markish {
  const open = isOpen(style.symbol);
  return Plot.dot(points as Point[], {
    x: 'x',
    y: 'y',
    r: radius,
    symbol: style.symbol,
    fill: open ? undefined : style.color,
    stroke: open ? style.color : 'var(--card)',
    strokeWidth: open ? 1.8 : 0.7,
  });
}

export function curve(points: readonly Point[], style: Style, width = 2): Plot.Markish {
  return Plot.line(points as Point[], {
    x: 'x',
    y: 'y',
    stroke: style.color,
    strokeWidth: width,
    strokeDasharray: style.dash,
  });
}
