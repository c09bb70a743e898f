// The page data: how it gets from the file into memory. It lies in the page as base64 of gzip of
// JSON, so that nothing in it can be mistaken for markup.

export interface PageData {
  title: string;
  made: string;
  sources: { name: string; problems: string[] }[];
  runs: Run[];
}

export interface Run {
  source: number;
  campaign?: string;
  case?: string;
  host?: string;
  status: string;
  reason?: string;
  seconds?: number;
  settings?: Record<string, unknown>;
  document: Record<string, unknown> | null;
}

export class DataError extends Error {}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function asText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : undefined;
}

/** Takes whatever was parsed and keeps what has the right shape. */
export function pageData(value: unknown): PageData {
  if (!isObject(value)) throw new DataError('the data of this page is not an object');
  if (value.strata_report === undefined)
    throw new DataError('the data of this page is not that of a Strata report');
  const sources = (Array.isArray(value.sources) ? value.sources : []).map((source: unknown) => ({
    name: (isObject(source) ? asText(source.name) : asText(source)) ?? 'unnamed',
    problems:
      isObject(source) && Array.isArray(source.problems)
        ? source.problems.map((problem) => String(problem))
        : [],
  }));
  const runs = (Array.isArray(value.runs) ? value.runs : []).filter(isObject).map((run): Run => ({
    source: typeof run.source === 'number' ? run.source : 0,
    campaign: asText(run.campaign),
    case: asText(run.case),
    host: asText(run.host),
    status: asText(run.status) ?? 'done',
    reason: asText(run.reason),
    seconds: typeof run.seconds === 'number' ? run.seconds : undefined,
    settings: isObject(run.settings) ? run.settings : undefined,
    document: isObject(run.document) ? run.document : null,
  }));
  return {
    title: asText(value.title) ?? 'Strata report',
    made: asText(value.made) ?? '',
    sources,
    runs,
  };
}

export async function decode(base64: string): Promise<PageData> {
  const packed = base64.replace(/\s+/g, '');
  if (packed === '' || packed.startsWith('<!--'))
    throw new DataError(
      'this page has no results in it yet: strata report RESULTS… -o report.html writes one that has',
    );
  let json: string;
  try {
    const binary = atob(packed);
    const raw = new Uint8Array(binary.length);
    for (let i = 0; i < binary.length; ++i) raw[i] = binary.charCodeAt(i);
    const stream = new Blob([raw]).stream().pipeThrough(new DecompressionStream('gzip'));
    json = await new Response(stream).text();
  } catch {
    throw new DataError('the data of this page is damaged: it does not unpack');
  }
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    throw new DataError('the data of this page is damaged: it is not JSON');
  }
  return pageData(value);
}
