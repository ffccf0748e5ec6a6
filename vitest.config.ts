import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { useMemoryFolder } from './test/memory-folder.js';
import { SharedLast } from './test/shared-last.js';

useMemoryFolder();

// Rooms whose modules keep nothing but what is the same for everybody, and services in the test's own process: their test
// files share processes, and load the rooms once in each. To load the server's for one file takes longer than most files do.
// All others have a process of their own, and so must whatever mocks a module.
const SHARED = [
  'src/{api,commit,dql,graph,mcp,outbound,sdl,server,values}/**/*.test.ts',
  'test/{clients,fuzz,spec,unit-conformance}/*.test.ts',
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
      {
        extends: true,
        test: {
          name: 'own',
          include: ['src/**/*.test.ts', 'test/**/*.test.ts', 'examples/**/*.test.ts'],
          // the browser's need one, and `npm test` needs none: vitest.browser.config.ts runs them
          exclude: ['**/node_modules/**', 'test/browser/**', ...SHARED],
        },
      },
      // what a test that failed has put in a place of everybody's is not the next one's to find
      { extends: true, test: { name: 'shared', include: SHARED, isolate: false, restoreMocks: true } },
    ],
  },
});
