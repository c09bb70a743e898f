// The parts of the page that are tables and lists: machines (thesis, tables 4.1, 4.2 and 4.6),
// matrices (4.3), what failed, what was read, and which figures have no data.

import { element } from './elements.ts';
import type { Report } from './documents/report.ts';
import type { Figure, Table } from './plot.ts';
import { figureTable } from './table.ts';
import { bytes, plural, seconds } from './text.ts';

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

export function machineTable(report: Report): HTMLElement | null {
  if (report.machines.length === 0) return null;
  const giga = (value: number | null | undefined) => (value ? value / 1e9 : null);
  const kernels = [
    ...new Set(report.profiles.flatMap((profile) => profile.stream.map((item) => item.name))),
  ];
  const table: Table = {
    header: [
      'machine',
      'cores',
      'memory',
      'caches',
      'memory GB/s',
      'cache GB/s',
      'cache holds',
      ...kernels.map((name) => `${name} GB/s`),
      'latency of the fit',
      'bandwidth of the fit, GB/s',
      'n½',
      'off by',
      'launch or fork',
      'hand-off',
      'system',
      'compiler',
    ],
    rows: report.machines.map((machine) => {
      const profile = report.profiles
        .filter((item) => item.machine === machine)
        .sort((a, b) => (a.time < b.time ? 1 : -1))[0];
      const half =
        profile?.overhead && profile.fitBandwidth ? profile.overhead * profile.fitBandwidth : null;
      return [
        machine.label,
        machine.gpu ? null : machine.cores,
        bytes(machine.memoryBytes),
        machine.gpu
          ? ''
          : machine.caches.map((cache) => `L${cache.level} ${bytes(cache.bytes)}`).join(', '),
        giga(machine.memoryBandwidth),
        giga(machine.cacheBandwidth),
        bytes(machine.cacheBytes),
        ...kernels.map((name) =>
          giga(profile?.stream.find((item) => item.name === name)?.bandwidth),
        ),
        seconds(profile?.overhead),
        giga(profile?.fitBandwidth),
        bytes(half),
        profile?.fitError != null ? `${Math.round(profile.fitError * 100)} %` : '',
        seconds(profile?.launch),
        seconds(profile?.handoff),
        machine.os,
        machine.compiler,
      ];
    }),
  };
  return fold(
    'machines',
    'Machines',
    `${plural(report.machines.length, 'machine')}; bandwidths are those of reading.`,
    figureTable(table, 'Machines', 'strata-machines'),
    true,
  );
}

/** Bytes per flop of SELL-8 in double precision when x and y come from memory once (Panzlaff, equation 4.5). */
function sellBalance(meanRow: number | null): number | null {
  return meanRow ? 6 + (16 + 8 / 8) / (2 * meanRow) : null;
}

export function matrixTable(report: Report): HTMLElement | null {
  const used = report.matrices.filter((matrix) => matrix.rows !== null || matrix.nnz !== null);
  if (used.length === 0) return null;
  const table: Table = {
    header: [
      'matrix',
      'rows',
      'columns',
      'nonzeros',
      'per row',
      'longest row',
      'bandwidth',
      'levels',
      'widest level',
      'symmetry',
      'as CSR',
      'SELL-8, B/flop',
    ],
    rows: [...used]
      .sort((a, b) => (a.nnz ?? 0) - (b.nnz ?? 0))
      .map((matrix) => [
        matrix.name,
        matrix.rows,
        matrix.cols,
        matrix.nnz,
        matrix.meanRow,
        matrix.maxRow,
        matrix.bandwidth,
        matrix.levels,
        matrix.maxLevelRows,
        matrix.symmetry,
        matrix.nnz && matrix.rows ? bytes(12 * matrix.nnz + 4 * (matrix.rows + 1)) : '',
        sellBalance(matrix.meanRow),
      ]),
  };
  return fold(
    'matrices',
    'Matrices',
    `${plural(used.length, 'matrix', 'matrices')}, by their nonzeros.`,
    figureTable(table, 'Matrices', 'strata-matrices'),
  );
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
    figureTable(table, 'What failed', 'strata-failures'),
    report.failures.length <= 12,
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
      element('dd', {}, element('code', {}, figure.command)),
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
