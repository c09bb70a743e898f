// What tables are made of: cells that are texts or numbers, with the units of their columns. They
// are sorted by what they hold, written for people, and exported in full.

import { csv, type Cell } from './csv.ts';
import type { Report } from './documents/report.ts';
import { bytes, grouped, number, percent, seconds } from './text.ts';

export type Unit = 'bytes' | 'seconds' | 'share';

export interface Table {
  header: string[];
  rows: Cell[][];
  units?: Readonly<Record<string, Unit>>; // by heading; cells of other columns are plain
}

/** A table of the page that stands by itself. */
export interface FactTable {
  id: string;
  title: string;
  thesis?: string; // the table of Panzlaff's thesis that it corresponds to
  open?: boolean;
  summary(table: Table): string;
  build(report: Report): Table | null; // null: there is no data for it
}

const written: Record<Unit, (value: number) => string> = { bytes, seconds, share: percent };
const exported: Record<Unit, string> = { bytes: ', bytes', seconds: ', s', share: '' };

export function cellText(cell: Cell, unit?: Unit): string {
  if (cell === null || cell === undefined || cell === '') return '–';
  if (typeof cell !== 'number') return String(cell);
  if (unit && Number.isFinite(cell)) return written[unit](cell);
  return Number.isInteger(cell) && Math.abs(cell) < 1e15 ? grouped(cell) : number(cell);
}

const compareTexts = new Intl.Collator('en', { numeric: true }).compare;

/** The order of two cells; what is not known comes last either way. */
export function compareCells(a: Cell, b: Cell, descending: boolean): number {
  const missing = (cell: Cell) => cell === null || cell === undefined || cell === '';
  if (missing(a) || missing(b)) return Number(missing(a)) - Number(missing(b));
  const order =
    typeof a === 'number' && typeof b === 'number'
      ? Number(a > b) - Number(a < b)
      : compareTexts(String(a), String(b));
  return descending ? -order : order;
}

export function isNumeric(table: Table, column: number): boolean {
  return table.rows.some((row) => typeof row[column] === 'number');
}

/** The table with those columns alone that have something in them; the first is always kept. */
export function withoutEmptyColumns(table: Table): Table {
  const kept = table.header.map(
    (_, column) =>
      column === 0 ||
      table.rows.some((row) => row[column] !== null && row[column] !== '' && row[column] !== '–'),
  );
  const keep = <T>(list: readonly T[]) => list.filter((_, column) => kept[column]);
  return { ...table, header: keep(table.header), rows: table.rows.map(keep) };
}

export function tableCsv(table: Table): string {
  return csv(
    table.header.map((name) => {
      const unit = table.units?.[name];
      return unit ? name + exported[unit] : name;
    }),
    table.rows,
  );
}
