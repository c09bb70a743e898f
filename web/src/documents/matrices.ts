// Which matrix a result is of, and what documents say about it: a matrix is one by its name and its
// size, and every document may add to what is known of it.

import { asText } from '../data.ts';
import { oneLine } from '../text.ts';
import { finite, type JsonObject, listOf, objectOf, objectsOf, positive } from './reading.ts';
import type { Matrix } from './report.ts';

export class Matrices {
  readonly list: Matrix[] = [];
  private readonly byName = new Map<string, Matrix[]>();

  /** The matrix that a document means: an object, or a name alone. */
  find(value: unknown): Matrix {
    const raw = objectOf(value);
    const given =
      typeof value === 'string'
        ? value.replace(/^@\//, '').replace(/\.mtx(\.gz)?$/, '')
        : asText(raw.name);
    const name = oneLine(given ?? '') || 'unnamed matrix';
    const rows = positive(raw.rows);
    const nnz = positive(raw.nnz);
    const same = this.byName.get(name) ?? [];
    const agree = (a: number | null, b: number | null) => a === null || b === null || a === b;
    let matrix = same.find((other) => agree(other.rows, rows) && agree(other.nnz, nnz));
    if (!matrix) {
      matrix = unknownMatrix(
        this.list.length,
        same.length === 0 ? name : `${name} (${nnz ?? same.length + 1} entries)`,
      );
      this.list.push(matrix);
      this.byName.set(name, [...same, matrix]);
    }
    fill(matrix, raw, rows, nnz);
    return matrix;
  }
}

function unknownMatrix(index: number, name: string): Matrix {
  return {
    index,
    name,
    rows: null,
    cols: null,
    nnz: null,
    meanRow: null,
    maxRow: null,
    bandwidth: null,
    symmetry: '',
    field: '',
    levels: null,
    maxLevelRows: null,
    sell8Bytes: null,
    rowLengths: [],
    levelRows: [],
    levelsPerEntry: 1,
    spy: null,
  };
}

function fill(matrix: Matrix, raw: JsonObject, rows: number | null, nnz: number | null): void {
  matrix.rows ??= rows;
  matrix.nnz ??= nnz;
  matrix.cols ??= positive(raw.cols);
  matrix.bandwidth ??= finite(raw.bandwidth);
  matrix.symmetry ||= oneLine(raw.symmetry);
  matrix.field ||= oneLine(raw.field);
  const perRow = objectOf(raw.nnz_per_row);
  matrix.meanRow ??= finite(perRow.mean) ?? (rows && nnz ? nnz / rows : null);
  matrix.maxRow ??= finite(perRow.max);
  if (matrix.rowLengths.length === 0) matrix.rowLengths = readRowLengths(perRow.histogram);
  const levels = objectOf(raw.levels);
  matrix.levels ??= positive(levels.count);
  matrix.maxLevelRows ??= positive(levels.max_rows);
  if (matrix.levelRows.length === 0 && Array.isArray(levels.rows)) {
    matrix.levelRows = levels.rows.map((value) => finite(value) ?? 0);
    matrix.levelsPerEntry = positive(levels.levels_per_entry) ?? 1;
  }
  matrix.spy ??= readSpy(objectOf(raw.spy));
}

/** Results say how large the matrix is in their format; of SELL-8-1 the table of matrices has it. */
export function noteBytes(matrix: Matrix, raw: JsonObject): void {
  const { slice_height, sort_window } = objectOf(raw.parameters);
  if (raw.format === 'sell' && slice_height === 8 && sort_window === 1)
    matrix.sell8Bytes ??= positive(objectOf(raw.bytes).format);
}

function readRowLengths(value: unknown): Matrix['rowLengths'] {
  return objectsOf(value).flatMap((bin) => {
    const first = finite(bin.first);
    const last = finite(bin.last) ?? first;
    const rows = finite(bin.rows);
    return first !== null && last !== null && rows !== null && last >= first && rows >= 0
      ? [{ first, last, rows }]
      : [];
  });
}

const mostSpyBlocks = 512;

function readSpy(raw: JsonObject): Matrix['spy'] {
  const rows = positive(raw.rows);
  const cols = positive(raw.cols);
  const counts = listOf(raw.counts);
  if (!rows || !cols || rows > mostSpyBlocks || cols > mostSpyBlocks) return null;
  if (counts.length !== rows * cols) return null;
  return { rows, cols, counts: counts.map((count) => finite(count) ?? 0) };
}
