import { expect, it } from 'vitest';
import { landedJob } from './job.js';
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
