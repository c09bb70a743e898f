// Results that belong together: those of a campaign, or of a file that belongs to none. They are of
// one set of matrices, on all of which the same was tried; means and shares are taken over them.

import type { Report, Result } from './documents/report.ts';
import type { View } from './filter.ts';
import { groupBy } from './statistics.ts';

/** The campaign of a result, or the name of its file. */
function collectionOf(result: Result, report: Report): string {
  const file = report.sources[result.source]?.name ?? '';
  return result.campaign || file.replace(/\.jsonl?(\.gz)?$/, '') || 'unnamed file';
}

// Cases are remembered by their list of results: the lists have to be the same ones every time.
const remembered = new WeakMap<readonly Result[], Map<string, Result[]>>();

export function collectionsOf(view: View): ReadonlyMap<string, Result[]> {
  const known = remembered.get(view.results);
  if (known) return known;
  const found = groupBy(view.results, (result) => collectionOf(result, view.report));
  const [only] = found.keys();
  const collections = found.size === 1 ? new Map([[only!, view.results]]) : found;
  remembered.set(view.results, collections);
  return collections;
}
