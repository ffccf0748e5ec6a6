import { expect, it } from 'vitest';
import { type Job, landedJob } from './job.js';
import { Waiting } from './waiting.js';

const message = (ts: number, from = '', data = '') =>
  landedJob({ op: 'post', to: 'agent_a', from, kind: 'message', name: 'note', data }, ts, 0);

it('a page that was read behind a position is of no use once the mailbox is to be read from its beginning', () => {
  const waiting = new Waiting();
  waiting.reread();
  waiting.page(undefined, [message(1)], true, 0);
  const { read } = waiting;
  waiting.reread();
  waiting.page(read, [message(2)], false, 0);
  expect(waiting.readsOn(0, false)).toBe(true);
  waiting.page(undefined, [message(1), message(2)], false, 0);
  expect([waiting.next(0, false), waiting.next(0, false)]).toMatchObject([{ id: '1.0' }, { id: '2.0' }]);
});

it('what waits for another try in memory is bounded, whoever sent it', () => {
  const waiting = new Waiting();
  waiting.reread();
  const large = 'x'.repeat(500_000);
  let ts = 0;
  while (waiting.readsOn(0, false) && ts < 1_000) {
    waiting.page(waiting.read, [{ ...message(++ts, '', large), notBefore: 1 }], true, 0);
  }
  expect(ts).toBeLessThan(40);
  expect(waiting.next(0, false)).toBe(1);
  for (; ts > 0; ts--) expect(waiting.next(1, false)).toMatchObject({ kind: 'message' });
  expect(waiting.readsOn(1, false)).toBe(true);
});

it('a sender whose messages were passed over is read again behind the one that failed, and what it asks for waits so long', () => {
  const waiting = new Waiting();
  waiting.reread();
  const failing = { ...message(1, 'agent_b'), notBefore: 10 };
  waiting.page(undefined, [failing, message(2, 'agent_b'), message(3, 'agent_c')], false, 0);
  waiting.landed(message(4, 'agent_b'));
  waiting.add({ ...message(5, 'agent_b'), id: 'asked', stored: undefined });
  waiting.release();
  expect(waiting.next(0, false)).toMatchObject({ id: '3.0' });
  expect([waiting.next(0, false), waiting.isOwing]).toEqual([10, false]);
  expect([waiting.next(10, false), waiting.isOwing]).toMatchObject([{ id: '1.0' }, true]);
  waiting.reread();
  waiting.page(undefined, [message(2, 'agent_b'), message(4, 'agent_b')], false, 10);
  waiting.release();
  const ids = Array.from({ length: 3 }, () => (waiting.next(10, false) as { id: string }).id);
  expect(ids).toEqual(['2.0', '4.0', 'asked']);
});

/** The mailbox in the store, the agent in front of it, and what was sent: everything at random, nothing lost, each sender in order. */
class Model {
  readonly store: Job[] = [];
  readonly sent = new Map<string, string[]>();
  readonly done = new Map<string, string[]>();
  waiting = new Waiting();
  wall = 0;
  #ts = 0;
  readonly #asking = new Set<string>();

  constructor(readonly below: (n: number) => number) {}

  /** An agent that waits for an answer says nothing else meanwhile. */
  get #sender(): string {
    const from = ['', 'agent_b', 'agent_c'][this.below(3)];
    return this.#asking.has(from) ? '' : from;
  }

  /** It lands in the store, and the agent hears of it. */
  post(): void {
    const job = message(++this.#ts, this.#sender);
    this.store.push(job);
    this.#note(this.sent, job);
    if (this.waiting.more) this.waiting.missed(job.from, job.stored);
    else this.waiting.landed(job);
  }

  /** Somebody waits for its answer. */
  ask(): void {
    const job = { ...message(++this.#ts, this.#sender), stored: undefined };
    if (job.from !== '') this.#asking.add(job.from);
    this.#note(this.sent, job);
    this.waiting.add(job);
  }

  /** The agent leaves memory, and comes back. */
  forget(): void {
    if (this.waiting.count > this.waiting.stored) return; // whoever asks keeps it there
    this.waiting = new Waiting();
    this.waiting.reread();
  }

  /** What the queue does for one job. False when nothing can run now. */
  step(): boolean {
    const { waiting, wall } = this;
    if (waiting.isOwing) waiting.reread();
    while (waiting.readsOn(wall, false)) this.#read();
    if (waiting.asksWho) this.#look();
    waiting.release();
    const next = waiting.next(wall, false);
    if (typeof next === 'object') this.#run(next);
    return typeof next === 'object';
  }

  #read(): void {
    const after = this.waiting.read;
    const behind = this.store.filter(({ stored }) => after === undefined || (stored?.ts ?? 0) > after.ts);
    const page = behind.slice(0, 2).map((job) => ({ ...job })) as Parameters<Waiting['page']>[1];
    if (this.below(3) === 0) this.post(); // meanwhile
    this.waiting.page(after, page, behind.length > page.length, this.wall);
  }

  #look(): void {
    const { found } = this.waiting.gather();
    const before = [...this.store];
    if (this.below(3) === 0) this.post();
    const read = this.waiting.read?.ts ?? 0;
    for (const { from, stored } of before) if (stored !== undefined && stored.ts > read) found(from, stored);
  }

  #run(job: Job): void {
    const at = this.store.findIndex(({ id }) => id === job.id);
    if (job.stored !== undefined) expect(at).not.toBe(-1);
    if (at !== -1 && this.below(4) === 0) {
      const failed = { ...job, notBefore: this.wall + this.below(5) };
      this.store[at] = failed;
      this.waiting.unshift(failed);
      return;
    }
    if (at !== -1) this.store.splice(at, 1);
    else this.#asking.delete(job.from);
    this.#note(this.done, job);
  }

  #note(log: Map<string, string[]>, { from, id }: Job): void {
    log.set(from, [...(log.get(from) ?? []), id]);
  }
}

it('whatever is sent, fails, is forgotten and read again: nothing is lost, and each agent is answered in its order', () => {
  for (let seed = 1; seed <= 400; seed++) {
    let state = seed;
    const model = new Model((n) => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
      return (state >>> 8) % n;
    });
    const acts = [() => model.post(), () => model.ask(), () => model.step(), () => model.step(), () => model.wall++];
    for (let i = 0; i < 120; i++) {
      if (model.below(12) === 0) model.forget();
      acts[model.below(acts.length)]();
    }
    for (let i = 0; i < 2_000 && (model.store.length > 0 || model.waiting.count > 0); i++)
      if (!model.step()) model.wall++;
    for (const [from, ids] of model.sent) {
      const done = model.done.get(from) ?? [];
      if (from === '') expect([...done].sort(), `seed ${seed}`).toEqual([...ids].sort());
      else expect(done, `seed ${seed}, ${from}`).toEqual(ids);
    }
  }
});
