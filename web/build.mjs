// Bundles the page into one file without references to others, and the program that writes figures.

import { build } from 'esbuild';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const outdir = process.argv[2] ?? join(here, 'dist');
const common = {
  bundle: true,
  minify: true,
  write: false,
  legalComments: 'none',
  logLevel: 'warning',
  charset: 'utf8',
  absWorkingDir: here,
};

const page = await build({
  ...common,
  entryPoints: ['src/page.ts'],
  format: 'iife',
  target: 'es2022',
  platform: 'browser',
});
const style = await build({ ...common, entryPoints: ['src/style.css'] });
const figures = await build({
  ...common,
  entryPoints: ['src/figures_main.ts'],
  format: 'esm',
  target: 'node18',
  platform: 'node',
  // linkedom asks for this package only where a page draws on a canvas.
  external: ['canvas'],
  banner: {
    js: "import { createRequire as makeRequire } from 'node:module'; const require = makeRequire(import.meta.url);",
  },
});

// A script element ends at the first "</script", and "<!--" changes how its text is read.
const script = page.outputFiles[0].text
  .replaceAll('</script', '<\\/script')
  .replaceAll('<!--', '<\\!--');
const template = readFileSync(join(here, 'src/template.html'), 'utf8')
  .replace('/*STYLE*/', () => style.outputFiles[0].text.trim())
  .replace('/*SCRIPT*/', () => script.trim());
if (template.split('<!--STRATA-DATA-->').length !== 2)
  throw new Error('the template needs the marker of its data exactly once');

mkdirSync(outdir, { recursive: true });
writeFileSync(join(outdir, 'report.html'), template);
writeFileSync(join(outdir, 'figures.mjs'), figures.outputFiles[0].text);
for (const name of ['report.html', 'figures.mjs']) {
  console.log(`${name} ${(readFileSync(join(outdir, name)).length / 1000).toFixed(0)} kB`);
}
