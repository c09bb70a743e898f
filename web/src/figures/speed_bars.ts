// Speed per matrix with the model's ticks: products (thesis, figure 4.3) and powers (4.5, 4.9).

import { type Case, casesOf, champion } from '../cases.ts';
import type { View } from '../filter.ts';
import type { Result } from '../documents/report.ts';
import {
  type Chosen,
  type Control,
  control,
  optionsOf,
  shownControls,
  type Option,
} from '../choices.ts';
import { type Drawing, type Figure, type Style } from '../plot.ts';
import { distinct, geometricMean } from '../statistics.ts';
import { number, plural } from '../text.ts';
import { type BarGroup, drawBars } from './bars.ts';
import { peerStyle, plainStyle, strataStyle } from './charts.ts';

interface Contestant {
  name: string;
  style: Style;
  of(item: Case): Result | null;
}

interface Measure {
  value: string;
  label: string;
  line?: number;
  of(result: Result): number | null;
  tick(result: Result): number | null;
}

/** The largest matrices first: of the smallest, latency is all there is to see. */
export function bySize(a: Case, b: Case): number {
  return (b.matrix.nnz ?? 0) - (a.matrix.nnz ?? 0);
}

function times(a: number | null, b: number | null): number | null {
  return a !== null && b !== null ? a * b : null;
}

const measures: Measure[] = [
  {
    value: 'gflops',
    label: 'GF/s',
    of: (result) => result.gflops,
    tick: (result) => result.predicted ?? result.roofline,
  },
  {
    value: 'peer',
    label: 'speed-up over the best of the others',
    line: 1,
    of: (result) => result.overPeer,
    tick: (result) => times(result.overPeer, result.predictedOverMeasured),
  },
  {
    value: 'plain',
    label: 'speed-up over plain products',
    line: 1,
    of: (result) => result.overPlain,
    tick: (result) => times(result.overPlain, result.predictedOverMeasured),
  },
];

const pageOfMatrices = 30;
const mostOfOverview = 60;

function speedBars(
  kernel: 'spmv' | 'mpk',
  contestants: Contestant[],
  head: Pick<Figure, 'id' | 'title' | 'section' | 'reading' | 'commands'>,
): Figure {
  return {
    ...head,
    build(view: View, chosen): Drawing | null {
      const all = casesOf(view.results, kernel).filter(
        (item) => champion(item) !== null || item.peer !== null,
      );
      if (all.length === 0) return null;
      const place = placeControls(all, chosen, kernel === 'mpk');
      const here = all.filter(place.keeps);
      const useful = measures.filter((measure) =>
        here.some((item) => {
          const best = champion(item);
          return best !== null && measure.of(best) !== null;
        }),
      );
      const measureControl = control('measure', 'Show', useful, chosen);
      const measure = useful.find((item) => item.value === measureControl.value) ?? measures[0]!;
      const order = control(
        'order',
        'Sort by',
        [
          { value: 'size', label: 'size' },
          { value: 'value', label: 'value' },
          { value: 'name', label: 'name' },
        ],
        chosen,
      );
      const value = (item: Case) => {
        const best = champion(item);
        return best ? (measure.of(best) ?? 0) : 0;
      };
      const sorted = [...here].sort((a, b) =>
        order.value === 'value'
          ? value(b) - value(a)
          : order.value === 'name'
            ? a.matrix.name.localeCompare(b.matrix.name)
            : bySize(a, b),
      );
      const { control: pages, shown } = choosePage(sorted, chosen);
      const series = contestants
        .filter((item) => measure.value === 'gflops' || item.style !== peerStyle)
        .filter((item) => measure.value !== 'plain' || item.style !== plainStyle);
      const mean = geometricMean(
        here.flatMap((item) => {
          const best = champion(item);
          const speed = best && measure.of(best);
          return speed ? [speed] : [];
        }),
      );
      return {
        summary: `${plural(here.length, 'matrix', 'matrices')}: ${measure.value === 'gflops' ? `${number(mean)} GF/s` : `a ${measure.label.replace('speed-up', 'speed-up of ' + number(mean))}`} in geometric mean.`,
        controls: shownControls([measureControl, ...place.controls, order, pages]),
        table: {
          header: [
            'matrix',
            'nonzeros',
            ...(kernel === 'mpk' ? ['p'] : []),
            ...contestants.flatMap((item) => [`${item.name}, GF/s`]),
            'predicted GF/s',
            'over the others',
            ...(kernel === 'mpk' ? ['over plain products'] : []),
            'time',
            'product',
          ],
          units: { time: 'seconds' },
          rows: sorted.map((item) => {
            const best = champion(item);
            return [
              item.matrix.name,
              item.matrix.nnz,
              ...(kernel === 'mpk' ? [item.power] : []),
              ...contestants.map((contestant) => contestant.of(item)?.gflops ?? null),
              best?.predicted ?? null,
              best?.overPeer ?? null,
              ...(kernel === 'mpk' ? [best?.overPlain ?? null] : []),
              best?.seconds ?? null,
              best?.product ?? '',
            ];
          }),
        },
        draw(canvas) {
          const groups: BarGroup[] = shown.map((item) => ({
            name: item.matrix.name,
            bars: series.map((contestant) => {
              const result = contestant.of(item);
              const height = result && measure.of(result);
              return {
                series: contestant.name,
                value: height,
                tick: result ? measure.tick(result) : null,
                text: result ? `${contestant.name}: ${number(height)}\n${result.product}` : '',
              };
            }),
          }));
          return drawBars(canvas, groups, {
            label: measure.label,
            line: measure.line,
            styles: new Map(series.map((item) => [item.name, item.style])),
          });
        },
      };
    },
  };
}

