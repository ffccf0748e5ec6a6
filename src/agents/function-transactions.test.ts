import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { agentService } from '../../test/agent-service.js';
import { DEFAULT_LIMITS, GraphsteadError } from '../base/index.js';
import { Contended } from './contended.js';
import type { GraphCalls, GraphTransaction } from './contract.js';
import { FunctionTransactions } from './function-transactions.js';

const KEYS = { own: ['a key'], touches: ['a key'] };
const conflict = () => new GraphsteadError('TXN_ABORTED', 'another one came first', { fix: 'run it again' });

/** A graph whose commits go as `outcome` says; what was aborted is counted. */
function world(outcome: () => Promise<void> = async () => undefined) {
  const contended = new Contended();
  const seen = { aborted: 0 };
  const transaction = {
    holdReads: () => undefined,
    keys: () => KEYS,
    commit: () => outcome().then(() => ({})),
    abort: () => void seen.aborted++,
  } as unknown as GraphTransaction;
  const graph: Pick<GraphCalls, 'begin'> = { begin: async () => transaction };
  const mail = {
    assertTaken: () => undefined,
    head: async () => undefined,
    clear: async () => undefined,
    manifest: undefined,
  };
  const committer = { idempotentReply: async () => undefined };
  const transactions = new FunctionTransactions({ graph, contended, mail, committer, limits: DEFAULT_LIMITS });
  const begin = async (mine: ReturnType<typeof call>) => {
    const begun = await transactions.begin(mine, '1');
    return 'id' in begun ? begun.id : Number.NaN;
  };
  return { contended, seen, begin, transactions };
}

const call = (requestId = 'r') => ({ name: 'f', args: [], requestId });

/** Whether somebody who has lost before can take the keys now. */
async function canTake(contended: Contended): Promise<boolean> {
  const other = contended.claim();
  other.lost = true;
  await other.enter(async () => KEYS);
  return other.holding;
}

it('refuses more than limits.functionTransactions, and leaves the open ones alone', async () => {
  const { begin, seen, transactions } = world();
  const [first, second] = [call('1'), call('2')];
  const begun = Array.from({ length: DEFAULT_LIMITS.functionTransactions }, () => begin(first));
  await expect(begin(second)).rejects.toMatchObject({ code: 'TOO_MANY_TRANSACTIONS' });
  const ids = await Promise.all(begun);
  expect(seen.aborted).toBe(0);
  await transactions.commit(first, ids[0]);
  await transactions.commit(second, await begin(second));
  transactions.ended(first);
  expect(seen.aborted).toBe(ids.length - 1);
});

it('counts none that is over, however it ended', async () => {
  const most = DEFAULT_LIMITS.functionTransactions;
  let refuses = true;
  const { begin, transactions } = world(async () => {
    if (refuses) throw conflict();
  });
  const full = async (): Promise<number> => {
    const mine = call();
    const begun = await Promise.all(Array.from({ length: most }, () => begin(mine)));
    transactions.ended(mine);
    return begun.length;
  };
  expect(await full()).toBe(most);
  const mine = call();
  await expect(transactions.commit(mine, await begin(mine))).rejects.toThrow('came first');
  transactions.abort(mine, await begin(mine));
  const late = begin(mine);
  transactions.ended(mine);
  await expect(late).rejects.toMatchObject({ code: 'TXN_FINISHED' });
  refuses = false;
  await transactions.commit(mine, await begin(mine));
  expect(await full()).toBe(most);
});

