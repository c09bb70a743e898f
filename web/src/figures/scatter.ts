// Speed and speed-up over nonzeros, as in the Ginkgo paper (figures 3 to 13), one machine against
// another (16), and predicted over measured.

import * as Plot from '@observablehq/plot';
import { type Case, casesOf, champion } from '../cases.ts';
import { kernelName, type View } from '../filter.ts';
import type { Result } from '../documents/report.ts';
import { type Chosen, type Control, control, shownControls } from '../choices.ts';
import {
  dots,
  type Drawing,
  type Figure,
  type LegendItem,
  type Point,
  stylesOf,
  tip,
} from '../plot.ts';
import { geometricMean, groupBy } from '../statistics.ts';
import { number, percent, plural, secondTick } from '../text.ts';
import { placeControls } from './speed_bars.ts';
import { heightFor, legendOf, logChart, peerStyle, strataStyle, largestGroups } from './charts.ts';

/** Cases by kind, of those kinds that have enough of them. */
function kindsOf(
  view: View,
  usable: (item: Case) => boolean,
  least = 3,
): { options: { value: string; label: string }[]; cases: Map<string, Case[]> } {
  const cases = new Map(
    ['spmv', 'mpk']
      .map((kernel) => [kernel, casesOf(view.results, kernel).filter(usable)] as const)
      .filter(([, list]) => list.length >= least),
  );
  return {
    options: [...cases.keys()].map((value) => ({ value, label: kernelName(value) })),
    cases,
  };
}

/** Cases of one kind, machine and power at a time. */
function chooseCases(
  view: View,
  usable: (item: Case) => boolean,
  chosen: Chosen,
): { here: Case[]; controls: Control[] } | null {
  const kinds = kindsOf(view, usable);
  const kind = control('kind', 'Of', kinds.options, chosen);
  const cases = kinds.cases.get(kind.value);
  if (!cases) return null;
  const place = placeControls(cases, chosen, kind.value === 'mpk');
  return { here: cases.filter(place.keeps), controls: [kind, ...place.controls] };
}

/** Marks whose shapes are their families, the most numerous first. */
function dotsByFamily(
  points: readonly (Point & { family: string })[],
  radius: number,
): { legend: LegendItem[]; marks: Plot.Markish[] } {
  const groups = largestGroups(points, (point) => point.family);
  const styles = stylesOf(groups.map(([name]) => name));
  return {
    legend: legendOf(
      groups.map(([name]) => name),
      styles,
      'dot',
    ),
    marks: groups.map(([name, list]) => dots(list, styles.get(name)!, radius)),
  };
}

export const overNonzeros: Figure = {
  id: 'over-nonzeros',
  title: 'Speed over nonzeros',
  section: 'Products',
  reading:
    'A matrix is a pair of marks: Strata’s fastest and the fastest of the others. Both axes are logarithmic. Small matrices, on the left, do not fill the machine.',
  commands: ['strata bench campaigns/formats.json', 'strata bench campaigns/formats-gpu.json'],
  build(view, chosen): Drawing | null {
    const found = chooseCases(view, (item) => item.matrix.nnz !== null, chosen);
    if (!found) return null;
    const { here } = found;
    const of = (result: Result | null, name: string): Point[] =>
      result?.gflops && result.matrix.nnz
        ? [
            {
              x: result.matrix.nnz,
              y: result.gflops,
              title: `${result.matrix.name}\n${name}: ${number(result.gflops)} GF/s\n${result.product}`,
            },
          ]
        : [];
    const own = here.flatMap((item) => of(champion(item), 'Strata'));
    const others = here.flatMap((item) => of(item.peer, 'others'));
    return {
      summary: `${plural(here.length, 'matrix', 'matrices')}, from ${number(Math.min(...own.concat(others).map((point) => point.y)))} to ${number(Math.max(...own.concat(others).map((point) => point.y)))} GF/s.`,
      controls: shownControls(found.controls),
      table: {
        header: ['matrix', 'nonzeros', 'Strata, GF/s', 'others, GF/s', 'speed-up'],
        rows: here.map((item) => [
          item.matrix.name,
          item.matrix.nnz,
          champion(item)?.gflops ?? null,
          item.peer?.gflops ?? null,
          champion(item)?.overPeer ?? null,
        ]),
      },
      draw(canvas) {
        const points = [...others, ...own];
        return logChart(canvas, {
          height: heightFor(canvas, 400, 320),
          legend: [
            { label: 'Strata’s fastest', kind: 'dot', style: strataStyle },
            ...(others.length > 0
              ? [{ label: 'best of the others', kind: 'dot' as const, style: peerStyle }]
              : []),
          ],
          x: { label: 'nonzeros', values: points.map((point) => point.x) },
          y: { label: 'GF/s', values: points.map((point) => point.y) },
          marks: () => [dots(others, peerStyle), dots(own, strataStyle), ...tip(canvas, points)],
        });
      },
    };
  },
};

