// The tables of solvers: what linear systems, eigenvalues and exponentials took, and HPCG with its
// checks.

import { type FactTable, type Table, withoutEmptyColumns } from './cells.ts';
import type { Hpcg, Method, Report, Result } from './documents/report.ts';
import { kernelName } from './filter.ts';
import { plural } from './text.ts';

const shareNames = [
  'products',
  'preconditioner',
  'orthogonalisation',
  'reductions',
  'updates',
] as const;
const shareHeadings = shareNames.map((name) => `${name}, share`);
const shareUnits = Object.fromEntries(shareHeadings.map((name) => [name, 'share'] as const));
const shareCells = ({ shares }: Method) => shareNames.map((name) => shares[name]);

function methodsOf(report: Report, ...kernels: string[]): (Result & { method: Method })[] {
  return report.results.filter(
    (result): result is Result & { method: Method } =>
      result.method !== null && kernels.includes(result.kernel),
  );
}

const solveTable: FactTable = {
  id: 'solves',
  title: 'Linear systems',
  summary: (table: Table) =>
    `${plural(table.rows.length, 'solve')}. Residuals are computed, |b − Ax| / |b|; shares are of the time, and what nobody clocked is in none of them.`,
  build(report) {
    const solves = methodsOf(report, 'solve');
    if (solves.length === 0) return null;
    return withoutEmptyColumns({
      header: [
        'matrix',
        'backend',
        'method',
        'parameters',
        'preconditioner',
        'ended',
        'iterations',
        'products',
        'residual',
        'tolerance',
        'time',
        'per iteration',
        'over the others',
        ...shareHeadings,
        'runs as',
        'threads',
        'precision',
        'machine',
      ],
      units: { time: 'seconds', 'per iteration': 'seconds', ...shareUnits },
      rows: solves.map((result) => [
        result.matrix.name,
        result.own ? result.backend : result.family,
        result.method.name,
        result.method.parameters,
        result.method.preconditioner,
        result.method.ended,
        result.method.iterations,
        result.method.products,
        result.method.residual,
        result.method.tolerance,
        result.method.total,
        result.method.perIteration,
        result.own ? result.overPeer : null,
        ...shareCells(result.method),
        result.own ? result.family : '',
        result.threads,
        result.precision,
        result.machine.label,
      ]),
    });
  },
};

const spectrumTable: FactTable = {
  id: 'spectra',
  title: 'Eigenvalues and exponentials',
  summary: (table: Table) =>
    `${plural(table.rows.length, 'result')} of eig and expm. Bare products are those of powers of the same plan; over them is what a product takes in the sweeps of the method, or all of it.`,
  build(report) {
    const found = methodsOf(report, 'eig', 'expm');
    if (found.length === 0) return null;
    return withoutEmptyColumns({
      header: [
        'matrix',
        'kind',
        'backend',
        'method',
        'parameters',
        'ended',
        'products',
        'residual or bound',
        'tolerance',
        'time',
        'per product',
        'product in sweeps',
        'bare product',
        'over bare',
        ...shareHeadings,
        'set-up',
        'threads',
        'precision',
        'machine',
      ],
      units: {
        time: 'seconds',
        'per product': 'seconds',
        'product in sweeps': 'seconds',
        'bare product': 'seconds',
        'set-up': 'seconds',
        ...shareUnits,
      },
      rows: found.map((result) => {
        const { method } = result;
        const product = method.sweptProduct ?? method.perProduct;
        return [
          result.matrix.name,
          kernelName(result.kernel),
          result.backend,
          method.name,
          method.parameters,
          method.ended,
          method.products,
          method.residual,
          method.tolerance,
          method.total,
          method.perProduct,
          method.sweptProduct,
          method.bareProduct,
          product && method.bareProduct ? product / method.bareProduct : null,
          ...shareCells(method),
          result.setup,
          result.threads,
          result.precision,
          result.machine.label,
        ];
      }),
    });
  },
};

function hpcgOf(report: Report): (Result & { hpcg: Hpcg })[] {
  return report.results.filter((result): result is Result & { hpcg: Hpcg } => result.hpcg !== null);
}

const hpcgTable: FactTable = {
  id: 'hpcg-ratings',
  title: 'HPCG',
  summary: (table: Table) =>
    `${plural(table.rows.length, 'run')} of the benchmark: GF/s of all iterations, of those that the reference needs, and with the set-up, which is the rating.`,
  build(report) {
    const runs = hpcgOf(report);
    if (runs.length === 0) return null;
    return withoutEmptyColumns({
      header: [
        'grid',
        'backend',
        'GF/s, all',
        'GF/s, converged',
        'GF/s, rating',
        'checks passed',
        'of',
        'iterations',
        'of the reference',
        'sets',
        'per iteration',
        'predicted',
        'values',
        'product',
        'threads',
        'machine',
      ],
      units: { 'per iteration': 'seconds', predicted: 'seconds' },
      rows: runs.map((result) => {
        const { hpcg } = result;
        return [
          result.matrix.name,
          result.backend,
          hpcg.raw,
          hpcg.converged,
          hpcg.rating,
          hpcg.checks.filter((check) => check.passed).length,
          hpcg.checks.length,
          hpcg.iterations,
          hpcg.referenceIterations,
          hpcg.sets,
          hpcg.perIteration,
          hpcg.predicted,
          hpcg.values,
          result.product,
          result.threads,
          result.machine.label,
        ];
      }),
    });
  },
};

const checkTable: FactTable = {
  id: 'hpcg-checks',
  title: 'Checks of HPCG',
  summary: (table: Table) =>
    `${plural(table.rows.length, 'check')}, each with what was found and what is allowed.`,
  build(report) {
    const rows = hpcgOf(report).flatMap((result) =>
      result.hpcg.checks.map((check) => [
        check.name,
        check.passed ? 'passed' : 'failed',
        check.value,
        check.limit,
        result.matrix.name,
        result.backend,
        result.machine.label,
      ]),
    );
    if (rows.length === 0) return null;
    return {
      header: ['check', 'ended', 'value', 'at most', 'grid', 'backend', 'machine'],
      rows,
    };
  },
};

export const solverTables: FactTable[] = [solveTable, spectrumTable, hpcgTable, checkTable];
