// npm test: checks the types, builds, and runs unit and browser tests.

import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');

function run(...words) {
  const { status } = spawnSync(process.execPath, words, { cwd: root, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}

run('node_modules/typescript/bin/tsc', '--noEmit');
run('build.mjs');
run(
  '--test',
  '--test-concurrency=1',
  '--test-reporter=spec',
  'test/unit.test.mjs',
  'test/commands.test.mjs',
  'test/browser.test.mjs',
);
