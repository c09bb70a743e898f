// How values are read out of JSON that anybody may have written: what has another type than it
// should is as good as missing.

import { isObject } from '../data.ts';

export type JsonObject = Record<string, unknown>;

export function finite(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

export function positive(value: unknown): number | null {
  const result = finite(value);
  return result !== null && result > 0 ? result : null;
}

/** The object, or one without keys. */
export function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

export function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The objects of a list; whatever else is in it is left out. */
export function objectsOf(value: unknown): JsonObject[] {
  return listOf(value).filter(isObject);
}
