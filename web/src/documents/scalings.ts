// Speeds over threads, as one result has them.

import { oneLine } from '../text.ts';
import type { Machine } from './machines.ts';
import { formatName } from './names.ts';
import { type JsonObject, listOf, positive } from './reading.ts';
import type { Matrix, Scaling } from './report.ts';

export function readScaling(machine: Machine, matrix: Matrix, raw: JsonObject): Scaling | null {
  const numbers = (value: unknown) => listOf(value).map(positive);
  const threads = numbers(raw.thread_counts);
  const gflops = numbers(raw.gflops_by_threads);
  const kept = threads.map((_, i) => i).filter((i) => threads[i] !== null && gflops[i] != null);
  if (kept.length === 0) return null;
  const gbytes = numbers(raw.gbytes_per_second_by_threads);
  return {
    machine,
    matrix,
    product: oneLine(raw.variant) || formatName(oneLine(raw.format)) || 'unnamed product',
    threads: kept.map((i) => threads[i]!),
    gflops: kept.map((i) => gflops[i]!),
    gbytes: kept.map((i) => gbytes[i] ?? null),
    saturated: positive(raw.saturated_at_threads),
  };
}
