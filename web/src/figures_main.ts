// node figures.mjs DATA.json DIR: every figure that has data as an SVG file, drawn as on the page.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseHTML } from 'linkedom';
import { DataError, pageData } from './data.ts';
import { figures } from './figures/index.ts';
import { applyFilter, noFilter } from './filter.ts';
import { normalise } from './documents/normalise.ts';
import { svgFile } from './svg_file.ts';

function main(): number {
  const [input, folder] = process.argv.slice(2);
  if (!input || !folder) {
    process.stderr.write('usage: node figures.mjs DATA.json DIR\n');
    return 2;
  }
  let report;
  try {
    report = normalise(pageData(JSON.parse(readFileSync(input, 'utf8'))));
  } catch (error) {
    process.stderr.write(
      `figures: ${input}: ${error instanceof DataError || error instanceof SyntaxError ? error.message : String(error)}\n`,
    );
    return 3;
  }
  const { document } = parseHTML('<!doctype html><html><body></body></html>');
  mkdirSync(folder, { recursive: true });
  const view = applyFilter(report, noFilter);
  for (const figure of figures) {
    const drawing = figure.build(view, {});
    if (!drawing) continue;
    const svg = drawing.draw({
      document: document as unknown as Document,
      width: 860,
      interactive: false,
    });
    const file = join(folder, `${figure.id}.svg`);
    writeFileSync(file, svgFile(svg, figure.title, drawing.summary));
    process.stdout.write(`${file}\n`);
  }
  return 0;
}

process.exitCode = main();
