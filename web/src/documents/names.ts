// What formats, libraries and products are called on the page.

import { oneLine } from '../text.ts';

const formatNames: Record<string, string> = {
  coo: 'COO',
  csr: 'CSR',
  csc: 'CSC',
  'csr-reguly': 'CSR of Reguly',
  'symmetric-csr': 'symmetric CSR',
  ell: 'ELL',
  hyb: 'HYB',
  jds: 'JDS',
  dia: 'DIA',
  bcsr: 'BCSR',
  sell: 'SELL-C-σ',
  'packed-sell': 'packed SELL',
  'packed-sell-full': 'packed SELL, full values',
  'blocked-coo': 'COO in blocks',
  lma: 'local matrices',
  'lma-symmetric': 'symmetric local matrices',
};

const strategyNames: Record<string, string> = {
  spmv: 'plain products',
  levels: 'levels',
  graph: 'levels in a graph',
  wavefront: 'wavefront',
};

export function formatName(format: string): string {
  return formatNames[format] ?? oneLine(format);
}

export function strategyName(strategy: string): string {
  return strategyNames[strategy] ?? strategy;
}

/** A peer's name without its version: "cuSPARSE 12.6.3 CSR alg1" is cuSPARSE. */
export function libraryName(variant: string): string {
  return oneLine(variant).split(/[\s,]/)[0] || 'other library';
}

/** The format of a product that a document gives by its name alone. */
export function formatOfVariant(variant: string): string {
  const name = variant.replace(/^plan: /, '');
  const known: [RegExp, string][] = [
    [/^packed[ -]SELL.*full values/i, 'packed-sell-full'],
    [/^packed[ -]SELL/i, 'packed-sell'],
    [/^SELL/, 'sell'],
    [/^symmetric CSR/, 'symmetric-csr'],
    [/^CSR of Reguly/, 'csr-reguly'],
    [/^CSR/, 'csr'],
    [/^BCSR/, 'bcsr'],
    [/^COO in/, 'blocked-coo'],
    [/^COO/, 'coo'],
  ];
  return (
    known.find(([pattern]) => pattern.test(name))?.[1] ?? name.split(/[\s,-]/)[0]!.toLowerCase()
  );
}

export function productName(
  kernel: string,
  own: boolean,
  variant: string,
  format: string,
  strategy: string,
  planned: boolean,
): string {
  if (kernel !== 'mpk' && kernel !== 'explain')
    return variant || formatName(format) || 'unnamed product';
  if (!own) return variant || 'other library';
  return `${planned ? 'plan: ' : ''}${strategyName(strategy)}${format ? `, ${formatName(format)}` : ''}`;
}
