// The parts of the page that are tables and lists: facts, what failed, what was read, and which
// figures have no data.

import type { Table } from './cells.ts';
import type { Report } from './documents/report.ts';
import { element } from './elements.ts';
import { correspondence, factTables } from './fact_tables.ts';
import type { Figure } from './plot.ts';
import { sortableTable } from './table.ts';
import { capitalised, plural } from './text.ts';

function fold(
  id: string,
  title: string,
  summary: string,
  content: Node,
  open = false,
): HTMLElement {
  return element(
    'section',
    { class: 'card', id },
    element('h3', {}, title),
    element('p', { class: 'summary' }, summary),
    element('details', { class: 'numbers', open }, element('summary', {}, 'Show'), content),
  );
}

const fewRows = 12; // tables that need no unfolding

/** The tables that have data, in their order. */
export function factSections(report: Report): HTMLElement[] {
  return factTables.flatMap((definition) => {
    const table = definition.build(report);
    if (!table) return [];
    const as = correspondence(definition);
    return [
      fold(
        definition.id,
        definition.title,
        definition.summary(table) + (as ? ` ${capitalised(as)}.` : ''),
        sortableTable(
          table,
          as ? `${definition.title}, ${as}` : definition.title,
          `strata-${definition.id}`,
        ),
        definition.open || table.rows.length <= fewRows,
      ),
    ];
  });
}

export function failureList(report: Report): HTMLElement | null {
  if (report.failures.length === 0) return null;
  const table: Table = {
    header: ['case or matrix', 'what', 'reason', 'file'],
    rows: report.failures.map((failure) => [
      failure.name,
      failure.what,
      failure.reason,
      failure.source,
    ]),
  };
  return fold(
    'failures',
    'What failed',
    `${plural(report.failures.length, 'case')} without a result, with the reason.`,
    sortableTable(table, 'What failed', 'strata-failures'),
    report.failures.length <= fewRows,
  );
}

export function sourceList(report: Report): HTMLElement | null {
  if (report.sources.length === 0) return null;
  const list = element(
    'ul',
    { class: 'plain-list' },
    ...report.sources.map((source) =>
      element(
        'li',
        {},
        source.name,
        ...(source.problems.length > 0
          ? [element('ul', {}, ...source.problems.map((problem) => element('li', {}, problem)))]
          : []),
      ),
    ),
  );
  const problems = report.sources.reduce((sum, source) => sum + source.problems.length, 0);
  return fold(
    'sources',
    'Files',
    `${plural(report.sources.length, 'file')} with ${plural(report.runs, 'run')}${problems > 0 ? `; ${plural(problems, 'remark')}` : ''}.`,
    list,
    problems > 0,
  );
}

export function leftOutList(missing: readonly Figure[]): HTMLElement | null {
  if (missing.length === 0) return null;
  const list = element(
    'dl',
    {},
    ...missing.flatMap((figure) => [
      element('dt', {}, figure.title),
      element('dd', {}, ...figure.commands.map((command) => element('code', {}, command))),
    ]),
  );
  return fold(
    'left-out',
    'Figures that were left out',
    'They have no data here. These commands give it:',
    list,
    true,
  );
}
