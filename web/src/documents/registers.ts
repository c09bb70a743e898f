// Profiles of register blocks: speed, fill and prediction of every shape (`strata tune --registers`).

import type { Machine } from './machines.ts';
import { type JsonObject, listOf, positive } from './reading.ts';
import type { HeatMap, Matrix } from './report.ts';

const measures: [string, string][] = [
  ['dense_gflops', 'GF/s of a dense matrix in blocks'],
  ['fill', 'fill: values stored per nonzero'],
  ['predicted_gflops', 'GF/s predicted: speed over fill'],
];

export function readRegisters(machine: Machine, matrix: Matrix, raw: JsonObject): HeatMap[] {
  const rows = listOf(raw.rows).map(positive);
  const cols = listOf(raw.cols).map(positive);
  return measures.flatMap(([key, measure]) => {
    const table = listOf(raw[key]);
    const cells = rows.flatMap((row, i) =>
      cols.flatMap((col, j) => {
        const value = positive(listOf(table[i])[j]);
        return row && col && value ? [{ row, col, value }] : [];
      }),
    );
    return cells.length > 1 ? [{ machine, matrix, measure, cells }] : [];
  });
}
