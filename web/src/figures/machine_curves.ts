// What machines can do: bandwidth over the working set (thesis, figures 4.1 and 4.2), the
// latency–bandwidth fit (4.10), what blocking could win (table 4.5), and the roofline with products
// and powers in it.

import * as Plot from '@observablehq/plot';
import { casesOf, champion } from '../cases.ts';
import type { View } from '../filter.ts';
import type { Profile, Result } from '../documents/report.ts';
import {
  blockingCaches,
  blockingGain,
  halfBandwidthBytes,
  hasFit,
  latestProfiles,
} from '../machine_model.ts';
import { chooseGroup, control, shownControls, optionsOf } from '../choices.ts';
import {
  curve,
  dots,
  type Drawing,
  type Figure,
  frame,
  logDomain,
  logTicks,
  type Point,
  stylesOf,
  yAxis,
  verticalMarks,
  tip,
  xAxis,
} from '../plot.ts';
import { distinct, groupBy } from '../statistics.ts';
import { byteTick, bytes, number, percent, plural, seconds, tick } from '../text.ts';
import { heightFor, legendOf, logChart, linesWithDots, largestGroups } from './charts.ts';

function latest(view: View): Profile[] {
  return latestProfiles(
    view.report.profiles.filter((profile) => view.keepsMachine(profile.machine)),
  );
}

export const bandwidthCurve: Figure = {
  id: 'bandwidth',
  title: 'Bandwidth over the working set',
  section: 'Machines',
  reading:
    'Reading a working set again and again: each step down is a cache that no longer holds it. The level at the right is memory. What lies between two levels is what blocking can win.',
  commands: ['strata machine --backend all --json FILE'],
  build(view, chosen): Drawing | null {
    const profiles = latest(view).filter((profile) => profile.read.length > 1);
    if (profiles.length === 0) return null;
    const machine = control(
      'machine',
      'Machine',
      [
        { value: '', label: 'all, most threads' },
        ...optionsOf(profiles.map((profile) => profile.machine.label)),
      ],
      chosen,
      profiles.length === 1 ? profiles[0]!.machine.label : '',
    );
    const single = profiles.find((profile) => profile.machine.label === machine.value);
    const lines = (single ? [single] : profiles).flatMap((profile) => {
      const byThreads = [...groupBy(profile.read, (point) => point.threads)].sort(
        (a, b) => a[0] - b[0],
      );
      const used = single ? byThreads : byThreads.slice(-1);
      return used.map(([threads, points]) => ({
        name: single
          ? profile.machine.gpu
            ? profile.machine.label
            : plural(threads, 'thread')
          : profile.machine.label + (profile.machine.gpu ? '' : `, ${plural(threads, 'thread')}`),
        points: [...points]
          .sort((a, b) => a.bytes - b.bytes)
          .map((point) => ({
            x: point.bytes,
            y: point.bandwidth / 1e9,
            title: `${profile.machine.label}\n${bytes(point.bytes)}: ${number(point.bandwidth / 1e9)} GB/s`,
          })),
      }));
    });
    const marks = single
      ? [
          ...single.machine.caches.map((cache) => ({
            x: cache.bytes * (cache.level < 3 ? (single.threads ?? 1) : 1),
            label: `L${cache.level}`,
          })),
          ...(single.machine.gpu && single.machine.cacheBytes
            ? [{ x: single.machine.cacheBytes, label: 'L2' }]
            : []),
        ].filter((_, index, list) => !single.machine.gpu || index === list.length - 1)
      : [];
    const highest = Math.max(...lines.flatMap((line) => line.points.map((point) => point.y)));
    const last = lines[lines.length - 1]!.points;
    return {
      summary: single
        ? `${single.machine.label} reads ${number(highest)} GB/s from its caches and ${number(last[last.length - 1]!.y)} GB/s from memory.`
        : `${plural(profiles.length, 'machine')}, up to ${number(highest)} GB/s.`,
      controls: shownControls([machine]),
      table: {
        header: ['working set', 'curve', 'GB/s'],
        units: { 'working set': 'bytes' },
        rows: lines.flatMap((line) => line.points.map((point) => [point.x, line.name, point.y])),
      },
      draw(canvas) {
        const styles = stylesOf(lines.map((line) => line.name));
        const all = lines.flatMap((line) => line.points);
        return logChart(canvas, {
          height: heightFor(canvas, 370, 310),
          legend: legendOf(styles.keys(), styles, 'line'),
          x: {
            label: 'working set',
            values: all.map((point) => point.x),
            room: 1.2,
            format: byteTick,
            pixels: 100,
          },
          y: { label: 'GB/s', values: all.map((point) => point.y), room: 1.25 },
          marks: (x) => [
            ...verticalMarks(marks, x),
            ...linesWithDots(lines, styles, 2.5),
            ...tip(canvas, all),
          ],
        });
      },
    };
  },
};

