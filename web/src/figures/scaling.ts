// Speed over cores, and where more of them wait for memory (lecture on SpMV performance).

import * as Plot from '@observablehq/plot';
import type { View } from '../filter.ts';
import type { Scaling } from '../documents/report.ts';
import { chooseGroup, control, shownControls } from '../choices.ts';
import {
  curve,
  type Drawing,
  type Figure,
  frame,
  stylesOf,
  zeroDomain,
  tip,
  xAxis,
  yAxis,
} from '../plot.ts';
import { groupBy } from '../statistics.ts';
import { number } from '../text.ts';
import { heightFor, legendOf, linesWithDots } from './charts.ts';

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
  commands: ['strata spmv MATRIX --threads 1:8 --json FILE'],
  build(view, chosen): Drawing | null {
    const all = scalingsOf(view).filter((item) => item.threads.length > 1);
    if (all.length === 0) return null;
    const longest = (list: readonly Scaling[]) =>
      Math.max(...list.map((item) => item.threads.length));
    const { control: machine, items: onMachine } = chooseGroup(
      'machine',
      'On',
      all,
      (item) => item.machine.label,
      chosen,
      longest,
    );
    const { control: matrix, items: ofMatrix } = chooseGroup(
      'matrix',
      'Matrix',
      onMachine,
      (item) => item.matrix.name,
      chosen,
      longest,
    );
    const fastest = (item: Scaling) => Math.max(...item.gflops.map((value) => value ?? 0));
    const here = [...ofMatrix].sort((a, b) => fastest(b) - fastest(a));
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
            name: item.product,
            saturated: item.saturated,
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
            .filter((point) => point.x === line.saturated)
            .map((point) => ({ ...point, color: styles.get(line.name)!.color })),
        );
        const counts = [...new Set(all.map((point) => point.x))].sort((a, b) => a - b);
        return frame(canvas, {
          height: heightFor(canvas, 370, 310),
          legend: legendOf(styles.keys(), styles, 'line'),
          x: { domain: [Math.min(...counts) - 0.1, most + 0.1] },
          y: { domain: y },
          marks: [
            ...yAxis({ label: unit }),
            ...xAxis({ label: 'threads', ticks: counts.length < 12 ? counts : undefined }),
            curve(ideal, { color: 'var(--muted)', dash: '1.5 3', symbol: 'circle' }, 1.2),
            ...linesWithDots(lines, styles),
            Plot.dot(rings, { x: 'x', y: 'y', r: 7, stroke: 'color', strokeWidth: 1.5 }),
            ...tip(canvas, all),
          ],
        });
      },
    };
  },
};
