// How residuals go down: one curve per method and backend, over products with the matrix, which is
// what methods with different iterations have in common.

import * as Plot from '@observablehq/plot';
import { chooseGroup, shownControls } from '../choices.ts';
import type { Method, Result } from '../documents/report.ts';
import type { View } from '../filter.ts';
import {
  curve,
  type Drawing,
  type Figure,
  frame,
  logDomain,
  logTicks,
  stylesOf,
  tip,
  xAxis,
  yAxis,
} from '../plot.ts';
import { distinct } from '../statistics.ts';
import { grouped, number, plural } from '../text.ts';
import { heightFor, latestBy, legendOf } from './charts.ts';

const mostLines = 12; // more cannot be told apart

type Solved = Result & { method: Method };

function isSolved(result: Result): result is Solved {
  return result.kernel === 'solve' && (result.method?.history.length ?? 0) > 1;
}

/** On a processor the method alone is enough to say. */
function nameOf(result: Solved): string {
  const place = result.own ? result.backend : result.family;
  return result.backend === 'cpu' ? result.method.label : `${result.method.label} (${place})`;
}

/** 1, 1e−8: powers of ten are what residuals are read by. */
function powerTick(value: number): string {
  return value === 1 ? '1' : value.toExponential(0).replace('-', '−').replace('+', '');
}

function curvesOf(view: View, chosen: Parameters<Figure['build']>[1]) {
  const { control: matrix, items: ofMatrix } = chooseGroup(
    'matrix',
    'Matrix',
    view.results.filter(isSolved),
    (result) => result.matrix.name,
    chosen,
    (group) => distinct(group.map(nameOf)).length,
  );
  const { control: precision, items } = chooseGroup(
    'precision',
    'Precision',
    ofMatrix,
    (result) => result.precision,
    chosen,
  );
  const results = latestBy(items, nameOf);
  return { controls: shownControls([matrix, precision]), matrix: matrix.value, results };
}

/** Who reached the tolerance with the fewest products; without one, who got furthest. */
function summaryOf(matrix: string, results: readonly Solved[]): string {
  const there = results.filter((result) => result.method.ended === 'converged');
  const least = (list: readonly Solved[], value: (method: Method) => number | null) =>
    list.reduce((a, b) => ((value(b.method) ?? Infinity) < (value(a.method) ?? Infinity) ? b : a));
  if (there.length > 0) {
    const first = least(there, (method) => method.products);
    return `${matrix}: ${there.length} of ${plural(results.length, 'solve')} converged; ${nameOf(first)} with the fewest products, ${grouped(first.method.products ?? 0)}.`;
  }
  const best = least(results, (method) => method.residual);
  return `${matrix}: ${plural(results.length, 'solve')}, none to a tolerance; ${nameOf(best)} got furthest, to ${number(best.method.residual)}.`;
}

export const convergence: Figure = {
  id: 'convergence',
  title: 'Convergence of solvers',
  section: 'Solvers',
  reading:
    'The norm of the residual over that of the right-hand side, as the recurrence of a method has it, after so many products with the matrix. Methods with several products per iteration, and those that make s of them in one sweep, can be compared this way. The dashed line is the tolerance that was asked for.',
  commands: ['strata solve MATRIX --method cg,ca-cg,gmres,ca-gmres --json FILE'],
  build(view, chosen): Drawing | null {
    const { controls, matrix, results } = curvesOf(view, chosen);
    if (results.length === 0) return null;
    const lines = results.map((result) => ({
      name: nameOf(result),
      points: result.method.history.map(({ products, residual }) => ({
        x: products,
        y: residual,
        title: `${nameOf(result)}\n${plural(products, 'product')}: ${number(residual)}`,
      })),
    }));
    const tolerances = distinct(results.flatMap((result) => result.method.tolerance ?? []));
    const more = lines.length - mostLines;
    return {
      summary:
        summaryOf(matrix, results) +
        (more > 0 ? ` The table has ${plural(more, 'curve')} more.` : ''),
      controls,
      table: {
        header: ['method', 'products', 'residual', 'tolerance'],
        rows: results.flatMap((result) =>
          result.method.history.map(({ products, residual }) => [
            nameOf(result),
            products,
            residual,
            result.method.tolerance,
          ]),
        ),
      },
      draw(canvas) {
        const shown = lines.slice(0, mostLines);
        const styles = stylesOf(shown.map((line) => line.name));
        const all = shown.flatMap((line) => line.points);
        const y = logDomain([...all.map((point) => point.y), ...tolerances], 1.5);
        const last = Math.max(...all.map((point) => point.x));
        return frame(canvas, {
          height: heightFor(canvas, 390, 320),
          legend: legendOf(styles.keys(), styles, 'line'),
          x: { domain: [0, last] },
          y: { type: 'log', domain: y },
          marks: [
            ...yAxis({ label: '|b − Ax| / |b|', ticks: logTicks(y, 8), format: powerTick }),
            ...xAxis({ label: 'products' }),
            Plot.ruleY(tolerances, { stroke: 'var(--muted)', strokeDasharray: '4 3' }),
            Plot.text(tolerances, {
              x: last,
              y: (tolerance: number) => tolerance,
              text: (tolerance: number) => `tolerance ${powerTick(tolerance)}`,
              textAnchor: 'end',
              lineAnchor: 'bottom',
              dy: -3,
              fill: 'var(--muted)',
              fontSize: 11,
              stroke: 'var(--card)',
              strokeWidth: 3,
            }),
            ...shown.map((line) => curve(line.points, styles.get(line.name)!)),
            ...tip(canvas, all),
          ],
        });
      },
    };
  },
};