export const latencyFit: Figure = {
  id: 'latency',
  title: 'Small kernels: the latency–bandwidth fit',
  section: 'Machines',
  reading:
    'A kernel that reads Q bytes from memory takes T + Q/B seconds (Hockney): small ones pay for their start. At n½ half of the bandwidth is reached; pieces of work should be larger. Marks, where there are any, are what was measured.',
  commands: ['strata machine --backend all --json FILE'],
  build(view): Drawing | null {
    const fits = latest(view).filter(hasFit);
    if (fits.length === 0) return null;
    type Fit = (typeof fits)[number];
    const speed = (profile: Fit, size: number) =>
      size / (profile.overhead + size / profile.fitBandwidth) / 1e9;
    const half = halfBandwidthBytes;
    const sizes = fits.flatMap((profile) => profile.fitSamples.map((sample) => sample.bytes));
    const low = Math.min(...fits.map((profile) => half(profile) / 64), ...sizes);
    const high = Math.max(...fits.map((profile) => half(profile) * 64), ...sizes);
    const lines = fits.map((profile) => ({
      name: profile.machine.label,
      points: Array.from({ length: 49 }, (_, i) => low * (high / low) ** (i / 48)).map((size) => ({
        x: size,
        y: speed(profile, size),
        title: `${profile.machine.label}\n${bytes(size)}: ${number(speed(profile, size))} GB/s`,
      })),
    }));
    return {
      summary: fits
        .map(
          (profile) =>
            `${profile.machine.label}: ${seconds(profile.overhead)} and ${number(profile.fitBandwidth / 1e9)} GB/s, n½ = ${bytes(half(profile))}.`,
        )
        .join(' '),
      table: {
        header: [
          'machine',
          'latency',
          'bandwidth, GB/s',
          'n½',
          'off by (rms)',
          'launch or fork',
          'hand-off',
        ],
        units: {
          latency: 'seconds',
          'n½': 'bytes',
          'off by (rms)': 'share',
          'launch or fork': 'seconds',
          'hand-off': 'seconds',
        },
        rows: fits.map((profile) => [
          profile.machine.label,
          profile.overhead,
          profile.fitBandwidth / 1e9,
          half(profile),
          profile.fitError,
          profile.launch,
          profile.handoff,
        ]),
      },
      draw(canvas) {
        const styles = stylesOf(fits.map((profile) => profile.machine.label));
        const samples = fits.flatMap((profile) =>
          profile.fitSamples.map((sample) => ({
            color: styles.get(profile.machine.label)!.color,
            x: sample.bytes,
            y: sample.bandwidth / 1e9,
          })),
        );
        const curves = lines.flatMap((line) => line.points);
        return logChart(canvas, {
          height: heightFor(canvas, 360, 310),
          legend: legendOf(styles.keys(), styles, 'line'),
          x: {
            label: 'bytes read by one kernel',
            values: [low, high],
            room: 1.1,
            format: byteTick,
            pixels: 100,
          },
          y: { label: 'GB/s', values: [...curves, ...samples].map((point) => point.y) },
          marks: () => [
            ...lines.map((line) => curve(line.points, styles.get(line.name)!)),
            Plot.dot(samples, { x: 'x', y: 'y', r: 2.5, stroke: 'color' }),
            Plot.dot(fits, {
              x: half,
              y: (profile: Fit) => speed(profile, half(profile)),
              r: 5,
              fill: 'var(--card)',
              stroke: (profile: Fit) => styles.get(profile.machine.label)!.color,
              strokeWidth: 2,
            }),
            Plot.text(fits, {
              x: half,
              y: (profile: Fit) => speed(profile, half(profile)),
              text: (profile: Fit) => `n½ ${bytes(half(profile))}`,
              dx: 9,
              dy: 8,
              textAnchor: 'start',
              fill: 'var(--ink)',
              stroke: 'var(--card)',
              strokeWidth: 3,
            }),
            ...tip(canvas, curves),
          ],
        });
      },
    };
  },
};

