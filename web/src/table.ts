// Tables of facts and those behind figures: they sort by their headings and download as CSV.

import { cellText, compareCells, isNumeric, type Table, tableCsv } from './cells.ts';
import { announce, button, download, element } from './elements.ts';

const mostRows = 200;

/** Headings that sort. `sort` is called with a column and the direction it is to be sorted in. */
export class SortingHead {
  readonly node: HTMLTableSectionElement;
  private readonly cells: HTMLTableCellElement[];
  column = -1;
  descending = false;

  constructor(headings: readonly { name: string; numeric: boolean }[], sort: () => void) {
    this.cells = headings.map(({ name, numeric }, index) =>
      element(
        'th',
        { scope: 'col', class: numeric ? 'number' : null },
        button(
          name,
          () => {
            // Of numbers the largest are asked for first, of names the first of the alphabet.
            this.descending = this.column === index ? !this.descending : numeric;
            this.column = index;
            this.mark();
            sort();
            announce(`Sorted by ${name}, ${this.descending ? 'descending' : 'ascending'}.`);
          },
          { class: 'sort' },
        ),
      ),
    );
    this.node = element('thead', {}, element('tr', {}, ...this.cells));
  }

  private mark(): void {
    this.cells.forEach((cell, index) => {
      if (index === this.column)
        cell.setAttribute('aria-sort', this.descending ? 'descending' : 'ascending');
      else cell.removeAttribute('aria-sort');
    });
  }
}

/** The first cell of a row is its heading. */
export function tableRow(texts: readonly string[], numeric: readonly boolean[]): HTMLElement {
  return element(
    'tr',
    {},
    ...texts.map((text, column) =>
      element(
        column === 0 ? 'th' : 'td',
        { scope: column === 0 ? 'row' : null, class: numeric[column] ? 'number' : null },
        text,
      ),
    ),
  );
}

export function scrollingTable(
  caption: string,
  head: SortingHead,
  body: HTMLElement,
  names: { region?: string; table?: string } = {},
): HTMLElement {
  return element(
    'div',
    { class: names.region ?? 'scroll', tabindex: 0, role: 'region', 'aria-label': caption },
    element(
      'table',
      { class: names.table },
      element('caption', { class: 'hidden' }, caption),
      head.node,
      body,
    ),
  );
}

export function sortableTable(table: Table, caption: string, file: string): HTMLElement {
  const numeric = table.header.map((_, column) => isNumeric(table, column));
  const units = table.header.map((name) => table.units?.[name]);
  const body = element('tbody');
  let rows = table.rows;
  const fill = () =>
    body.replaceChildren(
      ...rows.slice(0, mostRows).map((row) =>
        tableRow(
          row.map((cell, column) => cellText(cell, units[column])),
          numeric,
        ),
      ),
    );
  const head = new SortingHead(
    table.header.map((name, column) => ({ name, numeric: numeric[column]! })),
    () => {
      const { column, descending } = head;
      rows = [...table.rows].sort((a, b) => compareCells(a[column], b[column], descending));
      fill();
    },
  );
  fill();
  const rest = table.rows.length - mostRows;
  return element(
    'div',
    {},
    scrollingTable(caption, head, body),
    element(
      'p',
      { class: 'actions' },
      button('Download as CSV', () =>
        download(`${file}.csv`, 'text/csv;charset=utf-8', tableCsv({ ...table, rows })),
      ),
      rest > 0 ? element('span', { class: 'note' }, `${rest} more rows are in the CSV.`) : null,
    ),
  );
}
