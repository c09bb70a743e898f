// The page's modules, bundled for node, so that tests can import what is written in TypeScript.

import { build } from 'esbuild';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');

export async function load(...names) {
  const folder = mkdtempSync(join(tmpdir(), 'strata-modules-'));
  try {
    const outfile = join(folder, 'modules.mjs');
    await build({
      stdin: {
        contents: names.map((name) => `export * from './src/${name}.ts';`).join('\n'),
        resolveDir: root,
        loader: 'ts',
      },
      bundle: true,
      format: 'esm',
      platform: 'node',
      outfile,
      logLevel: 'warning',
    });
    return await import(pathToFileURL(outfile).href);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
