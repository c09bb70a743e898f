// Turns documents, collected documents and results files of campaigns into page data, and embeds
// it in the template, as `strata report` does: for development and tests.
//
//   node test/embed.mjs OUT.html FILE…     node test/embed.mjs --data OUT.json FILE…

import { readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync, gzipSync } from 'node:zlib';

export const dist = join(dirname(fileURLToPath(import.meta.url)), '..', 'dist');

export function toPageData(inputs, title = 'Strata report') {
  const data = { strata_report: 1, title, made: new Date().toISOString(), sources: [], runs: [] };
  for (const { name, text } of inputs) {
    const source = data.sources.length;
    const problems = [];
    data.sources.push({ name, problems });
    const lines = text.split('\n');
    const isCampaign = /^\s*\{\s*"strata_results"/.test(text);
    if (isCampaign) {
      const torn = lines.pop();
      if (torn) problems.push('the last line is torn: it was left out');
      lines.forEach((line, number) => {
        try {
          const { campaign, host, status, reason, seconds, settings, document, ...rest } =
            JSON.parse(line);
          data.runs.push({
            source,
            campaign,
            case: rest.case,
            host,
            status: status ?? 'done',
            reason,
            seconds,
            settings,
            document,
          });
        } catch {
          problems.push(`line ${number + 1} is not JSON`);
        }
      });
      continue;
    }
    let whole;
    try {
      whole = JSON.parse(text);
    } catch {
      problems.push('it is not JSON');
      continue;
    }
    const { runs, ...outer } = whole;
    if (!Array.isArray(runs)) data.runs.push({ source, status: 'done', document: whole });
    else
      for (const run of runs)
        data.runs.push({ source, status: 'done', document: { ...outer, ...run } });
  }
  return data;
}

export function embed(data, template = readFileSync(join(dist, 'report.html'), 'utf8')) {
  return template.replace('<!--STRATA-DATA-->', () =>
    gzipSync(Buffer.from(JSON.stringify(data))).toString('base64'),
  );
}

export function readInputs(files) {
  return files.map((file) => {
    const bytes = readFileSync(file);
    const text = (file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8');
    return { name: basename(file), text };
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const words = process.argv.slice(2);
  const asData = words[0] === '--data';
  if (asData) words.shift();
  const [output, ...files] = words;
  const data = toPageData(readInputs(files));
  writeFileSync(output, asData ? JSON.stringify(data) : embed(data));
}
