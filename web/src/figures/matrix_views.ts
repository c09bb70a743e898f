// What a matrix looks like: its entries (spy plot), row lengths and levels, and the order in which
// a traced run worked through them (the thesis' Lp diagram).

import * as Plot from '@observablehq/plot';
import type { View } from '../filter.ts';
import type { Matrix } from '../documents/report.ts';
import { type Chosen, type Control, control, optionsOf, shownControls } from '../choices.ts';
import {
  type Drawing,
  type Figure,
  frame,
  logDomain,
  logTicks,
  zeroDomain,
  tip,
  xAxis,
  yAxis,
} from '../plot.ts';
import { grouped, number, plural, seconds, tick } from '../text.ts';
import { heightFor, shadeLegend } from './charts.ts';

function chooseMatrix(
  view: View,
  has: (matrix: Matrix) => boolean,
  chosen: Chosen,
): { matrix: Matrix; control: Control } | null {
  const usable = view.report.matrices.filter((matrix) => has(matrix) && view.keepsMatrix(matrix));
  if (usable.length === 0) return null;
  const list = control('matrix', 'Matrix', optionsOf(usable.map((matrix) => matrix.name)), chosen);
  return { matrix: usable.find((matrix) => matrix.name === list.value)!, control: list };
}

/** There is no level between two. */
function wholeTick(value: number): string {
  return Number.isInteger(value) ? tick(value) : '';
}

const shades = 7;

export const spyPlot: Figure = {
  id: 'spy',
  title: 'Spy plot',
  section: 'Matrices',
  reading:
    'The matrix from above: a cell is a block of rows and columns, darker where it has more entries, on a logarithmic scale.',
  commands: ['strata info MATRIX --json FILE'],
  build(view, chosen): Drawing | null {
    const found = chooseMatrix(view, (matrix) => matrix.spy !== null, chosen);
    if (!found) return null;
    const { matrix } = found;
    const spy = matrix.spy!;
    const most = Math.max(1, ...spy.counts);
    const cells = spy.counts.flatMap((count, index) =>
      count > 0 ? [{ row: Math.floor(index / spy.cols), col: index % spy.cols, count }] : [],
    );
    return {
      summary: `${matrix.name}: ${matrix.rows ? grouped(matrix.rows) : '?'} rows, ${matrix.nnz ? grouped(matrix.nnz) : '?'} entries, in ${spy.rows} by ${spy.cols} blocks of which ${grouped(cells.length)} have entries.`,
      controls: shownControls([found.control]),
      table: {
        header: ['block of rows', 'block of columns', 'entries'],
        rows: cells.map((cell) => [cell.row, cell.col, cell.count]),
      },
      draw(canvas) {
        const side = Math.min(canvas.width, 460);
        const height = Math.max(60, Math.min(640, (side * spy.rows) / spy.cols));
        const level = (count: number) =>
          most > 1
            ? Math.min(
                shades - 1,
                1 + Math.floor((Math.log(count) / Math.log(most)) * (shades - 1.001)),
              )
            : shades - 1;
        return frame(
          { ...canvas, width: side },
          {
            height: height + 26,
            legend: shadeLegend('1 entry in a block', plural(most, 'entry', 'entries')),
            marginLeft: 22,
            marginRight: 1,
            marginTop: 4,
            x: { domain: [0, spy.cols] },
            y: { domain: [0, spy.rows], reverse: true },
            marginBottom: 22,
            marks: [
              Plot.text(['columns'], { frameAnchor: 'bottom', dy: 15, fill: 'var(--muted)' }),
              Plot.text(['rows'], {
                frameAnchor: 'left',
                dx: -13,
                rotate: -90,
                fill: 'var(--muted)',
              }),
              Plot.rect(cells, {
                x1: 'col',
                x2: (cell) => cell.col + 1,
                y1: 'row',
                y2: (cell) => cell.row + 1,
                fill: (cell) => `var(--h${level(cell.count)})`,
                inset: 0,
                shapeRendering: 'crispEdges',
              }),
              Plot.frame({ stroke: 'var(--muted)' }),
            ],
          },
        );
      },
    };
  },
};

