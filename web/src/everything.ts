// The table of everything: all results that pass the filters, a page at a time.

import { cellText, compareCells, type Unit } from './cells.ts';
import { csv } from './csv.ts';
import type { Report, Result } from './documents/report.ts';
import { announce, button, download, element } from './elements.ts';
import { kernelName, type View } from './filter.ts';
import { scrollingTable, SortingHead, tableRow } from './table.ts';
import { grouped } from './text.ts';

interface Column {
  name: string;
  numeric?: boolean;
  value(result: Result, report: Report): string | number | null; // what is sorted and exported
  unit?: Unit;
  text?(value: string | number | null): string;
}

const columns: Column[] = [
  { name: 'matrix', value: (r) => r.matrix.name },
  { name: 'product', value: (r) => r.product },
  { name: 'time', numeric: true, unit: 'seconds', value: (r) => r.seconds },
  { name: 'iterations', numeric: true, value: (r) => r.method?.iterations ?? null },
  {
    name: 'per iteration',
    numeric: true,
    unit: 'seconds',
    value: (r) => r.method?.perIteration ?? null,
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
  { name: 'bytes', numeric: true, unit: 'bytes', value: (r) => r.formatBytes },
  { name: 'set-up', numeric: true, unit: 'seconds', value: (r) => r.setup },
  {
    name: 'pays after',
    numeric: true,
    value: (r) => r.breakEven,
    text: (v) => (v === Infinity ? 'never' : cellText(v)),
  },
  { name: 'check', value: (r) => (r.passed === null ? '' : r.passed ? 'ok' : 'wrong') },
  { name: 'host', value: (r) => r.host },
  { name: 'commit', value: (r) => r.commit },
  { name: 'source', value: (r, report) => report.sources[r.source]?.name ?? '' },
];

const pageSize = 50;

export function everythingCsv(results: readonly Result[], report: Report): string {
  const unit: Record<string, string> = {
    time: 'time, s',
    'per iteration': 'per iteration, s',
    'set-up': 'set-up, s',
  };
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
  private page = 0;
  private stale = false;
  visible = false;
  private readonly body = element('tbody');
  private readonly status = element('p', { class: 'note', id: 'table-status' });
  private readonly previous = button('Previous', () => this.turn(-1));
  private readonly next = button('Next', () => this.turn(1));
  private readonly head: SortingHead;
  private readonly used: Column[];
  private readonly numeric: boolean[];

  constructor(view: View) {
    this.view = view;
    this.used = columns.filter((column) =>
      view.report.results.some((result) => {
        const value = column.value(result, view.report);
        return value !== null && value !== '';
      }),
    );
    this.numeric = this.used.map((column) => column.numeric === true);
    this.head = new SortingHead(
      this.used.map((column, index) => ({ name: column.name, numeric: this.numeric[index]! })),
      () => {
        this.page = 0;
        this.sort();
        this.fill();
      },
    );
    this.node = element(
      'div',
      {},
      scrollingTable(
        'All results that the filters keep; the headings sort.',
        this.head,
        this.body,
        { region: 'scroll tall', table: 'everything' },
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

  private sort(): void {
    const { report } = this.view;
    const column = this.used[this.head.column];
    if (!column) {
      this.sorted = this.view.results;
      return;
    }
    const keyed = this.view.results.map((result) => ({
      result,
      value: column.value(result, report),
    }));
    keyed.sort(
      (a, b) =>
        compareCells(a.value, b.value, this.head.descending) || a.result.index - b.result.index,
    );
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
    const lines = this.sorted.slice(first, first + pageSize).map((result) =>
      tableRow(
        this.used.map((column) => {
          const value = column.value(result, this.view.report);
          return column.text ? column.text(value) : cellText(value, column.unit);
        }),
        this.numeric,
      ),
    );
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
