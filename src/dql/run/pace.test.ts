import { expect, it } from 'vitest';
import { DEFAULT_LIMITS } from '../../base/index.js';
import { Pace } from './pace.js';

const limits = { ...DEFAULT_LIMITS, yieldMs: 0 };

it('gives up in a full heap, but not what has hardly begun', async () => {
  const pace = new Pace({ limits }, { mustGive: () => true });
  for (let pauses = 0; pauses < 5; pauses++) await pace.pause();
  await expect(pace.pause()).rejects.toMatchObject({
    code: 'OVERLOADED',
    fix: expect.stringContaining('max-old-space-size'),
  });
});

it('goes on while there is room', async () => {
  const pace = new Pace({ limits }, { mustGive: () => false });
  for (let pauses = 0; pauses < 20; pauses++) await pace.pause();
});
