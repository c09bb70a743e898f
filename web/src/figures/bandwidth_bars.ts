// Bandwidth per matrix (Reguly and Giles, figures 10 to 12): bytes that a product moves over its
// time, beside what memory delivers.

import { casesOf, champion } from '../cases.ts';
import { shownControls } from '../choices.ts';
import { type Drawing, type Figure } from '../plot.ts';
import { median } from '../statistics.ts';
import { number, percent, plural } from '../text.ts';
import { drawBars } from './bars.ts';
import { bySize, choosePage, placeControls } from './speed_bars.ts';
import { strataStyle } from './charts.ts';

export const bandwidthBars: Figure = {
  id: 'bandwidth-bars',
  title: 'Bandwidth per matrix',
  section: 'Model',
  reading:
    'Bytes that the fastest product of a matrix moves, over its time. The line is what the machine reads from memory; bars beyond it are matrices that a cache holds. For CSR the table also has Reguly’s counts: with every load of x from memory (worst), none (minimum), and as caches are expected to serve them.',
  commands: ['strata spmv MATRIX --json FILE'],
  build(view, chosen): Drawing | null {
    const cases = casesOf(view.results, 'spmv').filter((item) => champion(item)?.gbytes);
    if (cases.length === 0) return null;
    const place = placeControls(cases, chosen);
    const here = cases.filter(place.keeps).sort(bySize);
    const memory = here[0]!.machine.memoryBandwidth;
    const { control: pages, shown } = choosePage(here, chosen);
    const middle = median(here.map((item) => champion(item)!.gbytes!));
    return {
      summary: `${plural(here.length, 'matrix', 'matrices')}: ${number(middle)} GB/s in the median${memory && middle ? `, ${percent(middle / (memory / 1e9))} of what memory delivers` : ''}.`,
      controls: shownControls([...place.controls, pages]),
      table: {
        header: [
          'matrix',
          'product',
          'GB/s',
          'of memory',
          'CSR effective',
          'CSR worst',
          'CSR minimum',
          'CSR caching',
        ],
        units: { 'of memory': 'share' },
        rows: here.map((item) => {
          const traffic = item.results.find((result) => result.traffic)?.traffic;
          const best = champion(item)!;
          return [
            item.matrix.name,
            best.product,
            best.gbytes,
            memory ? best.gbytes! / (memory / 1e9) : null,
            traffic?.effective ?? null,
            traffic?.worst ?? null,
            traffic?.minimum ?? null,
            traffic?.caching ?? null,
          ];
        }),
      },
      draw: (canvas) =>
        drawBars(
          canvas,
          shown.map((item) => ({
            name: item.matrix.name,
            bars: [
              {
                series: 'fastest product',
                value: champion(item)!.gbytes,
                text: `${number(champion(item)!.gbytes)} GB/s\n${champion(item)!.product}`,
              },
            ],
          })),
          {
            label: 'GB/s',
            styles: new Map([['fastest product', strataStyle]]),
            line: memory ? memory / 1e9 : undefined,
            lineLabel: memory ? `memory, ${number(memory / 1e9)} GB/s` : undefined,
          },
        ),
    };
  },
};
