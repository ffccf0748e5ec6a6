import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Contended } from './contended.js';
import type { TransactionKeys } from './contract.js';

describe('keys that are held for a next try', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  const writing = (keys: readonly string[]) => async () => ({ own: keys, touches: keys });
  const loser = (contended: Contended) => {
    const claim = contended.claim();
    claim.lost = true;
    return claim;
  };

  it('are waited for by those that write one of them, and by nobody else', async () => {
    const contended = new Contended();
    const mine = loser(contended);
    await mine.enter(writing(['a', 'b']));
    await contended.claim().enter(writing(['c']));
    let passed = false;
    const other = contended
      .claim()
      .enter(writing(['b']))
      .then(() => {
        passed = true;
      });
    await vi.advanceTimersByTimeAsync(5_000);
    expect(passed).toBe(false);
    mine.letGo();
    await other;
    expect(contended.claim().holds.size).toBe(0);
  });

  it('are those of what was read, too, for whoever writes in it', async () => {
    const contended = new Contended();
    const mine = loser(contended);
    await mine.enter(async () => ({ own: ['p name', 'u name 1'], touches: ['p name', 'u name 1'] }));
    const passed: string[] = [];
    const enter = (who: string, keys: TransactionKeys, claim = contended.claim()) =>
      claim.enter(async () => keys).then(() => passed.push(who));
    const others = [
      enter('reads', { own: ['p name', 'u age 2'], touches: ['p age', 'u age 2'] }),
      enter('writes', { own: ['u name 2'], touches: ['p name', 'u name 2'] }),
      enter('has lost', { own: ['p name', 'u age 2'], touches: ['p age', 'u age 2'] }, loser(contended)),
    ];
    await vi.advanceTimersByTimeAsync(5_000);
    expect(passed).toEqual(['reads']);
    mine.letGo();
    await Promise.all(others);
    expect(passed).toHaveLength(3);
  });

  it('are let go after a while, whatever became of who holds them', async () => {
    const contended = new Contended();
    const gone = loser(contended);
    await gone.enter(writing(['a']));
    await vi.advanceTimersByTimeAsync(10_001);
    expect([gone.holding, contended.claim().holds.size]).toEqual([true, 0]);
    // what somebody else holds since is not let go with them
    const next = loser(contended);
    await next.enter(writing(['a']));
    gone.letGo();
    expect(contended.claim().holds.size).toBe(1);
    next.letGo();
  });

  it('are those of the newest try alone', async () => {
    const contended = new Contended();
    const mine = loser(contended);
    await mine.enter(writing(['a']));
    await mine.enter(writing(['b']));
    expect([...contended.claim().holds.keys()]).toEqual(['b']);
    mine.letGo();
    expect(contended.claim().holds.size).toBe(0);
  });

  it('are waited for, and held, before a try that follows one that has lost', async () => {
    const contended = new Contended();
    const mine = loser(contended);
    await mine.enter(writing(['a']));
    const next = contended.claim();
    expect(await next.again()).toBe(false);
    next.lose({ own: ['a'], touches: ['a'] });
    const held = next.again();
    await vi.advanceTimersByTimeAsync(5_000);
    expect(next.holding).toBe(false);
    mine.letGo();
    expect(await held).toBe(true);
    const passed: string[] = [];
    const other = contended
      .claim()
      .enter(writing(['a']))
      .then(() => passed.push('other'));
    // its commit finds it holding what it needs: nobody comes between
    await next.enter(writing(['a']));
    await vi.advanceTimersByTimeAsync(5);
    expect(passed).toEqual([]);
    next.letGo();
    await other;
  });

  it('are none of one that writes very many', async () => {
    const contended = new Contended();
    await loser(contended).enter(writing(Array.from({ length: 1_001 }, (_, i) => String(i))));
    expect(contended.claim().holds.size).toBe(0);
  });
});
