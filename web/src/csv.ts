// Comma-separated values that spreadsheets open as they are (RFC 4180).

export type Cell = string | number | boolean | null | undefined;

/**
 * Texts that a spreadsheet would take for a formula get an apostrophe: matrix names are foreign
 * input. Numbers are written in full.
 */
export function csvCell(value: Cell): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : '';
  let text = String(value);
  if (/^[=+\-@\t\r]/.test(text)) text = `'${text}`;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export function csv(header: readonly string[], rows: readonly (readonly Cell[])[]): string {
  return [header, ...rows].map((row) => row.map(csvCell).join(',') + '\r\n').join('');
}