export const rowLengths: Figure = {
  id: 'row-lengths',
  title: 'Row lengths',
  section: 'Matrices',
  reading:
    'How many rows have how many entries, on a logarithmic scale. Rows of one length suit ELL and SELL; a long tail asks for parts of equal work.',
  commands: ['strata info MATRIX --json FILE'],
  build(view, chosen): Drawing | null {
    const found = chooseMatrix(
      view,
      (matrix) => matrix.rowLengths.some((bin) => bin.rows > 0),
      chosen,
    );
    if (!found) return null;
    const { matrix } = found;
    const bins = matrix.rowLengths.filter((bin) => bin.rows > 0);
    return {
      summary: `${matrix.name}: ${number(matrix.meanRow)} entries per row on average, ${matrix.maxRow === null ? '' : `at most ${grouped(matrix.maxRow)}`}.`,
      controls: shownControls([found.control]),
      table: {
        header: ['entries from', 'to', 'rows'],
        rows: bins.map((bin) => [bin.first, bin.last, bin.rows]),
      },
      draw(canvas) {
        const y = logDomain([...bins.map((bin) => bin.rows), 1], 1.3);
        const first = Math.min(...bins.map((bin) => bin.first));
        const last = Math.max(...bins.map((bin) => bin.last)) + 1;
        const wide = last / Math.max(1, first) > 60;
        return frame(canvas, {
          height: heightFor(canvas, 300, 260),
          x: wide
            ? { type: 'log', domain: [Math.max(0.5, first * 0.9), last * 1.05] }
            : { domain: [first - 0.5, last + 0.5] },
          y: { type: 'log', domain: [0.7, y[1]] },
          marks: [
            ...yAxis({ label: 'rows', ticks: logTicks(y, 7) }),
            ...xAxis({
              label: 'entries of a row',
              ticks: wide
                ? logTicks([Math.max(1, first), last], Math.floor(canvas.width / 80))
                : undefined,
              format: wholeTick,
            }),
            Plot.rect(bins, {
              x1: (bin) => Math.max(0.5, bin.first - (wide ? 0 : 0.4)),
              x2: (bin) => bin.last + (wide ? 1 : 0.4),
              y1: 0.7,
              y2: 'rows',
              fill: 'var(--s1)',
              inset: 0.5,
              rx: 1,
            }),
            ...tip(
              canvas,
              bins.map((bin) => ({
                x: (bin.first + bin.last) / 2,
                y: bin.rows,
                title: `${bin.first === bin.last ? bin.first : `${bin.first} to ${bin.last}`} entries: ${plural(bin.rows, 'row')}`,
              })),
              'x',
            ),
          ],
        });
      },
    };
  },
};

export const levelSizes: Figure = {
  id: 'levels',
  title: 'Level sizes',
  section: 'Matrices',
  reading:
    'Powers sweep through levels: rows of one level depend on those of the levels beside it alone. Three levels in a row are the least that a sweep keeps on chip.',
  commands: ['strata info MATRIX --json FILE'],
  build(view, chosen): Drawing | null {
    const found = chooseMatrix(view, (matrix) => matrix.levelRows.length > 1, chosen);
    if (!found) return null;
    const { matrix } = found;
    const per = matrix.levelsPerEntry;
    const points = matrix.levelRows.map((rows, index) => ({
      x: index * per,
      y: rows / per,
      title: `level ${index * per}: ${plural(Math.round(rows / per), 'row')}`,
    }));
    return {
      summary: `${matrix.name}: ${plural(matrix.levels ?? points.length * per, 'level')}, the widest of ${plural(matrix.maxLevelRows ?? Math.max(...points.map((point) => Math.round(point.y))), 'row')}.`,
      controls: shownControls([found.control]),
      table: { header: ['level', 'rows'], rows: points.map((point) => [point.x, point.y]) },
      draw: (canvas) =>
        frame(canvas, {
          height: heightFor(canvas, 280, 240),
          x: { domain: [0, points.length * per] },
          y: { domain: zeroDomain(points.map((point) => point.y)) },
          marks: [
            ...yAxis({ label: 'rows' }),
            ...xAxis({ label: 'level', format: wholeTick }),
            Plot.areaY(points, {
              x: 'x',
              y: 'y',
              fill: 'var(--s1)',
              fillOpacity: 0.25,
              curve: 'step-after',
            }),
            Plot.lineY(points, {
              x: 'x',
              y: 'y',
              stroke: 'var(--s1)',
              strokeWidth: 1.5,
              curve: 'step-after',
            }),
            ...tip(canvas, points, 'x'),
          ],
        }),
    };
  },
};

