// Choices that a figure offers, such as the machine or the matrix.

import { groupBy } from './statistics.ts';

export interface Option {
  value: string;
  label: string;
}

export interface Control {
  id: string;
  label: string;
  value: string;
  options: Option[];
}

/** What the reader has chosen so far, by the ids of controls. */
export type Chosen = Readonly<Record<string, string>>;

/** The choice of a control: what was asked for if there is such an option, else the first. */
export function control(
  id: string,
  label: string,
  options: Option[],
  chosen: Chosen,
  usual?: string,
): Control {
  const has = (value: string | undefined) =>
    value !== undefined && options.some((option) => option.value === value);
  const value = has(chosen[id]) ? chosen[id]! : has(usual) ? usual! : (options[0]?.value ?? '');
  return { id, label, value, options };
}

export function optionsOf(values: Iterable<string>): Option[] {
  return [...values].map((value) => ({ value, label: value }));
}

/** One group of items at a time, that of the largest weight first; by default, of the most items. */
export function chooseGroup<T>(
  id: string,
  label: string,
  items: readonly T[],
  name: (item: T) => string,
  chosen: Chosen,
  weight: (group: readonly T[]) => number = (group) => group.length,
): { control: Control; items: T[] } {
  const groups = [...groupBy(items, name)].sort((a, b) => weight(b[1]) - weight(a[1]));
  const list = control(id, label, optionsOf(groups.map(([value]) => value)), chosen);
  return { control: list, items: groups.find(([value]) => value === list.value)?.[1] ?? [] };
}

/** Those that offer something to choose from. */
export function shownControls(controls: readonly Control[]): Control[] {
  return controls.filter((item) => item.options.length > 1);
}

/** What was chosen among several, for files and paper, where there are no lists to look at. */
export function choicesText(controls: readonly Control[]): string {
  return controls
    .filter((item) => item.id !== 'order')
    .map((item) => {
      const chosen = item.options.find((option) => option.value === item.value);
      return `${item.label}: ${chosen?.label ?? item.value}`;
    })
    .join(' · ');
}
