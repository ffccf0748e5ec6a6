import { defineConfig } from 'vitest/config';

// The explorer as a person uses it, and what pages do, in Debian's Chromium: slower than the rest, so not part of `npm test`.
export default defineConfig({
  test: {
    include: ['test/browser/*.browser.test.ts'],
    globalSetup: ['./test/build-once.ts'],
    pool: 'forks',
    maxWorkers: 1,
    // generous, as in vitest.config.ts, and more than a page waits for one thing (test/browser/page.ts)
    testTimeout: 240_000,
    hookTimeout: 240_000,
    expect: { poll: { timeout: 60_000 } },
    // a browser may be slower still where others work too; what needed its second try is named in the output
    retry: process.env['CI'] ? 1 : 0,
  },
});
