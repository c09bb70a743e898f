// What profiles say about machines: the latest of each, bandwidths at the plateaus, n½, and what
// blocking could win.

import type { Machine } from './documents/machines.ts';
import type { Profile } from './documents/report.ts';
import { bytes } from './text.ts';

export function latestProfiles(profiles: Iterable<Profile>): Profile[] {
  const latest = new Map<Machine, Profile>();
  for (const profile of profiles) {
    const other = latest.get(profile.machine);
    if (!other || profile.time >= other.time) latest.set(profile.machine, profile);
  }
  return [...latest.values()];
}

/** Bytes per second of reading from memory. */
export function memoryBandwidth(profile: Profile): number | null {
  return profile.memory ?? profile.plateaus[profile.plateaus.length - 1]?.bandwidth ?? null;
}

/** The last level before memory; null where one level is all there is. */
export function lastCache(profile: Profile): Profile['plateaus'][number] | null {
  return profile.plateaus[profile.plateaus.length - 2] ?? null;
}

/** Whether a profile has a latency–bandwidth fit (Hockney; Panzlaff, equation 4.12). */
export function hasFit(
  profile: Profile,
): profile is Profile & { overhead: number; fitBandwidth: number } {
  return profile.overhead !== null && profile.fitBandwidth !== null;
}

/** The bytes at which half of the bandwidth of the fit is reached. */
export function halfBandwidthBytes(profile: { overhead: number; fitBandwidth: number }): number {
  return profile.overhead * profile.fitBandwidth;
}

/** Caches that windows may be cut for, and how many times as fast as memory they are. */
export function blockingCaches(profiles: readonly Profile[]): { name: string; ratio: number }[] {
  return profiles
    .flatMap((profile) => {
      const memory = memoryBandwidth(profile);
      if (memory === null) return [];
      // The first level of a processor's caches is too small for windows.
      const firstLevel = profile.machine.caches.find((cache) => cache.level === 1)?.bytes ?? 0;
      const tooSmall = profile.machine.gpu ? 0 : 1.5 * firstLevel * (profile.threads ?? 1);
      return profile.plateaus
        .slice(0, -1)
        .filter((plateau) => plateau.bytes > tooSmall)
        .map((plateau) => ({
          name: `${profile.machine.label}, in ${bytes(plateau.bytes)}`,
          ratio: plateau.bandwidth / memory,
        }));
    })
    .filter((item) => item.ratio > 1.02);
}

/** The speed-up of p blocked powers if all but the first product read from the cache (Panzlaff, equation 4.8). */
export function blockingGain(ratio: number, power: number): number {
  return 1 / (1 / power + (1 - 1 / power) / ratio);
}
