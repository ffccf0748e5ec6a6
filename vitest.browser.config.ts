import { defineConfig } from 'vitest/config';

// The explorer as a person uses it, and what pages do, in Debian's Chromium: slower than the rest, so not part of `npm test`.
export default defineConfig({
  test: {
    include: ['test/browser/*.browser.test.ts'],
    globalSetup: ['./test/build-once.ts'],
    pool: 'forks',
    maxWorkers: 1,
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // a browser on a busy machine may be slower than any wait; what needed its second try is named in the output
    retry: process.env['CI'] ? 1 : 0,
  },
});
