import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { shardOf } from './keys.js';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

function heapBytes(): number {
  collect();
  return process.memoryUsage().heapUsed;
}

it('keeps nothing of long texts that somebody takes for ids', () => {
  const before = heapBytes();
  for (let i = 0; i < 64; i++) shardOf(`agent_${i}`.padEnd(1_000_000, 'x'));
  expect(heapBytes() - before).toBeLessThan(16_000_000);
});
