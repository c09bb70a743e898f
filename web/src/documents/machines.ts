// Which machine a result comes from. A name is not enough: two machines often have the same one.
// Facts that do not change from run to run tell them apart, and labels mention the facts that differ.

import { asText, isObject } from '../data.ts';
import { oneLine } from '../text.ts';
import { type JsonObject, objectOf, positive } from './reading.ts';

export interface Machine {
  index: number;
  label: string; // unique among the machines of a report
  gpu: boolean;
  cpu: string;
  cores: number | null;
  memoryBytes: number | null; // of the host
  deviceMemoryBytes: number | null; // of a GPU
  architecture: string;
  host: string;
  os: string;
  compiler: string;
  caches: { level: number; bytes: number }[];
  memoryBandwidth: number | null; // bytes per second, reading
  cacheBandwidth: number | null;
  cacheBytes: number | null; // what caches hold: all of a processor, L2 of a GPU
  privateCacheBytes: number | null;
  peakFlops: number | null;
}

// Arm processors say who made them by numbers (the MIDR register); these are the common servers.
const armParts: Record<string, string> = {
  '0x41/0xd0c': 'Arm Neoverse N1',
  '0x41/0xd40': 'Arm Neoverse V1',
  '0x41/0xd49': 'Arm Neoverse N2',
  '0x41/0xd4f': 'Arm Neoverse V2',
  '0x41/0xd83': 'Arm Neoverse V3',
  '0x41/0xd8e': 'Arm Neoverse N3',
};

export function processorName(raw: string): string {
  const arm = /^implementer (0x[0-9a-f]+), part (0x[0-9a-f]+)$/i.exec(raw);
  if (arm) return armParts[`${arm[1]!.toLowerCase()}/${arm[2]!.toLowerCase()}`] ?? raw;
  return raw
    .replace(/\((R|TM|C)\)/gi, '')
    .replace(/\s+@\s+[\d.]+\s*GHz/i, '')
    .replace(/\b(CPU|Processor)\b/g, '')
    .replace(/\s+/g, ' ')
    .trim();
}

/** What a document says about the computer it was written on. */
function hostFacts(document: JsonObject, host: string | undefined) {
  const raw = objectOf(document.machine);
  const name = typeof document.machine === 'string' ? document.machine : (asText(raw.cpu) ?? '');
  const cpu = oneLine(processorName(name)) || 'unknown processor';
  const cores = positive(raw.cores) ?? positive(raw.threads);
  const memoryBytes = positive(raw.memory_bytes);
  const architecture = oneLine(raw.architecture);
  const caches = readCaches(raw.caches);
  // Memory differs by some kilobytes between boots of one machine.
  const memory = memoryBytes === null ? '?' : Math.round(memoryBytes / 2 ** 30);
  const key = JSON.stringify([cpu, cores, memory, architecture, caches]);
  const hostName = oneLine(host ?? asText(raw.host) ?? '');
  return { raw, cpu, cores, memoryBytes, architecture, caches, key, hostName };
}

interface Facts extends Machine {
  key: string;
}

/** Collects the machines of all runs; results refer to them by index. */
export class Machines {
  private readonly known = new Map<string, Facts>();
  private readonly list: Facts[] = [];
  private readonly hosts = new Map<string, Set<string>>(); // by facts

  /**
   * Takes note of the host of a document, if it has one. To be called for all documents first: those
   * that do not say where they were written are taken to be of the only host with their facts.
   */
  expect(document: JsonObject, host: string | undefined): void {
    const { key, hostName } = hostFacts(document, host);
    if (hostName === '') return;
    const known = this.hosts.get(key);
    if (known) known.add(hostName);
    else this.hosts.set(key, new Set([hostName]));
  }

