import { getHeapStatistics } from 'node:v8';
import { expect, it } from 'vitest';
import { DEFAULT_LIMITS } from '../base/index.js';
import { openService } from './service.js';
import { withBodyRoom } from './body-room.js';

it('leaves bodies a share of a heap, and what somebody has chosen', () => {
  const room = (isSet: boolean, heapBytes: number) => withBodyRoom(DEFAULT_LIMITS, isSet, heapBytes).largeBodiesBytes;
  expect(room(false, 480 * 1024 * 1024)).toBe(20 * 1024 * 1024);
  expect(room(true, 512 * 1024 * 1024)).toBe(DEFAULT_LIMITS.largeBodiesBytes);
  expect(room(false, 2 ** 40)).toBe(DEFAULT_LIMITS.largeBodiesBytes);
});

it.each([
  ['nobody', {}, {}, Math.min(Math.floor(getHeapStatistics().heap_size_limit / 24), DEFAULT_LIMITS.largeBodiesBytes)],
  ['the environment', { GRAPHSTEAD_LIMIT_LARGE_BODIES_BYTES: '2000000000' }, {}, 2_000_000_000],
  ['a caller', {}, { largeBodiesBytes: 2_000_000_000 }, 2_000_000_000],
])('a service takes what %s says', async (_, environment, limits, expected) => {
  const service = await openService({ port: 0, logLevel: 'silent', environment, limits });
  expect(service.core.limits.largeBodiesBytes).toBe(expected);
  await service.close();
});
