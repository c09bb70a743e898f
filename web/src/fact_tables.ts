// The tables of facts: machines, what was measured of them, matrices and cache sizes. Those of
// chapter 4 of Panzlaff's thesis have their counterparts here.

import { type FactTable, type Table, withoutEmptyColumns } from './cells.ts';
import type { Matrix, Profile, Result } from './documents/report.ts';
import {
  blockingCaches,
  blockingGain,
  halfBandwidthBytes,
  hasFit,
  lastCache,
  latestProfiles,
  memoryBandwidth,
} from './machine_model.ts';
import { solverTables } from './solver_tables.ts';
import { groupBy, largestBy } from './statistics.ts';
import { bytes, plural } from './text.ts';

/** What a table corresponds to, for its caption. */
export function correspondence(table: FactTable): string {
  return table.thesis ? `as Table ${table.thesis} of Panzlaff’s thesis` : '';
}

const giga = (value: number | null | undefined) => (value ? value / 1e9 : null);
const machines = (table: Table) => plural(table.rows.length, 'machine');

const machineTable: FactTable = {
  id: 'machines',
  title: 'Machines',
  open: true,
  summary: (table) => `${machines(table)}, and what was measured of them; bandwidths of reading.`,
  build(report) {
    if (report.machines.length === 0) return null;
    const profiles = new Map(
      latestProfiles(report.profiles).map((profile) => [profile.machine, profile]),
    );
    return withoutEmptyColumns({
      header: [
        'machine',
        'cores',
        'memory',
        'caches',
        'memory GB/s',
        'cache GB/s',
        'cache holds',
        'launch or fork',
        'hand-off',
        'system',
        'compiler',
      ],
      units: {
        memory: 'bytes',
        'cache holds': 'bytes',
        'launch or fork': 'seconds',
        'hand-off': 'seconds',
      },
      rows: report.machines.map((machine) => {
        const profile = profiles.get(machine);
        return [
          machine.label,
          machine.gpu ? null : machine.cores,
          machine.gpu ? machine.deviceMemoryBytes : machine.memoryBytes,
          machine.gpu
            ? ''
            : machine.caches.map((cache) => `L${cache.level} ${bytes(cache.bytes)}`).join(', '),
          giga(machine.memoryBandwidth),
          giga(machine.cacheBandwidth),
          machine.cacheBytes,
          profile?.launch ?? null,
          profile?.handoff ?? null,
          machine.os,
          machine.compiler,
        ];
      }),
    });
  },
};

/** BabelStream says mul to what STREAM calls scale. */
function streamColumn(name: string): string {
  return `${name === 'scale' || name === 'mul' ? 'scale (mul)' : name}, GB/s`;
}

const streamTable: FactTable = {
  id: 'stream',
  title: 'STREAM bandwidths',
  thesis: '4.1',
  summary: (table) =>
    `What memory sustains in the loops of STREAM and BabelStream, on ${machines(table)}.`,
  build(report) {
    const profiles = latestProfiles(report.profiles).filter((profile) => profile.stream.length > 0);
    if (profiles.length === 0) return null;
    const found = new Set(
      profiles.flatMap((profile) => profile.stream.map((item) => streamColumn(item.name))),
    );
    // In the order of the thesis, whatever the order of the documents.
    const usual = ['copy', 'mul', 'add', 'triad', 'dot', 'read'].map(streamColumn);
    const columns = [
      ...usual.filter((name) => found.has(name)),
      ...[...found].filter((name) => !usual.includes(name)).sort(),
    ];
    return {
      header: ['machine', ...columns],
      rows: profiles.map((profile) => [
        profile.machine.label,
        ...columns.map((column) =>
          giga(profile.stream.find((item) => streamColumn(item.name) === column)?.bandwidth),
        ),
      ]),
    };
  },
};

const plateauTable: FactTable = {
  id: 'plateaus',
  title: 'Bandwidth of the last cache and of memory',
  thesis: '4.2',
  summary: (table) => `Reading at the plateaus of the bandwidth curve, on ${machines(table)}.`,
  build(report) {
    const rows = latestProfiles(report.profiles).flatMap((profile) => {
      const memory = memoryBandwidth(profile);
      const cache = lastCache(profile);
      return memory === null
        ? []
        : [
            [
              profile.machine.label,
              giga(cache?.bandwidth),
              giga(memory),
              cache ? cache.bandwidth / memory : null,
              cache?.bytes ?? null,
            ],
          ];
    });
    if (rows.length === 0) return null;
    return {
      header: ['machine', 'last cache, GB/s', 'memory, GB/s', 'cache over memory', 'up to'],
      units: { 'up to': 'bytes' },
      rows,
    };
  },
};

/** Bytes per flop of SELL-8 in double precision when x and y come from memory once (Panzlaff, equation 4.5). */
function sellBalance(meanRow: number | null): number | null {
  return meanRow ? 6 + (16 + 8 / 8) / (2 * meanRow) : null;
}

