// The trace of a power result: which task ran when.

import { finite, objectsOf, positive } from './reading.ts';
import type { Task } from './report.ts';

export function readTrace(value: unknown): Task[] {
  return objectsOf(value).flatMap((task) => {
    const level = finite(task.level);
    const power = finite(task.power);
    const start = finite(task.start);
    const end = finite(task.end);
    if (level === null || power === null || start === null || end === null) return [];
    const levels = positive(task.levels) ?? 1;
    return [{ level, levels, power, start, end, thread: finite(task.thread) }];
  });
}
