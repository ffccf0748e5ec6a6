import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts', 'examples/**/*.test.ts'],
    // these need a browser, and `npm test` needs none: vitest.browser.config.ts runs them
    exclude: ['**/node_modules/**', 'test/browser/**'],
    globalSetup: ['./test/build-once.ts'],
    setupFiles: ['./test/patterns.ts'],
    pool: 'forks',
    maxWorkers: Math.max(2, availableParallelism()),
    // generous: a busy machine must not fail a test that is only slow there
    testTimeout: 120_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 60_000 } },
  },
});
