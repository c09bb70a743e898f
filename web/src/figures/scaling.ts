// Speed over cores, and where more of them wait for memory (lecture on SpMV performance).

import * as Plot from '@observablehq/plot';
import type { View } from '../filter.ts';
import type { Scaling } from '../documents/report.ts';
import {
  control,
  curve,
  dots,
  type Drawing,
  type Figure,
  frame,
  shownControls,
  stylesOf,
  tip,
  xAxis,
  yAxis,
  zeroDomain,
} from '../plot.ts';
import { groupBy } from '../statistics.ts';
import { number } from '../text.ts';

/** Sweeps over threads as documents have them, and those that many results make together. */
function scalingsOf(view: View): Scaling[] {
  const given = view.report.scalings.filter(
    (item) => view.keepsMachine(item.machine) && view.keepsMatrix(item.matrix),
  );
  const seen = new Set(
    given.map((item) => `${item.machine.index}|${item.matrix.index}|${item.product}`),
  );
  const groups = groupBy(
    view.results.filter(
      (result) =>
        result.kernel === 'spmv' &&
        !result.planned &&
        !result.machine.gpu &&
        result.threads !== null &&
        result.gflops !== null,
    ),
    (result) => `${result.machine.index}|${result.matrix.index}|${result.product}`,
  );
  const made: Scaling[] = [];
  for (const [key, results] of groups) {
    if (seen.has(key)) continue;
    const best = new Map<number, { gflops: number; gbytes: number | null }>();
    for (const result of results) {
      if (result.gflops! > (best.get(result.threads!)?.gflops ?? 0))
        best.set(result.threads!, { gflops: result.gflops!, gbytes: result.gbytes });
    }
    if (best.size < 2) continue;
    const threads = [...best.keys()].sort((a, b) => a - b);
    const gflops = threads.map((count) => best.get(count)!.gflops);
    const most = Math.max(...gflops);
    made.push({
      machine: results[0]!.machine,
      matrix: results[0]!.matrix,
      product: results[0]!.product,
      threads,
      gflops,
      gbytes: threads.map((count) => best.get(count)!.gbytes),
      saturated: threads[gflops.findIndex((speed) => speed >= 0.95 * most)] ?? null,
    });
  }
  return [...given, ...made];
}

export const overThreads: Figure = {
  id: 'over-threads',
  title: 'Speed over cores',
  section: 'Parameters',
  reading:
    'A product speeds up with threads until memory is saturated. The ring marks the fewest threads that reach 95 % of the best. The thin line is what perfect scaling from the fewest threads would give.',
  command: 'strata spmv MATRIX --threads 1:N --json FILE',
  build(view, chosen): Drawing | null {
    const all = scalingsOf(view).filter((item) => item.threads.length > 1);
    if (all.length === 0) return null;
    const machines = [...groupBy(all, (item) => item.machine.label)].sort(
      (a, b) =>
        Math.max(...b[1].map((item) => item.threads.length)) -
        Math.max(...a[1].map((item) => item.threads.length)),
    );
    const machine = control(
      'machine',
      'On',
      machines.map(([value]) => ({ value, label: value })),
      chosen,
    );
    const onMachine = all.filter((item) => item.machine.label === machine.value);
    const matrix = control(
      'matrix',
      'Matrix',
      [...groupBy(onMachine, (item) => item.matrix.name)]
        .sort(
          (a, b) =>
            Math.max(...b[1].map((item) => item.threads.length)) -
            Math.max(...a[1].map((item) => item.threads.length)),
        )
        .map(([value]) => ({ value, label: value })),
      chosen,
    );
    const here = onMachine
      .filter((item) => item.matrix.name === matrix.value)
      .sort(
        (a, b) =>
          Math.max(...b.gflops.map((v) => v ?? 0)) - Math.max(...a.gflops.map((v) => v ?? 0)),
      );
    const measure = control(
      'measure',
      'Show',
      [
        { value: 'gflops', label: 'GF/s' },
        ...(here.some((item) => item.gbytes.some((value) => value !== null))
          ? [{ value: 'gbytes', label: 'GB/s' }]
          : []),
      ],
      chosen,
    );
    const valueOf = (item: Scaling, index: number) =>
      (measure.value === 'gbytes' ? item.gbytes[index] : item.gflops[index]) ?? null;
    const unit = measure.value === 'gbytes' ? 'GB/s' : 'GF/s';
    const best = here[0]!;
    return {
      summary: `${best.matrix.name} on ${best.machine.label}: ${best.product} is the fastest${best.saturated ? ` and reaches 95 % of its best with ${best.saturated} of ${Math.max(...best.threads)} threads` : ''}.`,
      controls: shownControls([machine, matrix, measure]),
      table: {
        header: ['product', 'threads', 'GF/s', 'GB/s', '95 % with'],
        rows: here.flatMap((item) =>
          item.threads.map((threads, index) => [
            item.product,
            threads,
            item.gflops[index] ?? null,
            item.gbytes[index] ?? null,
            item.saturated,
          ]),
        ),
      },
      draw(canvas) {
        const shown = here.slice(0, 10);
        const styles = stylesOf(shown.map((item) => item.product));
        const lines = shown
          .map((item) => ({
            item,
            points: item.threads.flatMap((threads, index) => {
              const y = valueOf(item, index);
              return y === null
                ? []
                : [
                    {
                      x: threads,
                      y,
                      title: `${item.product}\n${threads} threads: ${number(y)} ${unit}`,
                    },
                  ];
            }),
          }))
          .filter((line) => line.points.length > 0);
        const all = lines.flatMap((line) => line.points);
        const most = Math.max(...all.map((point) => point.x));
        const y = zeroDomain(all.map((point) => point.y));
        const start = lines[0]?.points[0];
        const ideal = start
          ? [
              { x: start.x, y: start.y, title: '' },
              {
                x: Math.min(most, (y[1] / start.y) * start.x),
                y: Math.min(y[1], (start.y / start.x) * most),
                title: '',
              },
            ]
          : [];
        const rings = lines.flatMap((line) =>
          line.points
            .filter((point) => point.x === line.item.saturated)
            .map((point) => ({ ...point, color: styles.get(line.item.product)!.color })),
        );
        const counts = [...new Set(all.map((point) => point.x))].sort((a, b) => a - b);
        return frame(canvas, {
          height: canvas.width < 500 ? 310 : 370,
          legend: shown.map((item) => ({
            label: item.product,
            kind: 'line',
            style: styles.get(item.product)!,
          })),
          x: { domain: [Math.min(...counts) - 0.1, most + 0.1] },
          y: { domain: y },
          marks: [
            ...yAxis({ label: unit }),
            ...xAxis({ label: 'threads', ticks: counts.length < 12 ? counts : undefined }),
            curve(ideal, { color: 'var(--muted)', dash: '1.5 3', symbol: 'circle' }, 1.2),
            ...lines.flatMap((line) => [
              curve(line.points, styles.get(line.item.product)!),
              dots(line.points, styles.get(line.item.product)!),
            ]),
            Plot.dot(rings, { x: 'x', y: 'y', r: 7, stroke: 'color', strokeWidth: 1.5 }),
            ...tip(canvas, all),
          ],
        });
      },
    };
  },
};
