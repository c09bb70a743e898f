// The applications: finite elements over their degree (Reguly and Giles, figures 17 and 18), the
// parts of an iteration of HPCG against its model, and the density of states.

import { chooseGroup, shownControls } from '../choices.ts';
import type { Elements, Hpcg, Method, Result } from '../documents/report.ts';
import {
  curve,
  type Drawing,
  type Figure,
  frame,
  stylesOf,
  tip,
  xAxis,
  yAxis,
  zeroDomain,
} from '../plot.ts';
import { distinct, groupBy, largestBy } from '../statistics.ts';
import { listed, number, plural, seconds } from '../text.ts';
import { drawBars } from './bars.ts';
import {
  heightFor,
  latestBy,
  legendOf,
  linesWithDots,
  secondsUnit,
  strataStyle,
} from './charts.ts';

/** Where a result was measured; GPUs have no threads. */
function placeOf({ machine, threads }: Result): string {
  return machine.gpu || threads === null
    ? machine.label
    : `${machine.label}, ${plural(threads, 'thread')}`;
}

export const elementDegrees: Figure = {
  id: 'elements',
  title: 'Finite elements over their degree',
  section: 'Solvers',
  reading:
    'Iterations of conjugate gradients per second on quadrilaterals with about as many unknowns at every degree. Assembled matrices get denser with the degree; local matrices are multiplied element by element, read more at low degrees and less at high ones. As figures 17 (single precision) and 18 (double precision) of Reguly and Giles.',
  commands: ['strata fem 1000x1000 --json FILE'],
  build(view, chosen): Drawing | null {
    const all = view.results.filter(
      (result): result is Result & { elements: Elements } => result.elements !== null,
    );
    if (all.length === 0) return null;
    const { control: machine, items: there } = chooseGroup('machine', 'On', all, placeOf, chosen);
    const { control: precision, items: exact } = chooseGroup(
      'precision',
      'Precision',
      there,
      (result) => result.precision,
      chosen,
    );
    const { control: size, items } = chooseGroup(
      'size',
      'Of',
      exact,
      (result) => result.matrix.name,
      chosen,
    );
    const here = latestBy(items, (result) => `${result.elements.degree}|${result.family}`).sort(
      (a, b) => a.elements.degree - b.elements.degree,
    );
    const rateOf = (degree: number, family: string) =>
      here.find((result) => result.elements.degree === degree && result.family === family)?.elements
        .rate ?? null;
    const best = [...groupBy(here, (result) => result.elements.degree).values()].map((list) =>
      largestBy(list, (result) => result.elements.rate)!,
    );
    const fastest = [...groupBy(best, (result) => result.family)].map(([family, list]) => {
      const degrees = list.map(({ elements }) => String(elements.degree));
      return `${family} at degree${degrees.length > 1 ? 's' : ''} ${listed(degrees)}`;
    });
    const lines = [...groupBy(here, (result) => result.family)].map(([name, list]) => ({
      name,
      points: list.map((result) => ({
        x: result.elements.degree,
        y: result.elements.rate,
        title: `${name}, degree ${result.elements.degree}\n${number(result.elements.rate)} iterations per second`,
      })),
    }));
    return {
      summary: `${size.value} in ${precision.value} precision on ${machine.value}. The fastest: ${fastest.join('; ')}.`,
      controls: shownControls([machine, precision, size]),
      table: {
        header: [
          'degree',
          'matrix',
          'iterations/s',
          'over CSR',
          'unknowns',
          'bytes per unknown',
          'per product',
          'order of errors',
        ],
        units: { 'per product': 'seconds' },
        rows: here.map(({ elements, family }) => {
          const csr = rateOf(elements.degree, 'CSR');
          return [
            elements.degree,
            family,
            elements.rate,
            csr ? elements.rate / csr : null,
            elements.unknowns,
            elements.bytesPerUnknown,
            elements.perProduct,
            elements.order,
          ];
        }),
      },
      draw(canvas) {
        const styles = stylesOf(lines.map((line) => line.name));
        const all = lines.flatMap((line) => line.points);
        const degrees = distinct(all.map((point) => point.x));
        return frame(canvas, {
          height: heightFor(canvas, 370, 310),
          legend: legendOf(styles.keys(), styles, 'line'),
          x: { domain: [Math.min(...degrees) - 0.15, Math.max(...degrees) + 0.15] },
          y: { domain: zeroDomain(all.map((point) => point.y)) },
          marks: [
            ...yAxis({ label: 'iterations per second' }),
            ...xAxis({ label: 'degree', ticks: degrees.length < 12 ? degrees : undefined }),
            ...linesWithDots(lines, styles),
            ...tip(canvas, all),
          ],
        });
      },
    };
  },
};