  /** The machine of a result; `gpuName` if it ran on a GPU. */
  find(document: JsonObject, host: string | undefined, gpuName: string | null): Machine {
    const given = hostFacts(document, host);
    const { raw, cpu, cores, memoryBytes, architecture, caches } = given;
    const gpu = objectOf(raw.gpu);
    const device = gpuName === null ? null : oneLine(asText(gpu.name) ?? gpuName) || 'GPU';
    const hosts = this.hosts.get(given.key);
    const hostName = given.hostName || (hosts?.size === 1 ? [...hosts][0]! : '');
    const key = JSON.stringify([given.key, device, hostName]);
    let machine = this.known.get(key);
    if (!machine) {
      machine = {
        key,
        index: this.list.length,
        label: '',
        gpu: device !== null,
        cpu: device ?? cpu,
        cores,
        memoryBytes,
        deviceMemoryBytes: null,
        architecture,
        host: hostName,
        os: oneLine(raw.os),
        compiler: oneLine(raw.compiler),
        caches,
        memoryBandwidth: null,
        cacheBandwidth: null,
        cacheBytes: null,
        privateCacheBytes: null,
        peakFlops: null,
      };
      this.known.set(key, machine);
      this.list.push(machine);
    }
    const facts = machine.gpu ? gpu : raw;
    if (machine.gpu) machine.deviceMemoryBytes ??= positive(gpu.memory_bytes);
    machine.memoryBandwidth =
      positive(facts.memory_read_bytes_per_second) ?? machine.memoryBandwidth;
    machine.cacheBytes =
      positive(machine.gpu ? facts.l2_bytes : facts.cache_bytes) ?? machine.cacheBytes;
    machine.cacheBandwidth = positive(facts.l2_read_bytes_per_second) ?? machine.cacheBandwidth;
    if (!machine.gpu)
      machine.privateCacheBytes = positive(raw.private_cache_bytes) ?? machine.privateCacheBytes;
    return machine;
  }

  /** Gives every machine a label of its own. Call it once, when all runs have been seen. */
  named(): Machine[] {
    const memory = (m: Machine) =>
      m.memoryBytes ? `${Math.round(m.memoryBytes / 2 ** 30)} GiB` : '';
    const facts: ((m: Machine) => string)[] = [
      (m) => (m.host ? `on ${m.host}` : ''),
      (m) => (m.cores ? `${m.cores} cores` : ''),
      memory,
      (m) => m.architecture,
      (m) =>
        m.caches.map((cache) => `L${cache.level} ${Math.round(cache.bytes / 1024)} kiB`).join(' '),
    ];
    const parts = this.list.map((m) => [
      m.cpu,
      ...(m.gpu || !m.cores ? [] : [`${m.cores} ${m.cores === 1 ? 'core' : 'cores'}`]),
    ]);
    const label = (i: number) => parts[i]!.join(', ');
    for (const fact of facts) {
      const groups = new Map<string, number[]>();
      this.list.forEach((_, i) => groups.set(label(i), [...(groups.get(label(i)) ?? []), i]));
      for (const group of groups.values()) {
        if (group.length < 2 || new Set(group.map((i) => fact(this.list[i]!))).size < 2) continue;
        for (const i of group) {
          const text = fact(this.list[i]!);
          if (text && !parts[i]!.includes(text)) parts[i]!.push(text);
        }
      }
    }
    const used = new Map<string, number>();
    this.list.forEach((machine, i) => {
      const count = (used.get(label(i)) ?? 0) + 1;
      used.set(label(i), count);
      machine.label = count === 1 ? label(i) : `${label(i)} (${count})`;
    });
    return this.list;
  }
}

function readCaches(value: unknown): { level: number; bytes: number }[] {
  if (!Array.isArray(value)) return [];
  const caches: { level: number; bytes: number }[] = [];
  for (const cache of value) {
    if (!isObject(cache) || cache.type === 'Instruction') continue;
    const level = positive(cache.level);
    const size = positive(cache.bytes);
    if (level && size && !caches.some((other) => other.level === level))
      caches.push({ level, bytes: size });
  }
  return caches;
}
