import { describe, expect, it } from 'vitest';
import { callHash } from '../call-hash.js';
import { MadeCalls } from './made-calls.js';
import type { Rpc } from '../protocol.js';

const send = (n: number, text: string): Rpc => ({ method: 'send', n, args: ['agent', text] });

function counting() {
  const made: Rpc[] = [];
  let differed = 0;
  const calls = new MadeCalls();
  const ask = (call: Rpc) =>
    calls.once(
      call,
      async (one) => {
        made.push(one);
        if (one.args[1] === 'bad') throw new Error('refused');
        return `${String(one.args[1])} ${made.length}`;
      },
      () => differed++,
    );
  return { calls, ask, made, differed: () => differed };
}

describe('calls that all runs of a task share', () => {
  it('are made once, also while the first is under way', async () => {
    const { ask, made } = counting();
    const both = [ask(send(0, 'a')), ask(send(0, 'a'))];
    expect(await Promise.all(both)).toEqual([
      { ok: true, value: 'a 1' },
      { ok: true, value: 'a 1' },
    ]);
    expect(made).toHaveLength(1);
  });

  it('are told apart by what JSON does not hold, too', async () => {
    const { calls, ask, made, differed } = counting();
    const circle = (name: string): Rpc => {
      const variables: Record<string, unknown> = { name };
      variables['self'] = variables;
      return { method: 'graph.graphql', n: 1, args: ['text', 'b', variables] };
    };
    const large = (id: bigint): Rpc => ({ method: 'graph.graphql', n: 0, args: ['text', 'a', { id }] });
    for (const call of [large(1n), large(1n), large(2n), circle('a'), circle('a'), circle('b')]) await ask(call);
    expect(made).toHaveLength(4);
    expect(differed()).toBe(2);
    expect(calls.journal()).toHaveLength(2);
  });

  it('are made anew where a run asks something else at the same place, and the log hears of it', async () => {
    const { ask, made, differed } = counting();
    await ask(send(0, 'a'));
    await ask(send(0, 'b'));
    await ask(send(0, 'a'));
    expect(made.map(({ args }) => args[1])).toEqual(['a', 'b']);
    expect(differed()).toBe(1);
  });

  it('go to the next run with what they came to, failures too', async () => {
    const { calls, ask } = counting();
    expect(calls.journal()).toBeUndefined();
    await ask(send(0, 'a'));
    await ask(send(1, 'bad'));
    calls.note({ n: 2, hash: 'h', ok: true, value: 'outside' });
    expect(calls.journal()).toEqual([
      { n: 2, hash: 'h', ok: true, value: 'outside' },
      { n: 0, hash: callHash('send', ['agent', 'a']), ok: true, value: 'a 1' },
      {
        n: 1,
        hash: callHash('send', ['agent', 'bad']),
        ok: false,
        error: expect.objectContaining({ message: 'refused' }) as unknown,
      },
    ]);
  });
});