describe('a function that ends inside a transaction', () => {
  it('lets go of the keys that it held for its next try', async () => {
    const { begin, contended, transactions } = world(() => Promise.reject(conflict()));
    const mine = call();
    for (let tries = 0; tries < 2; tries++) {
      await expect(transactions.commit(mine, await begin(mine))).rejects.toThrow('came first');
    }
    expect(contended.claim().holds.size).toBe(1);
    transactions.ended(mine);
    expect(contended.claim().holds.size).toBe(0);
    expect(await canTake(contended)).toBe(true);
  });

  it('takes none that it waited for before a next try', async () => {
    const { begin, contended, seen, transactions } = world(() => Promise.reject(conflict()));
    const other = contended.claim();
    other.lost = true;
    await other.enter(async () => KEYS);
    const mine = call();
    const lost = transactions.commit(mine, await begin(mine));
    other.letGo();
    await expect(lost).rejects.toThrow('came first');
    await other.enter(async () => KEYS);
    const next = transactions.begin(mine, '1', 1);
    transactions.ended(mine);
    other.letGo();
    await expect(next).rejects.toMatchObject({ code: 'TXN_FINISHED' });
    expect([contended.claim().holds.size, seen.aborted]).toEqual([0, 0]);
  });

  it('lets go of them when its work throws in a try', async () => {
    const { begin, contended, transactions } = world(() => Promise.reject(conflict()));
    const mine = call();
    for (let tries = 0; tries < 2; tries++) {
      await transactions.commit(mine, await begin(mine)).catch(() => undefined);
    }
    transactions.abort(mine, await begin(mine));
    expect(contended.claim().holds.size).toBe(0);
  });

  it('lets go of what a commit took that was still under way', async () => {
    const refusals: (() => void)[] = [];
    const { begin, contended, transactions } = world(
      () => new Promise((_, reject) => void refusals.push(() => reject(conflict()))),
    );
    const mine = call();
    const commit = async (then: () => void) => {
      const committed = transactions.commit(mine, await begin(mine));
      while (refusals.length === 0) await nextTurn();
      then();
      refusals.pop()?.();
      await expect(committed).rejects.toThrow('came first');
    };
    await commit(() => undefined);
    await commit(() => transactions.ended(mine));
    expect(contended.claim().holds.size).toBe(0);
  });

  it.each([undefined, 'k'])(
    'leaves no transaction open, not even one that was about to begin (key: %s)',
    async (key) => {
      const { begin, seen, transactions } = world();
      const [mine, other] = [{ ...call(), idempotencyKey: key }, call()];
      const id = await begin(mine);
      const kept = await begin(other);
      const late = begin(mine);
      transactions.ended(mine);
      await expect(late).rejects.toMatchObject({ code: 'TXN_FINISHED' });
      expect(seen.aborted).toBe(2);
      expect(() => transactions.get(mine, id)).toThrow('has ended');
      await transactions.commit(other, kept);
      await expect(transactions.commit(other, kept)).rejects.toMatchObject({ code: 'TXN_FINISHED' });
    },
  );
});

const NESTED = `
  let conflicts = 12;
  async function begin() { await graph.mutate({ set: { age: 1 } }); }
  async function nested() {
    return graph.transaction(async () => {
      await graph.transaction(async (inner) => {
        const { q } = await inner.query('{ q(func: has(age)) { uid age } }');
        if (conflicts-- > 0) await graph.mutate({ set: { uid: q[0].uid, age: q[0].age + 1 } });
        await inner.mutate({ set: { uid: q[0].uid, age: 100 } });
      });
      return 'done';
    });
  }
`;

it('a try that ends with a conflict inside its work leaves no transaction open', async () => {
  const limits = { functionTransactions: 2 };
  const service = await agentService(NESTED, ['begin', 'nested'], { limits, schema: 'age: int .' });
  try {
    await service.call('begin');
    expect(await service.call('nested')).toBe('done');
  } finally {
    await service.close();
  }
});

const SLOW = `
  async function slow(most) {
    let runs = 0;
    return graph.transaction(async (transaction) => {
      runs++;
      await transaction.query('{ q(func: uid(0x1)) { age } }');
      await new Promise((over) => setTimeout(over, 30));
      if (runs <= most) await graph.mutate({ set: { uid: '0x2', age: runs } });
      await transaction.query('{ q(func: uid(0x1)) { age } }');
      await transaction.mutate({ set: { uid: '0x1', age: runs } });
      return runs;
    });
  }
`;

it('one that stays open for too long runs again where others write what it has read in, and says so when it gives up', async () => {
  const service = await agentService(SLOW, ['slow'], { limits: { snapshotMs: 20 }, schema: 'age: int .' });
  try {
    expect(await service.call('slow', 0)).toBe(1);
    expect(await service.call('slow', 11)).toBe(12);
    await expect(service.call('slow', 12)).rejects.toMatchObject({
      code: 'TXN_ABORTED',
      fix: expect.stringMatching(
        /longer than limits\.snapshotMs \(20\), and "age".*before it begins, or raise that limit/,
      ),
    });
  } finally {
    await service.close();
  }
});
