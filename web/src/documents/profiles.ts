// What `strata machine` measured: bandwidths by working set, STREAM, and the latency–bandwidth fit.

import { isObject } from '../data.ts';
import { oneLine } from '../text.ts';
import type { Machine } from './machines.ts';
import { finite, type JsonObject, objectOf, objectsOf, positive } from './reading.ts';
import type { Profile } from './report.ts';

/** Reads a profile, and tells the machine what is better known from it than from other results. */
export function readProfile(machine: Machine, raw: JsonObject, time: string): Profile {
  // Documents of earlier versions call the fit ramp_up.
  const fit = objectOf(isObject(raw.hockney) ? raw.hockney : raw.ramp_up);
  const plateaus = readCurve(raw.plateaus);
  const most = Math.max(0, ...plateaus.map((plateau) => plateau.threads));
  const own = plateaus
    .filter((plateau) => plateau.threads === most)
    .sort((a, b) => a.bytes - b.bytes);
  const profile: Profile = {
    machine,
    plateaus: own,
    threads: positive(raw.threads),
    read: readCurve(raw.read),
    stream: Object.entries(objectOf(raw.stream)).flatMap(([key, value]) => {
      const name = /^(.*)_bytes_per_second$/.exec(key);
      const bandwidth = positive(value);
      return name && bandwidth ? [{ name: oneLine(name[1]!), bandwidth }] : [];
    }),
    overhead: positive(fit.overhead_seconds),
    fitBandwidth: positive(fit.bytes_per_second),
    fitError: finite(fit.relative_error),
    fitSamples: objectsOf(fit.samples).flatMap((sample) => {
      const size = positive(sample.bytes);
      const duration = positive(sample.seconds);
      return size && duration ? [{ bytes: size, bandwidth: size / duration }] : [];
    }),
    memory: positive(raw.memory_bytes_per_second),
    launch: positive(raw.launch_seconds) ?? positive(raw.fork_join_seconds),
    handoff: positive(raw.handoff_seconds),
    time,
  };
  machine.memoryBandwidth ??= profile.memory ?? own[own.length - 1]?.bandwidth ?? null;
  machine.cacheBandwidth ??= positive(raw.l2_bytes_per_second) ?? own[0]?.bandwidth ?? null;
  machine.cacheBytes ??= positive(raw.l2_bytes) ?? positive(raw.cache_bytes);
  machine.privateCacheBytes ??= positive(raw.private_cache_bytes);
  machine.deviceMemoryBytes ??= positive(objectOf(raw.device).memory_bytes);
  machine.peakFlops ??= positive(raw.flops_per_second);
  return profile;
}

function readCurve(value: unknown): Profile['read'] {
  return objectsOf(value).flatMap((point) => {
    const size = positive(point.bytes);
    const bandwidth = positive(point.bytes_per_second);
    return size && bandwidth
      ? [{ threads: positive(point.threads) ?? 1, bytes: size, bandwidth }]
      : [];
  });
}