export const speedupScatter: Figure = {
  id: 'speed-up',
  title: 'Speed-up over nonzeros',
  section: 'Products',
  reading:
    'A mark is a matrix: how many times as fast Strata’s fastest is as the fastest of the others. Above the line Strata is faster. The shapes are the formats that won.',
  commands: ['strata bench campaigns/formats.json', 'strata bench campaigns/formats-gpu.json'],
  build(view, chosen): Drawing | null {
    const found = chooseCases(
      view,
      (item) => item.matrix.nnz !== null && champion(item)?.overPeer != null,
      chosen,
    );
    if (!found) return null;
    const { here } = found;
    const points = here.map((item) => {
      const best = champion(item)!;
      return {
        x: item.matrix.nnz!,
        y: best.overPeer!,
        family: best.family,
        title: `${item.matrix.name}\n${number(best.overPeer)} times as fast\n${best.product}`,
        item,
      };
    });
    const faster = points.filter((point) => point.y >= 1).length;
    const mean = geometricMean(points.map((point) => point.y));
    return {
      summary: `Faster on ${faster} of ${plural(points.length, 'matrix', 'matrices')}; ${number(mean)} times as fast in geometric mean.`,
      controls: shownControls(found.controls),
      table: {
        header: ['matrix', 'nonzeros', 'speed-up', 'Strata’s product', 'other product'],
        rows: [...points]
          .sort((a, b) => a.y - b.y)
          .map((point) => [
            point.item.matrix.name,
            point.x,
            point.y,
            champion(point.item)!.product,
            point.item.peer?.product ?? '',
          ]),
      },
      draw(canvas) {
        const families = dotsByFamily(points, 4);
        return logChart(canvas, {
          height: heightFor(canvas, 380, 320),
          legend: families.legend,
          x: { label: 'nonzeros', values: points.map((point) => point.x) },
          y: { label: 'times as fast', values: [...points.map((point) => point.y), 1], room: 1.15 },
          marks: () => [
            Plot.ruleY([1], { stroke: 'var(--ink)', strokeWidth: 1.5 }),
            ...families.marks,
            ...tip(canvas, points),
          ],
        });
      },
    };
  },
};

