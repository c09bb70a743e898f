// Starts the system's Chromium without a profile and without anything that would use the network.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { chromium } from 'playwright-core';

/** The browser to test with, or null. STRATA_BROWSER names another. */
export function browserPath() {
  const named = process.env.STRATA_BROWSER;
  const candidates =
    named !== undefined
      ? [named]
      : (process.env.PATH ?? '')
          .split(':')
          .flatMap((folder) =>
            ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'].map((name) =>
              join(folder, name),
            ),
          );
  return candidates.find((path) => path && existsSync(path)) ?? null;
}

export async function launch() {
  const server = await chromium.launchServer({
    executablePath: browserPath(),
    headless: true,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-dev-shm-usage',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
  const client = await chromium.connect(server.wsEndpoint());
  return {
    context: await client.newContext({ acceptDownloads: true }),
    /** Ends the browser, even one that does not answer; its own helpers may outlive it a while. */
    close: () => Promise.race([server.kill(), sleep(10_000, undefined, { ref: false })]),
  };
}

/** A page that remembers its errors and every request but that for the file itself. */
export async function open(
  context,
  file,
  { width = 1280, height = 900, scheme = 'light', media = 'screen' } = {},
) {
  const page = await context.newPage();
  const errors = [];
  const requests = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') errors.push(message.text());
  });
  page.on('pageerror', (error) => errors.push(String(error)));
  page.on('request', (request) => {
    if (!request.url().startsWith(`file://${file}`) && !request.url().startsWith('data:'))
      requests.push(request.url());
  });
  await page.setViewportSize({ width, height });
  await page.emulateMedia({ colorScheme: scheme, media });
  await page.goto(`file://${file}`);
  await page.waitForFunction(
    () => document.documentElement.dataset.ready !== undefined,
    undefined,
    { timeout: 60_000 },
  );
  return { page, errors, requests };
}
