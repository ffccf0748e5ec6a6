import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Transaction } from './contract.js';
import { FakeClock, type GraphFixture, openFixture, setValue } from './fixture.js';

describe('clients that hold transactions open', () => {
  let fixture: GraphFixture;
  let clock: FakeClock;
  beforeEach(async () => {
    clock = new FakeClock();
    fixture = await openFixture({
      clock,
      limits: { transactions: 6, openChangesBytes: 6_000, transactionIdleFullMs: 30_000 },
    });
  });
  afterEach(() => fixture.close());

  async function changed(client: string, bytes = 10): Promise<Transaction> {
    const transaction = await fixture.graph.begin({ held: { client } });
    await transaction.stage([setValue(transaction.startTs, 'note', 'x'.repeat(bytes))]);
    return transaction;
  }
  async function several(client: string, count: number, bytes?: number): Promise<Transaction[]> {
    const begun: Transaction[] = [];
    while (begun.length < count) begun.push(await changed(client, bytes));
    return begun;
  }
  /** "." for one that can be gone on with, "x" for one that is gone */
  function left(transactions: readonly Transaction[]): string {
    const isOpen = ({ startTs }: Transaction) => {
      try {
        return fixture.graph.open(startTs) !== undefined;
      } catch (thrown) {
        expect(thrown).toMatchObject({ code: 'TXN_EXPIRED' });
        return false;
      }
    };
    return transactions.map((transaction) => (isOpen(transaction) ? '.' : 'x')).join('');
  }
  const refused = { code: 'TOO_MANY_TRANSACTIONS' };

  it('are not more than the limit where many begin at once: those that have changed nothing make room', async () => {
    const begun = await Promise.all(Array.from({ length: 20 }, () => fixture.graph.begin({ held: { client: 'a' } })));
    expect(left(begun)).toBe(`${'x'.repeat(14)}${'.'.repeat(6)}`);
  });

  it('make room for one who holds less, the oldest of the one who holds most first', async () => {
    const greedy = await several('greedy', 6);
    const [first, second, third] = [await changed('a'), await changed('a'), await changed('b')];
    expect([left(greedy), left([first, second, third])]).toEqual(['xxx...', '...']);
    await greedy[5].commit();
  });

  it('keep what they hold where another holds as many', async () => {
    const [one, other] = [await several('one', 3), await several('other', 3)];
    await expect(changed('one')).rejects.toMatchObject(refused);
    const newer = await changed('newer');
    expect([left(one), left(other), left([newer])]).toEqual(['x..', '...', '.']);
  });

  it('take nothing from those who hold less, idle as they may be', async () => {
    const few = await several('few', 1);
    clock.now += 60_000;
    await several('many', 5);
    await expect(changed('many')).rejects.toMatchObject(refused);
    expect(left(few)).toBe('.');
  });

  it('share one each where there are as many of them', async () => {
    const all: Transaction[] = [];
    for (const client of 'abcdef') all.push(await changed(client));
    await expect(changed('g')).rejects.toMatchObject(refused);
    expect(left(all)).toBe('......');
    clock.now += 30_000;
    await changed('g');
    expect(left(all)).toBe('x.....');
  });

  it('lose none that a request works with', async () => {
    const greedy = await several('greedy', 6);
    const reader = await greedy[0].reader();
    await changed('other');
    expect(left(greedy)).toBe('.x....');
    reader.release();
  });

  it('give up bytes of changes too, whoever has most of them', async () => {
    const greedy = await several('greedy', 3, 2_000);
    const small = await changed('small', 500);
    expect([left(greedy), left([small])]).toEqual(['x..', '.']);
    await several('greedy', 1, 2_000);
    await expect(changed('greedy', 2_000)).rejects.toMatchObject(refused);
    expect(left([small])).toBe('.');
  });

  it('are told in the middle of a request that it made room', async () => {
    const begin = (client: string) => fixture.graph.begin({ held: { client } });
    const greedy: Transaction[] = [];
    while (greedy.length < 6) greedy.push(await begin('greedy'));
    const readers = await Promise.all(greedy.map((transaction) => transaction.reader()));
    await begin('other');
    await expect(greedy[0].stage([setValue(1, 'note', 'late')])).rejects.toMatchObject({ code: 'TXN_EXPIRED' });
    for (const reader of readers) reader.release();
  });
});