export const taskOrder: Figure = {
  id: 'tasks',
  title: 'Order of the tasks',
  section: 'Matrices',
  reading:
    'A cell is a task: one level (or a few) of one power. Its shade is when it ran, from light at the start to dark at the end. A wavefront runs along diagonals: power k follows k levels behind power 1.',
  commands: ['strata mpk MATRIX -p 4 --strategy wavefront --trace --json FILE'],
  build(view, chosen): Drawing | null {
    // Sweeps before plain products, which are one task per power and thread.
    const traced = view.results
      .filter((result) => result.trace.length > 0)
      .sort((a, b) => b.trace.length - a.trace.length);
    if (traced.length === 0) return null;
    const name = (index: number) =>
      `${traced[index]!.matrix.name}, ${traced[index]!.product}, p = ${traced[index]!.power}`;
    const list = control(
      'run',
      'Run',
      traced.map((_, index) => ({ value: String(index), label: name(index) })),
      chosen,
    );
    const result = traced[Number(list.value)]!;
    const tasks = result.trace;
    const begin = Math.min(...tasks.map((task) => task.start));
    const end = Math.max(...tasks.map((task) => task.end));
    const middle = (task: (typeof tasks)[number]) => (task.start + task.end) / 2;
    return {
      summary: `${result.matrix.name}: ${plural(tasks.length, 'task')} of ${result.product} in ${seconds(end - begin)}.`,
      controls: shownControls([list]),
      table: {
        header: ['level', 'levels', 'power', 'start, s', 'end, s', 'thread'],
        rows: [...tasks]
          .sort((a, b) => a.start - b.start)
          .map((task) => [
            task.level,
            task.levels,
            task.power,
            task.start - begin,
            task.end - begin,
            task.thread,
          ]),
      },
      draw(canvas) {
        const powers = [...new Set(tasks.map((task) => task.power))].sort((a, b) => a - b);
        const last = Math.max(...tasks.map((task) => task.level + task.levels));
        const first = Math.min(...tasks.map((task) => task.level));
        const level = (task: (typeof tasks)[number]) =>
          end > begin
            ? Math.min(shades - 1, Math.floor(((middle(task) - begin) / (end - begin)) * shades))
            : 0;
        return frame(canvas, {
          height: Math.max(160, powers.length * 34 + 70),
          legend: shadeLegend('first', 'last'),
          x: { domain: [first, last] },
          y: { domain: [powers[0]! - 0.5, powers[powers.length - 1]! + 0.5] },
          marks: [
            Plot.rect(tasks, {
              x1: 'level',
              x2: (task) => task.level + task.levels,
              y1: (task) => task.power - 0.46,
              y2: (task) => task.power + 0.46,
              fill: (task) => `var(--h${level(task)})`,
            }),
            // Their grids would lie over the tasks.
            ...yAxis({ label: 'power', ticks: powers, format: String }).slice(1),
            ...xAxis({ label: 'level', format: wholeTick }).slice(1),
            ...tip(
              canvas,
              tasks.length > 5000
                ? []
                : tasks.map((task) => ({
                    x: task.level + task.levels / 2,
                    y: task.power,
                    title: `level ${task.level}, power ${task.power}\n${seconds(task.start - begin)} to ${seconds(task.end - begin)}${task.thread === null ? '' : `\nthread ${task.thread}`}`,
                  })),
            ),
          ],
        });
      },
    };
  },
};