function csrBytes(matrix: Matrix): number | null {
  return matrix.nnz && matrix.rows ? 12 * matrix.nnz + 4 * (matrix.rows + 1) : null;
}

const matrixTable: FactTable = {
  id: 'matrices',
  title: 'Matrices',
  thesis: '4.3',
  summary: (table) =>
    `${plural(table.rows.length, 'matrix', 'matrices')}, by their nonzeros. The last column is the data intensity of SELL-8.`,
  build(report) {
    const used = report.matrices.filter((matrix) => matrix.rows !== null || matrix.nnz !== null);
    if (used.length === 0) return null;
    return withoutEmptyColumns({
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
        'as SELL-8-1',
        'SELL-8, B/flop',
      ],
      units: { 'as CSR': 'bytes', 'as SELL-8-1': 'bytes' },
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
          csrBytes(matrix),
          matrix.sell8Bytes,
          sellBalance(matrix.meanRow),
        ]),
    });
  },
};

/** The fastest of those that were planned for about this size: sweeps double it from run to run. */
function fastestNear(results: readonly Result[], size: number): number | null {
  const near = results.filter(
    (result) => Math.abs(Math.log2(result.cacheBytes! / size)) <= 0.5 + 1e-9,
  );
  return largestBy(near, (result) => result.gflops)?.gflops ?? null;
}

const cacheSizeTable: FactTable = {
  id: 'cache-sizes',
  title: 'Cache sizes that powers were planned for',
  thesis: '4.4',
  summary: () =>
    'Speed when windows are cut for the real size of the cache, for twice that, and for the size that turned out best.',
  build(report) {
    const planned = report.results.filter(
      (result) =>
        result.kernel === 'mpk' &&
        result.own &&
        result.cacheBytes !== null &&
        result.gflops !== null,
    );
    const groups = groupBy(
      planned,
      ({ machine, matrix, power, threads, precision }) =>
        `${machine.index}|${matrix.index}|${power}|${threads}|${precision}`,
    );
    const rows = [...groups.values()].flatMap((results) => {
      if (new Set(results.map((result) => result.cacheBytes)).size < 2) return [];
      const { machine, matrix, power, threads } = results[0]!;
      const best = largestBy(results, (result) => result.gflops)!;
      const real = machine.cacheBytes;
      return [
        [
          machine.label,
          matrix.name,
          power,
          threads,
          real,
          real && fastestNear(results, real),
          real && fastestNear(results, 2 * real),
          best.cacheBytes,
          best.gflops,
          best.product,
        ],
      ];
    });
    if (rows.length === 0) return null;
    return {
      header: [
        'machine',
        'matrix',
        'p',
        'threads',
        'cache',
        'GF/s, its size',
        'GF/s, twice its size',
        'best size',
        'GF/s, best size',
        'product',
      ],
      units: { cache: 'bytes', 'best size': 'bytes' },
      rows,
    };
  },
};

const mostPowers = 10;

const blockingTable: FactTable = {
  id: 'blocking-limits',
  title: 'Speed-ups that blocking could reach',
  thesis: '4.5',
  summary: () =>
    'By the roofline (equation 4.8): one product from memory, the others from the cache, no overhead.',
  build(report) {
    const caches = blockingCaches(latestProfiles(report.profiles));
    if (caches.length === 0) return null;
    const powers = Array.from({ length: mostPowers }, (_, index) => index + 1);
    return {
      header: ['cache', 'cache over memory', ...powers.map((power) => `p = ${power}`)],
      rows: caches.map((item) => [
        item.name,
        item.ratio,
        ...powers.map((power) => blockingGain(item.ratio, power)),
      ]),
    };
  },
};

const fitTable: FactTable = {
  id: 'fits',
  title: 'Latency–bandwidth fits',
  thesis: '4.6',
  summary: (table) =>
    `A kernel that reads Q bytes takes T + Q/B seconds (equation 4.12), on ${machines(table)}.`,
  build(report) {
    const fits = latestProfiles(report.profiles).filter(hasFit);
    if (fits.length === 0) return null;
    return {
      header: ['machine', 'T, overhead', 'B, GB/s', 'n½', 'off by (rms)'],
      units: { 'T, overhead': 'seconds', 'n½': 'bytes', 'off by (rms)': 'share' },
      rows: fits.map((profile) => fitRow(profile)),
    };
  },
};

function fitRow(profile: Profile & { overhead: number; fitBandwidth: number }) {
  return [
    profile.machine.label,
    profile.overhead,
    giga(profile.fitBandwidth),
    halfBandwidthBytes(profile),
    profile.fitError,
  ];
}

export const factTables: FactTable[] = [
  machineTable,
  streamTable,
  plateauTable,
  matrixTable,
  cacheSizeTable,
  blockingTable,
  fitTable,
  ...solverTables,
];
