import { expect, it } from 'vitest';
import { GraphsteadError } from '../../base/index.js';
import type { GraphCalls, GraphTransaction } from '../contract.js';
import type { Rpc } from '../protocol.js';
import { GraphHolder } from './graph-holder.js';

it('a run that was given up while its transaction began leaves the next one its own', async () => {
  const begun: ((transaction: GraphTransaction) => void)[] = [];
  const begin = () => new Promise<GraphTransaction>((done) => void begun.push(done));
  const holder = new GraphHolder({ begin } as GraphCalls);
  const read: Rpc = { method: 'graph.query', n: 0, args: [1, '{ q(func: uid(1)) { uid } }'] };
  const held: string[] = [];
  const transaction = (name: string): GraphTransaction =>
    ({
      holdReads: () => void held.push(name),
      abort: () => undefined,
      query: async () => {
        if (name === 'first')
          throw new GraphsteadError('TXN_FINISHED', 'the transaction has ended', { fix: 'begin another' });
        return name;
      },
    }) as unknown as GraphTransaction;

  const first = holder.answer(read);
  holder.abort();
  const second = holder.answer(read);
  begun[0]?.(transaction('first'));
  await expect(first).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
  begun[1]?.(transaction('second'));
  expect(await second).toBe('second');
  expect(held).toContain('second');
});

it('a run that was given up takes along what could not be taken back in it', async () => {
  const transaction = {
    mark: async () => async () => undefined,
    mutate: async () => ({}),
    holdReads: () => undefined,
    abort: () => undefined,
  } as unknown as GraphTransaction;
  const holder = new GraphHolder({ begin: async () => transaction } as GraphCalls);
  const mutate = (id: number): Rpc => ({ method: 'graph.mutate', n: 0, args: [id, { body: '', contentType: 'rdf' }] });
  await holder.answer(mutate(1));
  await holder.answer(mutate(0));
  await holder.answer({ method: 'graph.abort', n: 0, args: [1] });
  expect(() => holder.assertWhole()).toThrow('its turn wrote something else meanwhile');
  holder.abort();
  holder.assertWhole();
  // the next run counts from 1, too
  await holder.answer(mutate(1));
});