const mostPowers = 12;

export const blockingLimit: Figure = {
  id: 'blocking',
  title: 'What blocking could win',
  section: 'Machines',
  reading:
    'The speed-up of p blocked powers over p plain products if one product reads the matrix from memory and the others from a cache, one after the other (Panzlaff, equation 4.8): 1 / (1/p + (1 − 1/p) / r), where r is the bandwidth of the cache over that of memory. No overhead is in it, so that it never falls.',
  commands: ['strata machine --backend all --json FILE'],
  build(view): Drawing | null {
    const curves = blockingCaches(latest(view));
    if (curves.length === 0) return null;
    const powers = Array.from({ length: mostPowers }, (_, index) => index + 1);
    const best = curves.reduce((a, b) => (b.ratio > a.ratio ? b : a));
    return {
      summary: `At most ${number(blockingGain(best.ratio, 4))} times as fast for p = 4, on ${best.name}: that cache reads ${number(best.ratio)} times as fast as memory.`,
      table: {
        header: ['cache', 'cache over memory', ...powers.map((power) => `p = ${power}`)],
        rows: curves.map((item) => [
          item.name,
          item.ratio,
          ...powers.map((power) => blockingGain(item.ratio, power)),
        ]),
      },
      draw(canvas) {
        const styles = stylesOf(curves.map((item) => item.name));
        const lines = curves.map((item) => ({
          name: item.name,
          points: powers.map((power) => ({
            x: power,
            y: blockingGain(item.ratio, power),
            title: `${item.name}\np = ${power}: ${number(blockingGain(item.ratio, power))} times as fast`,
          })),
        }));
        const all = lines.flatMap((line) => line.points);
        return frame(canvas, {
          height: heightFor(canvas, 340, 300),
          legend: legendOf(styles.keys(), styles, 'line'),
          x: { domain: [0.75, mostPowers + 0.25] },
          y: { domain: [1, Math.max(...all.map((point) => point.y)) * 1.05] },
          marks: [
            ...yAxis({ label: 'times as fast as plain products' }),
            ...xAxis({
              label: 'p',
              ticks: canvas.width < 500 ? powers.filter((power) => power % 2 === 0) : powers,
            }),
            ...linesWithDots(lines, styles, 3),
            ...tip(canvas, all),
          ],
        });
      },
    };
  },
};

