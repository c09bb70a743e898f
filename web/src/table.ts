// Tables: the small ones behind figures, and the one of everything, which sorts and pages.

import { csv, type Cell } from './csv.ts';
import { announce, button, download, element } from './elements.ts';
import { kernelName, type View } from './filter.ts';
import type { Report, Result } from './documents/report.ts';
import type { Table } from './plot.ts';
import { bytes, grouped, number, seconds } from './text.ts';

const rowsOfFigureTable = 200;

/** The numbers behind a figure. */
export function figureTable(table: Table, caption: string, file: string): HTMLElement {
  const body = element('tbody');
  for (const row of table.rows.slice(0, rowsOfFigureTable)) {
    const line = element('tr');
    row.forEach((cell, column) =>
      line.append(
        element(
          column === 0 ? 'th' : 'td',
          {
            scope: column === 0 ? 'row' : null,
            class: typeof cell === 'number' || cell === null ? 'number' : null,
          },
          cellText(cell),
        ),
      ),
    );
    body.append(line);
  }
  const numeric = table.header.map((_, column) =>
    table.rows.some((row) => typeof row[column] === 'number'),
  );
  const head = element(
    'tr',
    {},
    ...table.header.map((name, column) =>
      element('th', { scope: 'col', class: numeric[column] ? 'number' : null }, name),
    ),
  );
  const rest = table.rows.length - rowsOfFigureTable;
  return element(
    'div',
    {},
    element(
      'div',
      { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': caption },
      element(
        'table',
        {},
        element('caption', { class: 'hidden' }, caption),
        element('thead', {}, head),
        body,
      ),
    ),
    element(
      'p',
      { class: 'actions' },
      button('Download as CSV', () =>
        download(`${file}.csv`, 'text/csv;charset=utf-8', csv(table.header, table.rows)),
      ),
      rest > 0
        ? element('span', { class: 'note' }, `${grouped(rest)} more rows are in the CSV.`)
        : null,
    ),
  );
}

function cellText(cell: Cell): string {
  if (cell === null || cell === undefined || cell === '') return '–';
  if (typeof cell === 'number')
    return Number.isInteger(cell) && Math.abs(cell) < 1e15 ? grouped(cell) : number(cell);
  return String(cell);
}

interface Column {
  name: string;
  numeric?: boolean;
  value(result: Result, report: Report): string | number | null; // what is sorted and exported
  text?(value: string | number | null): string;
}

const columns: Column[] = [
  { name: 'matrix', value: (r) => r.matrix.name },
  { name: 'product', value: (r) => r.product },
  {
    name: 'time',
    numeric: true,
    value: (r) => r.seconds,
    text: (v) => seconds(v as number | null),
  },
  { name: 'GF/s', numeric: true, value: (r) => r.gflops },
  { name: 'GB/s', numeric: true, value: (r) => r.gbytes },
  { name: 'over others', numeric: true, value: (r) => r.overPeer },
  { name: 'over plain', numeric: true, value: (r) => r.overPlain },
  { name: 'predicted GF/s', numeric: true, value: (r) => r.predicted },
  { name: 'pred./meas.', numeric: true, value: (r) => r.predictedOverMeasured },
  { name: 'bound', value: (r) => r.bound },
  { name: 'p', numeric: true, value: (r) => r.power },
  { name: 'threads', numeric: true, value: (r) => r.threads },
  { name: 'machine', value: (r) => r.machine.label },
  { name: 'kind', value: (r) => kernelName(r.kernel) },
  { name: 'backend', value: (r) => r.backend },
  { name: 'format', value: (r) => r.family },
  { name: 'precision', value: (r) => r.precision },
  { name: 'rows', numeric: true, value: (r) => r.matrix.rows },
  { name: 'nonzeros', numeric: true, value: (r) => r.matrix.nnz },
  {
    name: 'bytes',
    numeric: true,
    value: (r) => r.formatBytes,
    text: (v) => bytes(v as number | null),
  },
  {
    name: 'set-up',
    numeric: true,
    value: (r) => r.setup,
    text: (v) => seconds(v as number | null),
  },
  {
    name: 'pays after',
    numeric: true,
    value: (r) => r.breakEven,
    text: (v) => (v === Infinity ? 'never' : v === null ? '–' : grouped(v as number)),
  },
  { name: 'check', value: (r) => (r.passed === null ? '' : r.passed ? 'ok' : 'wrong') },
  { name: 'host', value: (r) => r.host },
  { name: 'commit', value: (r) => r.commit },
  { name: 'source', value: (r, report) => report.sources[r.source]?.name ?? '' },
];

const pageSize = 50;

export function everythingCsv(results: readonly Result[], report: Report): string {
  const unit: Record<string, string> = { time: 'time, s', 'set-up': 'set-up, s' };
  return csv(
    columns.map((column) => unit[column.name] ?? column.name),
    results.map((result) =>
      columns.map((column) => {
        const value = column.value(result, report);
        return value === Infinity ? 'never' : value;
      }),
    ),
  );
}

/** The table of everything. */
export class Everything {
  readonly node: HTMLElement;
  private view: View;
  private sorted: Result[] = [];
  private column = -1;
  private descending = false;
  private page = 0;
  private stale = false;
  visible = false;
  private readonly body = element('tbody');
  private readonly status = element('p', { class: 'note', id: 'table-status' });
  private readonly previous = button('Previous', () => this.turn(-1));
  private readonly next = button('Next', () => this.turn(1));
  private readonly heads: HTMLTableCellElement[] = [];
  private used: Column[];

  constructor(view: View) {
    this.view = view;
    this.used = columns.filter((column) =>
      view.report.results.some((result) => {
        const value = column.value(result, view.report);
        return value !== null && value !== '';
      }),
    );
    const head = element('tr');
    this.used.forEach((column, index) => {
      const cell = element(
        'th',
        { scope: 'col', class: column.numeric ? 'number' : null },
        button(column.name, () => this.sortBy(index), { class: 'sort' }),
      );
      this.heads.push(cell);
      head.append(cell);
    });
    this.node = element(
      'div',
      {},
      element(
        'div',
        { class: 'scroll tall', tabindex: 0, role: 'region', 'aria-label': 'All results' },
        element(
          'table',
          { class: 'everything' },
          element(
            'caption',
            { class: 'hidden' },
            'All results that the filters keep; the headings sort.',
          ),
          element('thead', {}, head),
          this.body,
        ),
      ),
      element(
        'div',
        { class: 'actions' },
        this.previous,
        this.next,
        this.status,
        button(
          'Download as CSV',
          () =>
            download(
              'strata-results.csv',
              'text/csv;charset=utf-8',
              everythingCsv(this.sorted, this.view.report),
            ),
          { class: 'primary', id: 'download-csv' },
        ),
      ),
    );
    this.update(view);
  }

  update(view: View): void {
    this.view = view;
    this.page = 0;
    this.sort();
    this.stale = true;
    if (this.visible) this.draw();
    else this.showStatus();
  }

  /** Writes the rows if they are not up to date: a thousand cells are not free. */
  draw(): void {
    if (this.stale) this.fill();
  }

  private sortBy(index: number): void {
    if (this.column === index) this.descending = !this.descending;
    else {
      this.column = index;
      this.descending = this.used[index]!.numeric === true;
    }
    this.page = 0;
    this.sort();
    this.fill();
    announce(
      `Sorted by ${this.used[index]!.name}, ${this.descending ? 'descending' : 'ascending'}.`,
    );
  }

  private sort(): void {
    this.heads.forEach((cell, index) => {
      if (index === this.column)
        cell.setAttribute('aria-sort', this.descending ? 'descending' : 'ascending');
      else cell.removeAttribute('aria-sort');
    });
    const column = this.used[this.column];
    if (!column) {
      this.sorted = this.view.results;
      return;
    }
    const { report } = this.view;
    const direction = this.descending ? -1 : 1;
    const compareText = new Intl.Collator(undefined, { numeric: true }).compare;
    const keyed = this.view.results.map((result) => ({
      result,
      value: column.value(result, report),
    }));
    keyed.sort((a, b) => {
      const missingA = a.value === null || a.value === '';
      const missingB = b.value === null || b.value === '';
      if (missingA || missingB) return Number(missingA) - Number(missingB); // what is not known comes last
      const order = column.numeric
        ? a.value === b.value
          ? 0
          : (a.value as number) < (b.value as number)
            ? -1
            : 1
        : compareText(a.value as string, b.value as string);
      return direction * order || a.result.index - b.result.index;
    });
    this.sorted = keyed.map((item) => item.result);
  }

  private turn(step: number): void {
    this.page += step;
    this.fill();
    announce(this.status.textContent ?? '');
  }

  private fill(): void {
    this.stale = false;
    const first = this.page * pageSize;
    const lines = this.sorted.slice(first, first + pageSize).map((result) => {
      const line = element('tr');
      this.used.forEach((column, index) => {
        const value = column.value(result, this.view.report);
        const text = column.text
          ? column.text(value)
          : value === ''
            ? '–'
            : typeof value === 'number' &&
                (column.name === 'nonzeros' ||
                  column.name === 'rows' ||
                  column.name === 'p' ||
                  column.name === 'threads')
              ? grouped(value)
              : typeof value === 'number'
                ? number(value)
                : (value ?? '–');
        line.append(
          element(
            index === 0 ? 'th' : 'td',
            { scope: index === 0 ? 'row' : null, class: column.numeric ? 'number' : null },
            text,
          ),
        );
      });
      return line;
    });
    this.body.replaceChildren(...lines);
    this.showStatus();
  }

  private showStatus(): void {
    const first = this.page * pageSize;
    const total = this.sorted.length;
    this.status.textContent =
      total === 0
        ? 'No result passes the filters.'
        : `${grouped(first + 1)} to ${grouped(Math.min(total, first + pageSize))} of ${grouped(total)}`;
    this.previous.disabled = this.page === 0;
    this.next.disabled = first + pageSize >= total;
  }
}
