// kill -9 in the middle of load, over HTTP, and the power gone in every other round: nothing acknowledged is lost, nothing happens twice, streams of events go on
// with Last-Event-ID. `npm run bench -- kill` does the same a hundred times.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { tellsCaches } from '../../src/store/page-cache.js';

const ROUNDS = 5;
const SEED = 20_260;
const script = fileURLToPath(new URL('../../bench/kill-rounds.mjs', import.meta.url));

it('a service that is killed in the middle of load loses and repeats nothing', async () => {
  const run = promisify(execFile)(process.execPath, [script, String(ROUNDS), String(SEED)]);
  const { stdout } = await run.catch((error: { stdout: string }) => error);
  const verdict = JSON.parse(stdout);
  expect(verdict.broken).toEqual([]);
  expect(verdict.rounds).toBe(ROUNDS);
  expect(verdict.powerCuts).toBe(tellsCaches ? 2 : 0);
  expect(verdict.acknowledged).toBeGreaterThan(ROUNDS);
  expect(verdict.events).toBeGreaterThan(0);
}, 300_000);
