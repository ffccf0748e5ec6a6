import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Contended } from './contended.js';

describe('keys that are held for a next try', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  const loser = (contended: Contended) => {
    const claim = contended.claim();
    claim.lost = true;
    return claim;
  };

  it('are waited for by those that write one of them, and by nobody else', async () => {
    const contended = new Contended();
    const mine = loser(contended);
    await mine.enter(async () => ['a', 'b']);
    await contended.claim().enter(async () => ['c']);
    let passed = false;
    const other = contended
      .claim()
      .enter(async () => ['b'])
      .then(() => {
        passed = true;
      });
    await vi.advanceTimersByTimeAsync(5_000);
    expect(passed).toBe(false);
    mine.letGo();
    await other;
    expect(contended.claim().holds.size).toBe(0);
  });

  it('are let go after a while, whatever became of who holds them', async () => {
    const contended = new Contended();
    const gone = loser(contended);
    await gone.enter(async () => ['a']);
    await vi.advanceTimersByTimeAsync(10_001);
    expect([gone.holding, contended.claim().holds.size]).toEqual([true, 0]);
    // what somebody else holds since is not let go with them
    const next = loser(contended);
    await next.enter(async () => ['a']);
    gone.letGo();
    expect(contended.claim().holds.size).toBe(1);
    next.letGo();
  });

  it('are those of the newest try alone', async () => {
    const contended = new Contended();
    const mine = loser(contended);
    await mine.enter(async () => ['a']);
    await mine.enter(async () => ['b']);
    expect([...contended.claim().holds.keys()]).toEqual(['b']);
    mine.letGo();
    expect(contended.claim().holds.size).toBe(0);
  });

  it('are none of one that writes very many', async () => {
    const contended = new Contended();
    await loser(contended).enter(async () => Array.from({ length: 1_001 }, (_, i) => String(i)));
    expect(contended.claim().holds.size).toBe(0);
  });
});