export const roofline: Figure = {
  id: 'roofline',
  title: 'Roofline',
  section: 'Model',
  reading:
    'Each mark is a product or the powers of a matrix: its speed over the flops it does per byte it moves. The slanted lines are what memory and cache allow. Marks above the line of memory get part of their bytes from a cache.',
  commands: ['strata spmv MATRIX --json FILE', 'strata mpk MATRIX -p 4 --json FILE'],
  build(view, chosen): Drawing | null {
    const cases = ['spmv', 'mpk'].flatMap((kernel) => casesOf(view.results, kernel));
    const usable = (result: Result | null) =>
      result?.intensity && result.gflops && result.machine.memoryBandwidth ? [result] : [];
    const results = distinct(
      cases.flatMap((item) => [...usable(champion(item)), ...usable(item.peer)]),
    );
    if (results.length === 0) return null;
    const { control: machine, items: here } = chooseGroup(
      'machine',
      'On',
      results,
      (result) => result.machine.label,
      chosen,
    );
    const facts = here[0]!.machine;
    const name = (result: Result) =>
      !result.own
        ? result.family
        : result.kernel === 'mpk'
          ? `powers, ${result.strategy}`
          : `products, ${result.family}`;
    const groups = largestGroups(here, name);
    const shares = here
      .map((result) => result.gflops! / (result.intensity! * (facts.memoryBandwidth! / 1e9)))
      .sort((a, b) => a - b);
    return {
      summary: `${plural(here.length, 'result')} on ${facts.label}; the median reaches ${percent(shares[shares.length >> 1]!)} of what memory allows (${number(facts.memoryBandwidth! / 1e9)} GB/s).`,
      controls: shownControls([machine]),
      table: {
        header: ['matrix', 'product', 'p', 'flop per byte', 'GF/s', 'memory allows, GF/s', 'share'],
        units: { share: 'share' },
        rows: here.map((result) => [
          result.matrix.name,
          result.product,
          result.power,
          result.intensity,
          result.gflops,
          (result.intensity! * facts.memoryBandwidth!) / 1e9,
          (result.gflops! / result.intensity! / facts.memoryBandwidth!) * 1e9,
        ]),
      },
      draw(canvas) {
        const styles = stylesOf(groups.map(([value]) => value));
        const points = here.map((result) => ({
          x: result.intensity!,
          y: result.gflops!,
          title: `${result.matrix.name}\n${result.product}\n${number(result.gflops)} GF/s, ${number(result.intensity)} flop/B`,
        }));
        const x = logDomain(
          points.map((point) => point.x),
          1.4,
        );
        const roofs = [
          { label: 'memory', bandwidth: facts.memoryBandwidth! / 1e9 },
          ...(facts.cacheBandwidth && facts.cacheBandwidth > facts.memoryBandwidth!
            ? [{ label: facts.gpu ? 'L2' : 'cache', bandwidth: facts.cacheBandwidth / 1e9 }]
            : []),
        ];
        const peak = facts.peakFlops ? facts.peakFlops / 1e9 : null;
        const y = logDomain(
          [...points.map((point) => point.y), roofs[0]!.bandwidth * Math.sqrt(x[0] * x[1])],
          1.4,
        );
        const allowed = (bandwidth: number, at: number) =>
          Math.min(bandwidth * at, peak ?? Infinity);
        const lines = roofs.flatMap((roof) => {
          const from = Math.max(x[0], y[0] / roof.bandwidth);
          const to = Math.min(x[1], y[1] / roof.bandwidth);
          if (from >= to) return [];
          const list: Point[] = Array.from(
            { length: 33 },
            (_, i) => from * (to / from) ** (i / 32),
          ).map((at) => ({ x: at, y: allowed(roof.bandwidth, at), title: '' }));
          return [{ ...roof, points: list.filter((point) => point.y <= y[1]) }];
        });
        const roofStyle = (index: number) => ({
          color: 'var(--ink)',
          dash: index === 0 ? undefined : '6 3',
          symbol: 'circle' as const,
        });
        return frame(canvas, {
          height: heightFor(canvas, 430, 340),
          legend: [
            ...lines.map((line, index) => ({
              label: `${line.label}, ${number(line.bandwidth)} GB/s`,
              kind: 'line' as const,
              style: roofStyle(index),
            })),
            ...groups.map(([value]) => ({
              label: value,
              kind: 'dot' as const,
              style: styles.get(value)!,
            })),
          ],
          x: { type: 'log', domain: x },
          y: { type: 'log', domain: y },
          marks: [
            ...yAxis({ label: 'GF/s', ticks: logTicks(y, 8) }),
            ...xAxis({
              label: 'flop per byte moved',
              ticks: logTicks(x, Math.floor(canvas.width / 90)),
              format: tick,
            }),
            ...lines.map((line, index) => curve(line.points, roofStyle(index), 1.5)),
            ...groups.map(([value, list]) =>
              dots(
                list.map((result) => ({ x: result.intensity!, y: result.gflops!, title: '' })),
                styles.get(value)!,
                3.5,
              ),
            ),
            ...tip(canvas, points),
          ],
        });
      },
    };
  },
};