export const machineAgainstMachine: Figure = {
  id: 'machines-compared',
  title: 'Machine against machine',
  section: 'Products and powers over size',
  reading:
    'A mark is a matrix that was run on both machines. On a diagonal line the machine of the vertical axis is 1, 2, 4, … times as fast as the other.',
  commands: [
    'strata bench campaigns/quick.json --host FIRST --results FIRST.jsonl',
    'strata bench campaigns/quick.json --host SECOND --results SECOND.jsonl',
    'strata report FIRST.jsonl SECOND.jsonl',
  ],
  build(view, chosen): Drawing | null {
    const all = [
      ...kindsOf(view, (item) => champion(item)?.gflops != null, 1).cases.values(),
    ].flat();
    const byMachine = groupBy(all, (item) => item.machine.label);
    const shared = (a: string, b: string) => {
      const key = (item: (typeof all)[number]) =>
        `${item.kernel}|${item.matrix.index}|${item.power}|${item.precision}`;
      const best = (list: typeof all) => {
        const map = new Map<string, (typeof all)[number]>();
        for (const item of list) {
          const other = map.get(key(item));
          if (!other || champion(item)!.gflops! > champion(other)!.gflops!)
            map.set(key(item), item);
        }
        return map;
      };
      const second = best(byMachine.get(b)!);
      return [...best(byMachine.get(a)!)].flatMap(([name, item]) =>
        second.has(name) ? [{ a: item, b: second.get(name)! }] : [],
      );
    };
    const names = [...byMachine.keys()];
    const pairs = names
      .flatMap((a, i) => names.slice(i + 1).map((b) => ({ a, b, count: shared(a, b).length })))
      .filter((pair) => pair.count > 0)
      .sort((p, q) => q.count - p.count);
    if (pairs.length === 0) return null;
    const pair = control(
      'pair',
      'Machines',
      pairs.map(({ a, b }) => ({ value: `${a}\n${b}`, label: `${a} and ${b}` })),
      chosen,
    );
    const asGiven = pair.value.split('\n') as [string, string];
    const speed = (item: Case) => champion(item)!.gflops!;
    const gain = geometricMean(shared(...asGiven).map(({ a, b }) => speed(b) / speed(a)))!;
    // The faster machine is on the vertical axis: sentences have factors above 1.
    const [first, second] = gain >= 1 ? asGiven : ([...asGiven].reverse() as [string, string]);
    const points = shared(first, second).map(({ a, b }) => ({
      x: speed(a),
      y: speed(b),
      kernel: kernelName(a.kernel),
      name: a.kernel === 'mpk' ? `${a.matrix.name}, p = ${a.power}` : a.matrix.name,
      title: `${a.matrix.name}\n${number(speed(b) / speed(a))} times as fast`,
    }));
    return {
      summary: `On ${plural(points.length, 'case')} ${second} is ${number(Math.max(gain, 1 / gain))} times as fast as ${first}, in geometric mean.`,
      controls: shownControls([pair]),
      table: {
        header: ['case', 'kind', `${first}, GF/s`, `${second}, GF/s`, 'ratio'],
        rows: points.map((point) => [
          point.name,
          point.kernel,
          point.x,
          point.y,
          point.y / point.x,
        ]),
      },
      draw(canvas) {
        const groups = [...groupBy(points, (point) => point.kernel)];
        const style = (index: number) => (index === 0 ? strataStyle : peerStyle);
        return logChart(canvas, {
          height: heightFor(canvas, 440, 340),
          marginRight: 42,
          legend:
            groups.length > 1
              ? groups.map(([label], index) => ({ label, kind: 'dot', style: style(index) }))
              : [],
          x: { label: `GF/s on ${first}`, values: points.map((point) => point.x) },
          y: { label: `GF/s on ${second}`, values: points.map((point) => point.y) },
          marks: (x, y) => [
            ...diagonals(x, y),
            ...groups.map(([, list], index) => dots(list, style(index), 4)),
            ...tip(canvas, points),
          ],
        });
      },
    };
  },
};

