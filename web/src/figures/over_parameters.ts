// The sweeps: over p (thesis, figures 3.2 to 3.8), matrix size (4.4, 4.6), C (4.7), cache size
// (4.8), and coop, repeat and block size of Reguly's kernel (Reguly and Giles, figures 4 to 9).

import type { Machine } from '../documents/machines.ts';
import type { Result } from '../documents/report.ts';
import { byteTick, bytes } from '../text.ts';
import { sweepFigure } from './sweep.ts';

function strategyOf(result: Result): string {
  if (!result.own) return result.family;
  return result.planned ? 'plan' : result.strategy || result.family;
}

function cacheMarks(machine: Machine): { x: number; label: string }[] {
  const marks: { x: number; label: string }[] = [];
  if (machine.privateCacheBytes)
    marks.push({ x: machine.privateCacheBytes, label: 'private caches' });
  if (machine.cacheBytes)
    marks.push({ x: machine.cacheBytes, label: machine.gpu ? 'L2' : 'all caches' });
  return marks;
}

export const overPower = sweepFigure({
  id: 'over-power',
  title: 'Powers over p',
  section: 'Powers',
  reading:
    'Each curve is one way to compute x, Ax, …, Aᵖx. Plain products read the matrix p times and stay level; blocked powers read it once and rise with p until their window no longer fits the cache. Dotted lines are predictions.',
  commands: ['strata mpk MATRIX -p 1:8 --strategy all --json FILE'],
  uses: (result) => result.kernel === 'mpk',
  x: (result) => result.power,
  label: 'p',
  name: 'p =',
  scale: 'linear',
  series: strategyOf,
});

/** The generator without its sizes: stencil27:64x64x128,dof=2 is of the family stencil27, dof=2. */
export function familyOf(name: string): string | null {
  const parts = /^([a-z]+\d*):([^,]+)(.*)$/i.exec(name);
  if (!parts || !/^[\dx]+$/.test(parts[2]!)) return null;
  return parts[1]! + parts[3]!.replace(/,/g, ', ');
}

export const overSize = sweepFigure({
  id: 'over-size',
  title: 'Speed over the size of the matrix',
  section: 'Products and powers over size',
  reading:
    'Matrices of one generator, by their bytes as CSR. Small ones do not fill the machine; those that fit a cache run at its speed; beyond the dashed marks memory decides.',
  commands: ['strata bench campaigns/sweep-size.json'],
  uses: (result) =>
    (result.kernel === 'spmv' || result.kernel === 'mpk') &&
    result.matrix.nnz !== null &&
    result.matrix.rows !== null &&
    familyOf(result.matrix.name) !== null,
  x: (result) => 12 * result.matrix.nnz! + 4 * (result.matrix.rows! + 1),
  label: 'bytes of the matrix as CSR',
  name: 'a matrix of',
  scale: 10,
  format: byteTick,
  series: (result) => (result.kernel === 'mpk' ? strategyOf(result) : result.family),
  subject: (result) =>
    `${familyOf(result.matrix.name)}, ${result.kernel === 'mpk' ? `p = ${result.power}` : 'products'}`,
  marks: cacheMarks,
  least: 3,
});

export const overSlice = sweepFigure({
  id: 'over-slice',
  title: 'Speed over C, the rows of a slice',
  section: 'Parameters',
  reading:
    'Slices of more rows keep more lanes busy and are padded more; sorting rows by length within a window σ takes the padding away again. Of several results with the same C and σ the fastest counts.',
  commands: ['strata spmv MATRIX --format sell,packed-sell -C 4:32 --sigma 1,256 --json FILE'],
  uses: (result) =>
    result.kernel === 'spmv' && result.own && !result.planned && result.family.includes('SELL'),
  x: (result) => result.sliceHeight,
  label: 'C',
  name: 'C =',
  scale: 2,
  series: (result) =>
    result.family === 'SELL-C-σ' && result.sortWindow
      ? `SELL, σ = ${result.sortWindow}`
      : result.family,
  least: 2,
});

export const overCache = sweepFigure({
  id: 'over-cache',
  title: 'Powers over the cache size that is planned for',
  section: 'Parameters',
  reading:
    'A plan cuts its windows for a cache of this size. Too small a size means more sweeps, too large a size windows that fall out of the cache: the best lies near the real size, which is marked.',
  commands: ['strata bench campaigns/sweep-cache.json'],
  uses: (result) => result.kernel === 'mpk' && result.own,
  x: (result) => result.cacheBytes,
  label: 'cache size',
  name: 'a cache of',
  scale: 2,
  format: (value) => bytes(value),
  series: strategyOf,
  subject: (result) => `${result.matrix.name}, p = ${result.power}`,
  marks: cacheMarks,
});

const isReguly = (result: Result) => result.kernel === 'spmv' && result.coop !== null;

function regulyFigure(
  id: string,
  title: string,
  options: string,
  parameter: 'coop' | 'repeat' | 'blockSize',
  series: (result: Result) => string,
) {
  return sweepFigure({
    id,
    title,
    section: 'Parameters',
    reading:
      'CSR on a GPU as Reguly and Giles have it: coop threads share a row, each group does repeat rows one after another, in blocks of so many threads. Of several results at one point the fastest counts.',
    commands: [`strata spmv MATRIX --format csr ${options} --backend cuda --json FILE`],
    uses: isReguly,
    x: (result) => result[parameter],
    label: parameter === 'blockSize' ? 'threads per block' : parameter,
    name: parameter === 'blockSize' ? 'blocks of' : parameter,
    scale: 2,
    series,
  });
}

export const overCoop = regulyFigure(
  'over-coop',
  'CSR of Reguly over coop',
  '--coop 1:32',
  'coop',
  (result) => (result.blockSize ? `blocks of ${result.blockSize}` : 'CSR of Reguly'),
);
export const overRepeat = regulyFigure(
  'over-repeat',
  'CSR of Reguly over repeat',
  '--coop 1:32 --repeat 1:64',
  'repeat',
  (result) => `coop ${result.coop}`,
);
export const overBlockSize = regulyFigure(
  'over-block-size',
  'CSR of Reguly over the block size',
  '--coop 1:32 --block-size 32:1024',
  'blockSize',
  (result) => `coop ${result.coop}`,
);
