import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AgentEvent } from './contract.js';
import { STATUS_EVENT } from './own-event.js';
import { Batch, type EventPage, Subscription } from './subscription.js';

const turn = () => new Promise<void>((done) => setImmediate(done));

/** An agent whose events are numbers from 0 on: what was told stands in its store. */
class Agent {
  readonly stored: AgentEvent[] = [];
  commits = 0;
  readonly read = async (seq: number): Promise<EventPage> => {
    const events = this.stored.slice(seq, seq + 3);
    const next = seq + events.length;
    const upTo = next === this.stored.length ? this.commits : undefined;
    await turn();
    return { events, next, upTo };
  };

  publish(count: number): Batch {
    const events = Array.from({ length: count }, () => eventOf('number', this.stored.length));
    events.forEach((event, i) => {
      this.stored.push({ ...event, data: (event.data as number) + i });
    });
    return new Batch(this.stored.slice(-count), ++this.commits, count);
  }
}

const eventOf = (name: string, data: unknown): AgentEvent => ({ agentId: 'a', name, data, timestamp: '' });

describe('a subscription', () => {
  it('is told each event once and in order, whether it keeps up, pauses, or falls behind', async () => {
    const step = fc.oneof(
      fc.record({ publish: fc.integer({ min: 1, max: 5 }) }),
      fc.constant({ pause: true }),
      fc.constant({ resume: true }),
      fc.constant({ rest: true }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), fc.integer({ min: 1, max: 800 }), async (steps, limit) => {
        const agent = new Agent();
        const left = { aborted: false };
        const subscription = new Subscription(limit, undefined, left, agent.read);
        subscription.begin({ seq: 0, upTo: undefined, ended: false });
        const told: unknown[] = [];
        let resume: (() => void) | undefined;
        let pausing = false;
        const done = subscription.push((events) => {
          told.push(...events.map(({ data }) => data));
          if (!pausing) return undefined;
          return new Promise<void>((go) => {
            resume = go;
          });
        }, left);
        const goOn = () => {
          pausing = false;
          resume?.();
        };
        for (const one of steps) {
          if ('publish' in one) subscription.tell(agent.publish(one.publish));
          else if ('pause' in one) pausing = true;
          else if ('resume' in one) goOn();
          else await turn();
        }
        goOn();
        subscription.tell(agent.publish(1));
        subscription.end();
        await done;
        expect(told).toEqual(agent.stored.map(({ data }) => data));
      }),
      { numRuns: 200 },
    );
  });

  it('that cannot take an event ends alone, with what it threw', async () => {
    const agent = new Agent();
    const left = { aborted: false };
    const subscription = new Subscription(1_000, undefined, left, agent.read);
    subscription.begin({ seq: 0, upTo: 0, ended: false });
    const done = subscription.push(() => {
      throw new Error('cannot take it');
    }, left);
    expect(() => subscription.tell(agent.publish(1))).not.toThrow();
    await expect(done).rejects.toThrow('cannot take it');
  });

  it('keeps no more than its bound of what a reader does not take, though nothing of it is stored', async () => {
    const subscription = new Subscription(1_000, undefined, undefined, new Agent().read);
    subscription.begin({ seq: 0, upTo: 0, ended: false });
    for (let i = 0; i < 500; i++) subscription.tell(new Batch([eventOf('live', i)], undefined, 36));
    subscription.end();
    const told: AgentEvent[] = [];
    for await (const events of subscription.batches()) told.push(...events);
    expect(told.length).toBeLessThanOrEqual(10);
    expect(told.at(-1)?.data).toBe(499);
  });

  it('ends when its reader leaves', async () => {
    const left = { aborted: false };
    const subscription = new Subscription(1_000, undefined, left, new Agent().read);
    subscription.begin({ seq: 0, upTo: 0, ended: false });
    const done = subscription.push(() => undefined, left);
    left.aborted = true;
    subscription.wake();
    await done;
  });

  it('sees statuses only where it names them, and everything of a batch is one list to those who name nothing', async () => {
    const left = { aborted: false };
    const told: (readonly AgentEvent[])[] = [];
    const read = new Agent().read;
    const all = [[], undefined, [STATUS_EVENT]].map((names) => new Subscription(1_000, names, left, read));
    const done = all.map((one) => {
      one.begin({ seq: 0, upTo: 0, ended: false });
      return one.push((events) => void told.push(events), left);
    });
    const batch = new Batch([eventOf('one', 1), eventOf(STATUS_EVENT, {})], 1, 10);
    for (const one of all) one.tell(batch);
    expect(told.map((events) => events.map(({ name }) => name))).toEqual([['one'], ['one'], [STATUS_EVENT]]);
    expect(told[0]).toBe(told[1]);
    for (const one of all) one.end();
    await Promise.all(done);
  });
});