/** Lines on which one machine is 1, 2, 4, … times as fast as the other, from edge to edge. */
function diagonals(x: readonly [number, number], y: readonly [number, number]): Plot.Markish[] {
  const lines = [0.125, 0.25, 0.5, 1, 2, 4, 8, 16, 32, 64, 128, 256]
    .map((factor) => ({
      factor,
      x1: Math.max(x[0], y[0] / factor),
      x2: Math.min(x[1], y[1] / factor),
    }))
    .filter((line) => line.x1 < line.x2);
  // Factors that would stand beside the name of the axis are left out.
  const named = lines.filter(
    (line) => line.x2 === x[1] || Math.log(line.x2 / x[0]) > 0.4 * Math.log(x[1] / x[0]),
  );
  return [
    Plot.link(lines, {
      x1: 'x1',
      x2: 'x2',
      y1: (line) => line.x1 * line.factor,
      y2: (line) => line.x2 * line.factor,
      stroke: 'var(--muted)',
      strokeOpacity: 0.5,
      strokeDasharray: '3 3',
    }),
    Plot.text(named, {
      x: 'x2',
      y: (line) => line.x2 * line.factor,
      text: (line) => `${line.factor}×`,
      dx: 4,
      dy: -5,
      textAnchor: 'start',
      fill: 'var(--muted)',
      fontSize: 11,
    }),
  ];
}

const band = 0.15;

export const predictedOverMeasured: Figure = {
  id: 'predicted',
  title: 'Predicted over measured',
  section: 'Model',
  reading:
    'A mark is a result: the speed that the model predicts over the speed that was measured. Within the band the prediction is off by at most 15 %. Above it the product is slower than the model knows a reason for.',
  commands: [
    'strata tune MATRIX --exhaustive --again --json FILE',
    'strata mpk MATRIX -p 4 --json FILE',
  ],
  build(view, chosen): Drawing | null {
    const usable = view.results.filter(
      (result) => result.predictedOverMeasured !== null && result.own,
    );
    if (usable.length < 2) return null;
    const name = (result: Result) => `${result.machine.label}, ${kernelName(result.kernel)}`;
    const places = [...groupBy(usable, name)].sort((a, b) => b[1].length - a[1].length);
    const place = control(
      'place',
      'On',
      [{ value: '', label: 'all' }, ...places.map(([value]) => ({ value, label: value }))],
      chosen,
      places.length === 1 ? '' : places[0]![0],
    );
    const here =
      place.value === '' ? usable : usable.filter((result) => name(result) === place.value);
    const inside = here.filter(
      (result) =>
        result.predictedOverMeasured! >= 1 - band &&
        result.predictedOverMeasured! <= 1 / (1 - band),
    ).length;
    const points = here.flatMap((result) =>
      result.seconds
        ? [
            {
              x: result.seconds,
              y: result.predictedOverMeasured!,
              family:
                result.own && result.kernel !== 'mpk'
                  ? result.family
                  : result.strategy || result.family,
              title: `${result.matrix.name}\n${result.product}\npredicted over measured: ${number(result.predictedOverMeasured)}`,
            },
          ]
        : [],
    );
    return {
      summary: `${percent(inside / here.length)} of ${plural(here.length, 'result')} are within 15 %.`,
      controls: shownControls([place]),
      table: {
        header: [
          'matrix',
          'product',
          'p',
          'predicted over measured',
          'measured GF/s',
          'model',
          'bound',
        ],
        rows: here.map((result) => [
          result.matrix.name,
          result.product,
          result.power,
          result.predictedOverMeasured,
          result.gflops,
          result.model,
          result.bound,
        ]),
      },
      draw(canvas) {
        const families = dotsByFamily(points, points.length > 300 ? 2.8 : 3.8);
        return logChart(canvas, {
          height: heightFor(canvas, 400, 330),
          legend: families.legend,
          x: {
            label: 'measured time',
            values: points.map((point) => point.x),
            format: secondTick,
            pixels: 100,
          },
          y: {
            label: 'predicted over measured speed',
            values: [...points.map((point) => point.y), 0.8, 1.25],
            room: 1.1,
          },
          under: (x) => [
            Plot.rect([0], {
              x1: x[0],
              x2: x[1],
              y1: 1 - band,
              y2: 1 / (1 - band),
              fill: 'var(--band)',
            }),
          ],
          marks: () => [
            Plot.ruleY([1], { stroke: 'var(--ink)' }),
            ...families.marks,
            ...tip(canvas, points),
          ],
        });
      },
    };
  },
};
