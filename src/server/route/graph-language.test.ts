import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { startService } from '../../../test/service.js';
import { joined } from './graph-language.js';

it('a long answer is put together in many turns of the event loop', async () => {
  const service = await startService({ limits: { yieldMs: 0.01 } });
  try {
    const parts = ['"', Buffer.alloc(5_000_000, 'x'), 'é', Buffer.alloc(3_000_000, 'y'), '"'];
    let turns = 0;
    let under = true;
    const others = (async () => {
      for (; under; turns++) await nextTurn();
    })();
    const whole = await joined(service.service.core, parts);
    under = false;
    await others;
    expect(turns).toBeGreaterThan(5);
    expect(whole.equals(Buffer.from(parts.join('')))).toBe(true);
    expect(String(joined(service.service.core, ['a', Buffer.from('é')]))).toBe('aé');
  } finally {
    await service.close();
  }
});

it('many triples, and many keys of an open transaction, are told as few are', async () => {
  const service = await startService();
  try {
    const names = Array.from({ length: 6_000 }, (_, i) => `"é\\"\n${i}`);
    const set = names.map((name, i) => ({ uid: `0x${(i + 1).toString(16)}`, name }));
    const mutated = await service.json({ set }, '');
    const { start_ts, hash, keys, preds } = mutated.body.extensions.txn;
    expect(keys).toHaveLength(6_000);
    expect(new Set(keys)).toContain('u name\n1770');
    expect(preds).toEqual(['name']);
    const inside = `/query?startTs=${start_ts}&hash=${hash}&respFormat=rdf`;
    const { body } = await service.post(inside, '{ q(func: has(name)) { name } }', 'application/dql');
    expect(body.data).toBe(set.map(({ uid, name }) => `<${uid}> <name> ${JSON.stringify(name)} .\n`).join(''));
    expect(body.extensions.txn.keys).toEqual(keys);
    expect(Object.keys(body.extensions)).toEqual(expect.arrayContaining(['server_latency', 'metrics']));
  } finally {
    await service.close();
  }
});
