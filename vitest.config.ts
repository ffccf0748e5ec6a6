import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts', 'examples/**/*.test.ts'],
    globalSetup: ['./test/build-once.ts'],
    pool: 'forks',
    maxWorkers: Math.max(2, availableParallelism()),
    // generous: a busy machine must not fail a test that is only slow there
    testTimeout: 120_000,
    hookTimeout: 180_000,
  },
});
