// r×c heat maps of register blocks: the speed of blocks of every shape (SPARSITY; lecture).

import * as Plot from '@observablehq/plot';
import type { View } from '../filter.ts';
import type { HeatMap } from '../documents/report.ts';
import { chooseGroup, control, optionsOf, shownControls } from '../choices.ts';
import { type Drawing, type Figure, frame } from '../plot.ts';
import { distinct, groupBy, largestBy } from '../statistics.ts';
import { number } from '../text.ts';
import { shadeLegend } from './charts.ts';

/** Profiles of registers, and products with blocks that were timed. */
function mapsOf(view: View): HeatMap[] {
  const given = view.report.heatMaps.filter(
    (map) => view.keepsMachine(map.machine) && view.keepsMatrix(map.matrix),
  );
  const blocks = view.results.filter(
    (result) =>
      result.own &&
      result.family === 'BCSR' &&
      result.blockRows &&
      result.blockCols &&
      result.gflops,
  );
  const made: HeatMap[] = [];
  for (const results of groupBy(
    blocks,
    (result) => `${result.machine.index}|${result.matrix.index}`,
  ).values()) {
    const cells = new Map<string, { row: number; col: number; value: number }>();
    for (const result of results) {
      const key = `${result.blockRows}x${result.blockCols}`;
      if ((cells.get(key)?.value ?? 0) < result.gflops!)
        cells.set(key, { row: result.blockRows!, col: result.blockCols!, value: result.gflops! });
    }
    if (cells.size > 2)
      made.push({
        machine: results[0]!.machine,
        matrix: results[0]!.matrix,
        measure: 'GF/s of BCSR',
        cells: [...cells.values()],
      });
  }
  return [...given, ...made];
}

const steps = 7;

export const registerBlocks: Figure = {
  id: 'blocks',
  title: 'Register blocks',
  section: 'Parameters',
  reading:
    'A cell is a shape of blocks, r rows by c columns; darker is more. What a matrix runs at is the speed of a dense matrix in such blocks, divided by the values that are stored per nonzero.',
  commands: ['strata tune MATRIX --registers --exhaustive --again --json FILE'],
  build(view, chosen): Drawing | null {
    const all = mapsOf(view);
    if (all.length === 0) return null;
    const { control: machine, items: onMachine } = chooseGroup(
      'machine',
      'On',
      all,
      (map) => map.machine.label,
      chosen,
    );
    const { control: matrix, items: ofMatrix } = chooseGroup(
      'matrix',
      'Matrix',
      onMachine,
      (map) => map.matrix.name,
      chosen,
      (maps) => Math.max(...maps.map((map) => map.cells.length)),
    );
    const measure = control(
      'measure',
      'Show',
      optionsOf(distinct(ofMatrix.map((map) => map.measure))),
      chosen,
    );
    const map = ofMatrix.find((item) => item.measure === measure.value)!;
    const fill = map.measure.startsWith('fill');
    const best = largestBy(map.cells, (cell) => (fill ? -cell.value : cell.value))!;
    return {
      summary: `${map.matrix.name} on ${map.machine.label}, ${map.measure}: ${best.row}×${best.col} is the best with ${number(best.value)}.`,
      controls: shownControls([machine, matrix, measure]),
      table: {
        header: ['rows', 'columns', map.measure],
        rows: map.cells.map((cell) => [cell.row, cell.col, cell.value]),
      },
      draw(canvas) {
        const low = Math.min(...map.cells.map((cell) => cell.value));
        const high = Math.max(...map.cells.map((cell) => cell.value));
        const level = (value: number) =>
          high > low
            ? Math.min(steps - 1, Math.floor(((value - low) / (high - low)) * steps))
            : steps - 1;
        const rows = [...new Set(map.cells.map((cell) => cell.row))].sort((a, b) => a - b);
        const cols = [...new Set(map.cells.map((cell) => cell.col))].sort((a, b) => a - b);
        const size = Math.max(34, Math.min(64, (canvas.width - 70) / cols.length));
        const width = Math.min(canvas.width, size * cols.length + 64);
        return frame(
          { ...canvas, width },
          {
            height: Math.min(size, 46) * rows.length + 66,
            marginRight: 8,
            legend: shadeLegend(`least, ${number(low)}`, `most, ${number(high)}`),
            x: { type: 'band', domain: cols, padding: 0.04 } as Plot.ScaleOptions,
            y: { type: 'band', domain: rows, padding: 0.06 } as Plot.ScaleOptions,
            marks: [
              Plot.axisX({
                label: 'columns c',
                labelAnchor: 'center',
                labelArrow: 'none',
                tickSize: 0,
                fill: 'var(--muted)',
              }),
              Plot.axisY({ label: null, tickSize: 0, fill: 'var(--muted)' }),
              Plot.text(['rows r'], {
                frameAnchor: 'top-left',
                lineAnchor: 'bottom',
                textAnchor: 'start',
                dx: -44,
                dy: -8,
                fill: 'var(--muted)',
              }),
              Plot.cell(map.cells, {
                x: 'col',
                y: 'row',
                fill: (cell) => `var(--h${level(cell.value)})`,
                rx: 3,
              }),
              Plot.text(map.cells, {
                x: 'col',
                y: 'row',
                text: (cell) => number(cell.value),
                fill: (cell) => (level(cell.value) >= 4 ? 'var(--card)' : 'var(--ink)'),
                fontWeight: 500,
              }),
            ],
          },
        );
      },
    };
  },
};
