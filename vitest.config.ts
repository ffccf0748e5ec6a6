import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { useMemoryFolder } from './test/memory-folder.js';
import { SharedLast } from './test/shared-last.js';

useMemoryFolder();

// Test files that have a process of their own: of what reaches to the system, of what starts processes, and whatever mocks a module
// or looks at its process as a whole. All others share processes and load the rooms once in each, since modules keep nothing
// but what is the same for everybody: to load the server's for one file takes longer than most files do.
const OWN = [
  'src/{cli,store}/**/*.test.ts',
  'test/*.test.ts',
  'test/{cli,contract}/**/*.test.ts',
  'examples/**/*.test.ts',
  'src/agents/keys.test.ts',
  'src/agents/process/host-pool.test.ts',
  'src/base/private-folder.test.ts',
  'src/functions/{bundle,watch}.test.ts',
];

export default defineConfig({
  test: {
    globalSetup: ['./test/build-once.ts'],
    setupFiles: ['./test/patterns.ts'],
    pool: 'forks',
    maxWorkers: Math.max(2, availableParallelism()),
    // generous: a busy machine must not fail a test that is only slow there
    testTimeout: 120_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 60_000 } },
    sequence: { sequencer: SharedLast },
    projects: [
      { extends: true, test: { name: 'own', include: OWN } },
      {
        extends: true,
        test: {
          name: 'shared',
          include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
          // the browser's need one, and `npm test` needs none: vitest.browser.config.ts runs them
          exclude: ['**/node_modules/**', 'test/browser/**', ...OWN],
          isolate: false,
          // what a test that failed has put in a place of everybody's is not the next one's to find
          restoreMocks: true,
        },
      },
    ],
  },
});
