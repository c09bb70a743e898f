// What the filters at the top of the page keep. All figures and the table see the same results.

import type { Machine } from './documents/machines.ts';
import type { Matrix, Report, Result } from './documents/report.ts';
import { distinct } from './statistics.ts';

export interface Filter {
  machine: string;
  kernel: string;
  backend: string;
  format: string;
  precision: string;
  threads: string;
  power: string;
  source: string;
  matrix: string; // words that a name has to contain
}

export const noFilter: Filter = {
  machine: '',
  kernel: '',
  backend: '',
  format: '',
  precision: '',
  threads: '',
  power: '',
  source: '',
  matrix: '',
};

export type SelectKey = Exclude<keyof Filter, 'matrix'>;

/** What figures are drawn from. */
export interface View {
  report: Report;
  results: Result[];
  keepsMachine(machine: Machine): boolean;
  keepsMatrix(matrix: Matrix): boolean;
}

const kernelNames: Record<string, string> = {
  spmv: 'products',
  mpk: 'powers',
  tune: 'tuning',
  explain: 'plans',
  solve: 'linear systems',
  eig: 'eigenvalues',
  expm: 'exponentials',
  fem: 'finite elements',
  hpcg: 'HPCG',
};

export function kernelName(kernel: string): string {
  return kernelNames[kernel] ?? kernel;
}

export function valueOf(result: Result, key: SelectKey): string {
  switch (key) {
    case 'machine':
      return result.machine.label;
    case 'kernel':
      return result.kernel;
    case 'backend':
      return result.backend;
    case 'format':
      return result.own ? result.family : '';
    case 'precision':
      return result.precision;
    case 'threads':
      return result.threads === null ? '' : String(result.threads);
    case 'power':
      return result.kernel === 'mpk' ? String(result.power) : '';
    case 'source':
      return String(result.source);
  }
}

/** The choices of a filter; those of one choice are not worth showing. */
export function choicesOf(report: Report, key: SelectKey): { value: string; label: string }[] {
  const values = distinct(report.results.map((result) => valueOf(result, key))).filter(
    (value) => value !== '',
  );
  if (key === 'machine') {
    for (const profile of report.profiles)
      if (!values.includes(profile.machine.label)) values.push(profile.machine.label);
  }
  const numeric = key === 'threads' || key === 'power' || key === 'source';
  values.sort((a, b) => (numeric ? Number(a) - Number(b) : a.localeCompare(b)));
  return values.map((value) => ({
    value,
    label:
      key === 'kernel'
        ? kernelName(value)
        : key === 'source'
          ? (report.sources[Number(value)]?.name ?? value)
          : key === 'power'
            ? `p = ${value}`
            : value,
  }));
}

export function applyFilter(report: Report, filter: Filter): View {
  const words = filter.matrix.toLowerCase().split(/\s+/).filter(Boolean);
  const kept = report.matrices.map((matrix) => {
    const name = matrix.name.toLowerCase();
    return words.every((word) => name.includes(word));
  });
  const keys = (Object.keys(noFilter) as (keyof Filter)[]).filter(
    (key): key is SelectKey => key !== 'matrix' && filter[key] !== '',
  );
  const keeps = (result: Result) =>
    kept[result.matrix.index]! &&
    keys.every((key) => {
      const value = valueOf(result, key);
      // Peers have no format of Strata's and products no power: these filters leave them in place.
      return value === filter[key] || ((key === 'format' || key === 'power') && value === '');
    });
  return {
    report,
    results:
      words.length === 0 && keys.length === 0 ? report.results : report.results.filter(keeps),
    keepsMachine: (machine) => filter.machine === '' || machine.label === filter.machine,
    keepsMatrix: (matrix) => kept[matrix.index]!,
  };
}
