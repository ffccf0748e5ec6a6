import { describe, expect, it } from 'vitest';
import { UpsertLane } from './upsert-lane.js';

/** A register whose writers lose when it changed after they read it. */
class Register {
  version = 0;
  running = 0;
  mostRunning = 0;

  async add(steps: number): Promise<boolean> {
    this.mostRunning = Math.max(this.mostRunning, ++this.running);
    const seen = this.version;
    for (let i = 0; i < steps; i++) await Promise.resolve();
    this.running--;
    if (seen !== this.version) return false;
    this.version++;
    return true;
  }
}

describe('UpsertLane', () => {
  it('lets every contender through, in a bounded number of attempts', async () => {
    const lane = new UpsertLane();
    const register = new Register();
    let most = 0;
    await Promise.all(
      Array.from({ length: 100 }, (_, i) =>
        lane.run((n) => {
          most = Math.max(most, n);
          return register.add(1 + (i % 7));
        }),
      ),
    );
    expect(register.version).toBe(100);
    expect(most).toBeLessThan(8);
  });

  it('runs those that lost twice one after another', async () => {
    const lane = new UpsertLane();
    let queued = 0;
    let most = 0;
    await Promise.all(
      Array.from({ length: 20 }, () =>
        lane.run(async (n) => {
          if (n < 2) return false;
          most = Math.max(most, ++queued);
          await Promise.resolve();
          queued--;
          return true;
        }),
      ),
    );
    expect(most).toBe(1);
  });

  it('goes on after one that failed', async () => {
    const lane = new UpsertLane();
    const failing = lane.run(async (n) => {
      if (n === 5) throw new Error('no');
      return false;
    });
    await expect(failing).rejects.toThrow('no');
    let done = false;
    await lane.run(async (n) => {
      done = n === 3;
      return done;
    });
    expect(done).toBe(true);
  });
});
