// What an iteration costs, of Strata and of other libraries: one method on all matrices, or all
// methods on one matrix.

import { type Case, casesOf } from '../cases.ts';
import { type Chosen, control, type Option, shownControls } from '../choices.ts';
import type { Result } from '../documents/report.ts';
import { type Drawing, type Figure, stylesOf } from '../plot.ts';
import { distinct, geometricMean, groupBy, largestBy } from '../statistics.ts';
import { number, plural, seconds } from '../text.ts';
import { type BarGroup, drawBars } from './bars.ts';
import { secondsUnit } from './charts.ts';
import { bySize, choosePage, placeControls } from './speed_bars.ts';

const strata = 'Strata';

/** The fastest of everyone who took part, Strata first. */
function contestants(item: Case): Map<string, Result> {
  const found = new Map<string, Result>();
  if (item.best) found.set(strata, item.best);
  for (const [library, results] of groupBy(
    item.results.filter((result) => !result.own),
    (result) => result.family,
  ))
    found.set(
      library,
      largestBy(results, (result) => 1 / result.method!.perIteration!)!,
    );
  return found;
}

const timeOf = (result: Result | null | undefined) => result?.method?.perIteration ?? null;

/** Of a method with s steps at a time: how many times as fast an iteration is as without. */
function overClassical(item: Case, all: readonly Case[]): number | null {
  const method = item.best?.method;
  if (!method?.name.startsWith('ca-')) return null;
  const classical = all.find(
    (other) =>
      other.matrix === item.matrix &&
      other.best?.method?.name === method.name.slice(3) &&
      other.best.method.preconditioner === method.preconditioner,
  );
  const [own, before] = [timeOf(item.best), timeOf(classical?.best)];
  return own && before ? before / own : null;
}

/** What the bars are of: a method on every matrix, or every method on a matrix. */
function chooseSubject(cases: readonly Case[], chosen: Chosen) {
  const methods = [...groupBy(cases, (item) => item.method)];
  const matrices = [...groupBy(cases, (item) => item.matrix)];
  const bars = (list: readonly Case[]) =>
    list.reduce((sum, item) => sum + contestants(item).size, 0);
  const subjects: (Option & { cases: Case[]; byMatrix: boolean })[] = [
    ...methods.map(([method, list]) => ({
      value: `method ${method}`,
      label: list.length === 1 ? method : `${method} on all matrices`,
      cases: [...list].sort(bySize),
      byMatrix: true,
    })),
    ...matrices
      .filter(([, list]) => list.length > 1)
      .map(([matrix, list]) => ({
        value: `matrix ${matrix.index}`,
        label: `all methods on ${matrix.name}`,
        cases: list,
        byMatrix: false,
      })),
  ].sort((a, b) => bars(b.cases) - bars(a.cases));
  const list = control(
    'subject',
    'Of',
    subjects.map(({ value, label }) => ({ value, label })),
    chosen,
  );
  return { control: list, ...subjects.find((subject) => subject.value === list.value)! };
}

/** Not all matrices have another library's time beside. */
function meanText(compared: number, all: number): string {
  if (all === 1) return '';
  return compared === all ? ', in geometric mean' : `, in geometric mean over ${compared} of them`;
}

export const iterationBars: Figure = {
  id: 'iterations',
  title: 'Time per iteration',
  section: 'Solvers',
  reading:
    'A bar is the time of an iteration: products, preconditioner, vectors and reductions together, without setting up. Shorter is better. Other libraries are there where they have the same method, with as many threads as they can use. Methods with s steps at a time count every step.',
  commands: ['strata solve MATRIX --method cg,ca-cg,gmres,ca-gmres --json FILE'],
  build(view, chosen): Drawing | null {
    const all = casesOf(view.results, 'solve');
    if (all.length === 0) return null;
    const place = placeControls(all, chosen);
    const here = all.filter(place.keeps);
    const subject = chooseSubject(here, chosen);
    const { control: pages, shown } = choosePage(subject.cases, chosen);
    const libraries = distinct(here.flatMap((item) => [...contestants(item).keys()])).filter(
      (name) => name !== strata,
    );
    const names = [strata, ...libraries.sort()];
    const ratios = subject.cases.flatMap((item) => item.best?.overPeer ?? []);
    const mean = geometricMean(ratios);
    const fastest = largestBy(subject.cases, (item) => 1 / (timeOf(item.best) ?? Infinity));
    const what = subject.byMatrix
      ? `${subject.cases[0]!.method} on ${plural(subject.cases.length, 'matrix', 'matrices')}`
      : `${plural(subject.cases.length, 'method')} on ${subject.cases[0]!.matrix.name}`;
    return {
      summary: mean
        ? `${what}: Strata’s iterations are ${number(mean)} times as fast as those of the best other library${meanText(ratios.length, subject.cases.length)}.`
        : `${what}: at least ${seconds(timeOf(fastest?.best ?? fastest?.peer))} per iteration${subject.byMatrix || !fastest ? '' : `, by ${fastest.method}`}.`,
      controls: shownControls([...place.controls, subject.control, pages]),
      table: {
        header: [
          'matrix',
          'method',
          ...names.map((name) => `${name}, per iteration`),
          'over the others',
          'over the classical method',
          'iterations',
          'products',
        ],
        units: Object.fromEntries(
          names.map((name) => [`${name}, per iteration`, 'seconds'] as const),
        ),
        rows: here.map((item) => {
          const found = contestants(item);
          return [
            item.matrix.name,
            item.method,
            ...names.map((name) => timeOf(found.get(name))),
            item.best?.overPeer ?? null,
            overClassical(item, here),
            item.best?.method?.iterations ?? null,
            item.best?.method?.products ?? null,
          ];
        }),
      },
      draw(canvas) {
        const times = shown.flatMap((item) =>
          [...contestants(item).values()].map((result) => timeOf(result)!),
        );
        const unit = secondsUnit(times);
        const groups: BarGroup[] = shown.map((item) => ({
          name: subject.byMatrix ? item.matrix.name : item.method,
          bars: [...contestants(item)].map(([name, result]) => ({
            series: name,
            value: timeOf(result)! / unit.seconds,
            text: `${name}, ${item.method}: ${seconds(timeOf(result))}`,
          })),
        }));
        return drawBars(canvas, groups, {
          label: `time per iteration, ${unit.name}`,
          styles: stylesOf(names),
        });
      },
    };
  },
};
