// node figures.mjs DATA.json DIR [FIGURE…]: figures as SVG files, drawn as on the page: those that
// are named, or all that have data. Prints the names of the files.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseHTML } from 'linkedom';
import { DataError, pageData } from './data.ts';
import { normalise } from './documents/normalise.ts';
import { figures } from './figures/index.ts';
import { applyFilter, noFilter } from './filter.ts';
import { overview } from './figures/speed_bars.ts';
import { svgFile } from './svg_file.ts';

// What C++ makes of them: wrong usage, and input that cannot be used.
const wrongUsage = 2;
const wrongInput = 3;

class Failure extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

function main([input, folder, ...names]: string[]): void {
  if (!input || !folder)
    throw new Failure(wrongUsage, 'usage: node figures.mjs DATA.json DIR [FIGURE…]');
  const unknown = names.find((name) => !figures.some((figure) => figure.id === name));
  if (unknown !== undefined)
    throw new Failure(
      wrongUsage,
      `there is no figure ${JSON.stringify(unknown)}: ${figures.map((figure) => figure.id).join(', ')}`,
    );
  const view = applyFilter(readReport(input), noFilter);
  const { document } = parseHTML('<!doctype html><html><body></body></html>');
  mkdirSync(folder, { recursive: true });
  for (const figure of figures) {
    if (names.length > 0 && !names.includes(figure.id)) continue;
    const drawing = figure.build(view, { page: overview });
    if (drawing) {
      const file = join(folder, `${figure.id}.svg`);
      writeFileSync(file, svgFile(figure, drawing, document as unknown as Document));
      process.stdout.write(`${file}\n`);
    } else if (names.length > 0) {
      throw new Failure(
        wrongInput,
        `the results have no data for the figure ${figure.id}; this gives it: ${figure.commands.join('; ')}`,
      );
    }
  }
}

function readReport(input: string) {
  try {
    return normalise(pageData(JSON.parse(readFileSync(input, 'utf8'))));
  } catch (error) {
    const reason =
      error instanceof DataError || error instanceof SyntaxError ? error.message : String(error);
    throw new Failure(wrongInput, `${input}: ${reason}`);
  }
}

try {
  main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof Failure)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = error.status;
}
