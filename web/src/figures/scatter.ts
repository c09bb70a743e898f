// Speed and speed-up over nonzeros, as in the Ginkgo paper (figures 3 to 13), one machine against
// another (16), and predicted over measured.

import * as Plot from '@observablehq/plot';
import { type Case, casesOf, champion } from '../cases.ts';
import { kernelName, type View } from '../filter.ts';
import type { Result } from '../documents/report.ts';
import {
  control,
  dots,
  type Drawing,
  type Figure,
  frame,
  logDomain,
  logTicks,
  type Point,
  shownControls,
  type Style,
  stylesOf,
  tip,
  xAxis,
  yAxis,
} from '../plot.ts';
import { geometricMean, groupBy } from '../statistics.ts';
import { number, percent, plural, secondTick, tick } from '../text.ts';
import { placeControls } from './speed_bars.ts';

const strata: Style = { color: 'var(--s1)', symbol: 'circle' };
const peers: Style = { color: 'var(--s2)', symbol: 'square' };

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

export const overNonzeros: Figure = {
  id: 'over-nonzeros',
  title: 'Speed over nonzeros',
  section: 'Products',
  reading:
    'A matrix is a pair of marks: Strata’s fastest and the fastest of the others. Both axes are logarithmic. Small matrices, on the left, do not fill the machine.',
  command: 'strata spmv of many matrices (strata bench with a campaign of formats)',
  build(view, chosen): Drawing | null {
    const kinds = kindsOf(view, (item) => item.matrix.nnz !== null);
    const kind = control('kind', 'Of', kinds.options, chosen);
    const cases = kinds.cases.get(kind.value);
    if (!cases) return null;
    const place = placeControls(cases, chosen, kind.value === 'mpk');
    const here = cases.filter(place.keeps);
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
      controls: shownControls([kind, ...place.controls]),
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
        const x = logDomain(
          points.map((point) => point.x),
          1.3,
        );
        const y = logDomain(
          points.map((point) => point.y),
          1.3,
        );
        const count = Math.floor(canvas.width / 90);
        return frame(canvas, {
          height: canvas.width < 500 ? 320 : 400,
          legend: [
            { label: 'Strata’s fastest', kind: 'dot', style: strata },
            ...(others.length > 0
              ? [{ label: 'best of the others', kind: 'dot' as const, style: peers }]
              : []),
          ],
          x: { type: 'log', domain: x },
          y: { type: 'log', domain: y },
          marks: [
            ...yAxis({ label: 'GF/s', ticks: logTicks(y, 8) }),
            ...xAxis({ label: 'nonzeros', ticks: logTicks(x, count) }),
            dots(others, peers),
            dots(own, strata),
            ...tip(canvas, points),
          ],
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
  command: 'strata spmv MATRIX --backend cuda,vendor --json FILE (on processors cpu,vendor)',
  build(view, chosen): Drawing | null {
    const kinds = kindsOf(
      view,
      (item) => item.matrix.nnz !== null && champion(item)?.overPeer != null,
    );
    const kind = control('kind', 'Of', kinds.options, chosen);
    const cases = kinds.cases.get(kind.value);
    if (!cases) return null;
    const place = placeControls(cases, chosen, kind.value === 'mpk');
    const here = cases.filter(place.keeps);
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
      controls: shownControls([kind, ...place.controls]),
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
        const groups = [...groupBy(points, (point) => point.family)].sort(
          (a, b) => b[1].length - a[1].length,
        );
        const styles = stylesOf(groups.map(([name]) => name));
        const x = logDomain(
          points.map((point) => point.x),
          1.3,
        );
        const y = logDomain([...points.map((point) => point.y), 1], 1.15);
        return frame(canvas, {
          height: canvas.width < 500 ? 320 : 380,
          legend: groups.map(([name]) => ({ label: name, kind: 'dot', style: styles.get(name)! })),
          x: { type: 'log', domain: x },
          y: { type: 'log', domain: y },
          marks: [
            ...yAxis({ label: 'times as fast', ticks: logTicks(y, 8), format: tick }),
            ...xAxis({ label: 'nonzeros', ticks: logTicks(x, Math.floor(canvas.width / 90)) }),
            Plot.ruleY([1], { stroke: 'var(--ink)', strokeWidth: 1.5 }),
            ...groups.map(([name, list]) => dots(list, styles.get(name)!, 4)),
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
  command: 'the same campaign on two machines, both results files given to strata report',
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
    const [first, second] = pair.value.split('\n') as [string, string];
    const points = shared(first, second).map(({ a, b }) => ({
      x: champion(a)!.gflops!,
      y: champion(b)!.gflops!,
      kernel: kernelName(a.kernel),
      name: a.kernel === 'mpk' ? `${a.matrix.name}, p = ${a.power}` : a.matrix.name,
      title: `${a.matrix.name}\n${number(champion(b)!.gflops! / champion(a)!.gflops!)} times as fast`,
    }));
    const mean = geometricMean(points.map((point) => point.y / point.x));
    return {
      summary: `On ${plural(points.length, 'case')} ${second} is ${number(mean)} times as fast as ${first}, in geometric mean.`,
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
        const x = logDomain(
          points.map((point) => point.x),
          1.3,
        );
        const y = logDomain(
          points.map((point) => point.y),
          1.3,
        );
        const factors = [0.125, 0.25, 0.5, 1, 2, 4, 8, 16, 32, 64, 128, 256].filter(
          (factor) => factor * x[1] > y[0] && factor * x[0] < y[1],
        );
        // A diagonal from edge to edge of the frame, with its factor at the upper end.
        const lines = factors
          .map((factor) => ({
            factor,
            x1: Math.max(x[0], y[0] / factor),
            x2: Math.min(x[1], y[1] / factor),
          }))
          .filter((line) => line.x1 < line.x2);
        const groups = [...groupBy(points, (point) => point.kernel)];
        return frame(canvas, {
          height: canvas.width < 500 ? 340 : 440,
          marginRight: 34,
          legend:
            groups.length > 1
              ? groups.map(([name], index) => ({
                  label: name,
                  kind: 'dot',
                  style: index === 0 ? strata : peers,
                }))
              : [],
          x: { type: 'log', domain: x },
          y: { type: 'log', domain: y },
          marks: [
            ...yAxis({ label: `GF/s on ${second}`, ticks: logTicks(y, 8) }),
            ...xAxis({
              label: `GF/s on ${first}`,
              ticks: logTicks(x, Math.floor(canvas.width / 90)),
            }),
            Plot.link(lines, {
              x1: 'x1',
              x2: 'x2',
              y1: (line) => line.x1 * line.factor,
              y2: (line) => line.x2 * line.factor,
              stroke: 'var(--muted)',
              strokeOpacity: 0.5,
              strokeDasharray: '3 3',
            }),
            // Those that would stand beside the name of the axis are left out.
            Plot.text(
              lines.filter(
                (line) =>
                  line.x2 === x[1] || Math.log(line.x2 / x[0]) > 0.4 * Math.log(x[1] / x[0]),
              ),
              {
                x: 'x2',
                y: (line) => line.x2 * line.factor,
                text: (line) => `${line.factor}×`,
                dx: 4,
                dy: -5,
                textAnchor: 'start',
                fill: 'var(--muted)',
                fontSize: 11,
              },
            ),
            ...groups.map(([, list], index) => dots(list, index === 0 ? strata : peers, 4)),
            ...tip(canvas, points),
          ],
        });
      },
    };
  },
};

const band = 0.15;

export const predictedOverMeasured: Figure = {
  id: 'predicted',
  title: 'Predicted over measured',
  section: 'Model',
  reading:
    'A mark is a result: the speed that the model predicts over the speed that was measured. Within the band the prediction is off by at most 15 %. Above it the product is slower than the model knows a reason for.',
  command: 'strata spmv, mpk or tune MATRIX --json FILE',
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
        const groups = [...groupBy(points, (point) => point.family)].sort(
          (a, b) => b[1].length - a[1].length,
        );
        const styles = stylesOf(groups.map(([value]) => value));
        const x = logDomain(
          points.map((point) => point.x),
          1.3,
        );
        const y = logDomain([...points.map((point) => point.y), 0.8, 1.25], 1.1);
        return frame(canvas, {
          height: canvas.width < 500 ? 330 : 400,
          legend: groups.map(([value]) => ({
            label: value,
            kind: 'dot',
            style: styles.get(value)!,
          })),
          x: { type: 'log', domain: x },
          y: { type: 'log', domain: y },
          marks: [
            Plot.rect([0], {
              x1: x[0],
              x2: x[1],
              y1: 1 - band,
              y2: 1 / (1 - band),
              fill: 'var(--band)',
            }),
            ...yAxis({
              label: 'predicted over measured speed',
              ticks: logTicks(y, 8),
              format: tick,
            }),
            ...xAxis({
              label: 'measured time',
              ticks: logTicks(x, Math.floor(canvas.width / 100)),
              format: secondTick,
            }),
            Plot.ruleY([1], { stroke: 'var(--ink)' }),
            ...groups.map(([value, list]) =>
              dots(list, styles.get(value)!, points.length > 300 ? 2.8 : 3.8),
            ),
            ...tip(canvas, points),
          ],
        });
      },
    };
  },
};