export const hpcgParts: Figure = {
  id: 'hpcg',
  title: 'HPCG: parts of an iteration',
  section: 'Solvers',
  reading:
    'Where the time of an iteration of HPCG goes: the product, the vectors, and on every level of the multigrid what is done there. A tick is what the model predicts from the bytes that a part moves. Small levels are bound by latency, which it does not have.',
  commands: ['strata hpcg 104x104x104 --json FILE'],
  build(view, chosen): Drawing | null {
    const all = view.results.filter(
      (result): result is Result & { hpcg: Hpcg } => (result.hpcg?.parts.length ?? 0) > 0,
    );
    if (all.length === 0) return null;
    const { control: machine, items: there } = chooseGroup('machine', 'On', all, placeOf, chosen);
    const { control: grid, items } = chooseGroup(
      'grid',
      'Grid',
      there,
      (result) => result.matrix.name,
      chosen,
    );
    const { hpcg, matrix } = latestBy(items, () => '')[0]!;
    const failed = hpcg.checks.filter((check) => !check.passed).length;
    const ratio = hpcg.perIteration && hpcg.predicted ? hpcg.perIteration / hpcg.predicted : null;
    return {
      summary: [
        `${matrix.name} on ${machine.value}:`,
        hpcg.raw ? `${number(hpcg.raw)} GF/s of all iterations,` : '',
        hpcg.rating ? `a rating of ${number(hpcg.rating)};` : '',
        hpcg.perIteration ? `an iteration takes ${seconds(hpcg.perIteration)}` : '',
        ratio ? `, ${number(ratio)} times what the model predicts;` : '',
        hpcg.checks.length === 0
          ? 'no checks.'
          : failed === 0
            ? `all ${plural(hpcg.checks.length, 'check')} passed.`
            : `${failed} of ${plural(hpcg.checks.length, 'check')} failed.`,
      ]
        .filter(Boolean)
        .join(' ')
        .replace(' ,', ','),
      controls: shownControls([machine, grid]),
      table: {
        header: ['part', 'measured', 'predicted', 'measured over predicted', 'bytes', 'GB/s'],
        units: { measured: 'seconds', predicted: 'seconds', bytes: 'bytes' },
        rows: hpcg.parts.map((part) => [
          part.name,
          part.measured,
          part.predicted,
          part.measured && part.predicted ? part.measured / part.predicted : null,
          part.bytes,
          part.bytes && part.measured ? part.bytes / part.measured / 1e9 : null,
        ]),
      },
      draw(canvas) {
        const unit = secondsUnit(hpcg.parts.flatMap((part) => part.measured ?? part.predicted!));
        const scaled = (value: number | null) => (value === null ? null : value / unit.seconds);
        return drawBars(
          canvas,
          hpcg.parts.map((part) => ({
            name: part.name,
            bars: [
              {
                series: 'measured',
                value: scaled(part.measured),
                tick: scaled(part.predicted),
                text: `measured ${seconds(part.measured)}\npredicted ${seconds(part.predicted)}`,
              },
            ],
          })),
          {
            label: `time in an iteration, ${unit.name}`,
            styles: new Map([['measured', strataStyle]]),
          },
        );
      },
    };
  },
};

export const densityOfStates: Figure = {
  id: 'density',
  title: 'Density of states',
  section: 'Solvers',
  reading:
    'The share of the eigenvalues per unit of energy, by the kernel polynomial method: from products with random vectors, without any eigenvalue. Features narrower than its resolution are blurred; the area below the curve is 1.',
  commands: ['strata eig MATRIX --method kpm --json FILE'],
  build(view, chosen): Drawing | null {
    const all = view.results.filter(
      (result): result is Result & { method: Method } => (result.method?.density.length ?? 0) > 1,
    );
    if (all.length === 0) return null;
    const { control: matrix, items } = chooseGroup(
      'matrix',
      'Matrix',
      all,
      (result) => result.matrix.name,
      chosen,
    );
    const nameOf = (result: Result & { method: Method }) =>
      `${result.method.label}, ${placeOf(result)}${result.precision === 'double' ? '' : `, ${result.precision}`}`;
    const lines = latestBy(items, nameOf)
      .slice(0, 8)
      .map((result) => ({
        name: nameOf(result),
        points: result.method.density.map(({ energy, share }) => ({
          x: energy,
          y: share,
          title: `${nameOf(result)}\nat ${number(energy)}: ${number(share)}`,
        })),
      }));
    const first = lines[0]!.points;
    const peak = largestBy(first, (point) => point.y)!;
    return {
      summary: `${matrix.value}: eigenvalues from ${number(first[0]!.x)} to ${number(first[first.length - 1]!.x)}, the densest near ${number(peak.x)}.`,
      controls: shownControls([matrix]),
      table: {
        header: ['energy', 'share per unit', 'curve'],
        rows: lines.flatMap((line) => line.points.map((point) => [point.x, point.y, line.name])),
      },
      draw(canvas) {
        const styles = stylesOf(lines.map((line) => line.name));
        const points = lines.flatMap((line) => line.points);
        const energies = points.map((point) => point.x);
        const [low, high] = [Math.min(...energies), Math.max(...energies)];
        const [, top] = zeroDomain(points.map((point) => point.y));
        return frame(canvas, {
          height: heightFor(canvas, 340, 290),
          legend: lines.length > 1 ? legendOf(styles.keys(), styles, 'line') : [],
          x: { domain: low < high ? [low, high] : [low - 1, high + 1] },
          y: { domain: [Math.min(0, ...points.map((point) => point.y)), top] },
          marks: [
            ...yAxis({ label: 'share of the eigenvalues per unit of energy' }),
            ...xAxis({ label: 'energy' }),
            ...lines.map((line) => curve(line.points, styles.get(line.name)!)),
            ...tip(canvas, points),
          ],
        });
      },
    };
  },
};