/** The choice of `page` that shows all matrices, or as many as one picture can show. */
export const overview = 'overview';

/** The matrices of a picture: a part of them, all, or so many spread evenly over their order. */
export function choosePage<T>(
  items: readonly T[],
  chosen: Chosen,
): { control: Control; shown: T[] } {
  const count = items.length;
  const options: Option[] = [];
  if (count > pageOfMatrices)
    for (let first = 0; first < count; first += pageOfMatrices) {
      const last = Math.min(count, first + pageOfMatrices);
      options.push({ value: `${first}-${last}`, label: `${first + 1} to ${last} of ${count}` });
    }
  options.push({
    value: overview,
    label:
      count <= mostOfOverview ? `all ${count}` : `${mostOfOverview} of ${count}, spread evenly`,
  });
  if (count > mostOfOverview && count <= 200) options.push({ value: 'all', label: `all ${count}` });
  const pages = control('page', 'Matrices', options, chosen);
  const [first, last] = pages.value.split('-').map(Number);
  if (last !== undefined) return { control: pages, shown: items.slice(first, last) };
  const most = pages.value === overview ? Math.min(count, mostOfOverview) : count;
  const shown = Array.from(
    { length: most },
    (_, index) => items[Math.round((index * (count - 1)) / Math.max(1, most - 1))]!,
  );
  return { control: pages, shown };
}

/** Cases of one machine, number of threads and precision at a time, the most numerous first. */
export function placeControls(
  cases: readonly Case[],
  chosen: Chosen,
  powers = false,
): { controls: Control[]; keeps(item: Case): boolean } {
  const name = (item: Case) =>
    `${item.machine.label}${item.machine.gpu || item.threads === null ? '' : `, ${plural(item.threads, 'thread')}`}${item.precision === 'double' ? '' : `, ${item.precision}`}`;
  const count = (list: readonly Case[], key: (item: Case) => string) => {
    const counts = new Map<string, number>();
    // What can be compared says more.
    for (const item of list)
      counts.set(key(item), (counts.get(key(item)) ?? 0) + (item.peer ? 100 : 1));
    return [...counts].sort((a, b) => b[1] - a[1]).map(([value]) => value);
  };
  const machine = control('machine', 'On', optionsOf(count(cases, name)), chosen);
  const here = cases.filter((item) => name(item) === machine.value);
  const order = count(here, (item) => String(item.power));
  const power = control(
    'power',
    'p',
    optionsOf(distinct(order).sort((a, b) => Number(a) - Number(b))),
    chosen,
    order[0],
  );
  return {
    controls: powers ? [machine, power] : [machine],
    keeps: (item) =>
      name(item) === machine.value && (!powers || String(item.power) === power.value),
  };
}

export const productBars = speedBars(
  'spmv',
  [
    { name: 'Strata’s fastest', style: strataStyle, of: (item) => item.best },
    { name: 'best of the others', style: peerStyle, of: (item) => item.peer },
  ],
  {
    id: 'products',
    title: 'Products per matrix',
    section: 'Products',
    reading:
      'A bar is the speed of a product with one matrix: Strata’s fastest format, and the fastest of the libraries it is compared with. A tick is what the model predicts; where it stands beyond the bar, the product is slower than it could be.',
    commands: ['strata spmv MATRIX --json FILE'],
  },
);

export const powerBars = speedBars(
  'mpk',
  [
    { name: 'Strata’s plan', style: strataStyle, of: (item) => item.plan ?? item.best },
    { name: 'plain products', style: plainStyle, of: (item) => item.plain },
    { name: 'best of the others', style: peerStyle, of: (item) => item.peer },
  ],
  {
    id: 'powers',
    title: 'Powers per matrix',
    section: 'Powers',
    reading:
      'Bars are the speeds of all p powers together: what the plan does, p plain products of Strata, and p products of the fastest other library. A tick is what the plan predicts.',
    commands: ['strata mpk MATRIX -p 4 --json FILE'],
  },
);
