import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { useGallery } from '../../../test/gallery.js';
import { openDql } from '../../../test/open-dql.js';
import { systemClock } from '../../base/index.js';
import { parseQuery, runQuery } from '../index.js';

const gallery = useGallery();

const UIDS = [1, 2, 3, 4, 10, 11, 12, 13, 14, 15, 20, 21];

/** Simple conditions with the uids they hold for. */
const CALLS: readonly (readonly [text: string, holds: readonly number[]])[] = [
  ['has(year)', [10, 11, 12, 13, 14]],
  ['eq(year, 1990)', [10, 12]],
  ['type(Artist)', [1, 2, 3]],
  ['uid(0x1, 0xa, 0x14)', [1, 10, 20]],
  ['gt(price, 8)', [10, 11]],
  ['ge(count(knows), 2)', [1, 3]],
  ['anyofterms(name, "red house")', [10, 14, 20, 21]],
  ['has(unheard)', []],
];

interface Tree {
  readonly text: string;
  readonly holds: ReadonlySet<number>;
}

const leaf = fc.constantFrom(...CALLS).map(([text, holds]): Tree => ({ text, holds: new Set(holds) }));
const { tree } = fc.letrec<{ tree: Tree }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 4 },
    leaf,
    tie('tree').map(
      (one): Tree => ({ text: `not (${one.text})`, holds: new Set(UIDS.filter((uid) => !one.holds.has(uid))) }),
    ),
    fc.tuple(tie('tree'), tie('tree')).map(
      ([a, b]): Tree => ({
        text: `((${a.text}) and (${b.text}))`,
        holds: new Set(UIDS.filter((uid) => a.holds.has(uid) && b.holds.has(uid))),
      }),
    ),
    fc.tuple(tie('tree'), tie('tree')).map(
      ([a, b]): Tree => ({
        text: `((${a.text}) or (${b.text}))`,
        holds: new Set([...a.holds, ...b.holds]),
      }),
    ),
  ),
}));

describe('filters', () => {
  it('hold for what their parts hold for', async () => {
    await fc.assert(
      fc.asyncProperty(tree, async ({ text, holds }) => {
        const { q } = await gallery.dql.query(`{ q(func: uid(${UIDS.join(', ')})) @filter(${text}) { uid } }`);
        expect((q as { uid: string }[]).map((one) => Number(one.uid))).toEqual(UIDS.filter((uid) => holds.has(uid)));
      }),
      { numRuns: 150 },
    );
  });
});

it('looks whether to pause while it tries values that are much work each', async () => {
  const open = await openDql();
  const lines = Array.from({ length: 2_000 }, (_, i) => `<${0x100 + i}> <note> "n${i}" .`);
  await open.mutate(`{ set {\n${lines.join('\n')}\n} }`);
  const transaction = await open.graph.begin({ bestEffort: true });
  const reader = await transaction.reader();
  const looksOf = async (first: number): Promise<number> => {
    let looks = 0;
    const clock = { ...systemClock, monotonic: () => looks++ };
    await runQuery(parseQuery(`{ q(func: has(note), first: ${first}) @filter(regexp(note, /9$/)) { uid } }`), reader, {
      clock,
    });
    const plain = looks;
    await runQuery(parseQuery(`{ q(func: has(note), first: ${first}) { uid } }`), reader, { clock });
    return plain - (looks - plain);
  };
  expect((await looksOf(2_000)) - (await looksOf(200))).toBeGreaterThan(100);
  reader.release();
  transaction.abort();
  await open.close();
});

it('looks whether to pause while it makes the tokens of a long text and looks them up', async () => {
  const open = await openDql({ schema: 'note: string @index(term, fulltext, trigram) .' });
  await open.mutate('{ set { <0x1> <note> "one two three" . } }');
  const transaction = await open.graph.begin({ bestEffort: true });
  const reader = await transaction.reader();
  const looksOf = async (call: string): Promise<number> => {
    let looks = 0;
    const clock = { ...systemClock, monotonic: () => looks++ };
    await runQuery(parseQuery(`{ q(func: ${call}) { uid } }`), reader, { clock });
    return looks;
  };
  const long = Array.from({ length: 20_000 }, (_, i) => `w${i.toString(36)}`).join(' ');
  for (const name of ['anyofterms', 'allofterms', 'anyoftext', 'alloftext', 'match']) {
    const rest = name === 'match' ? ', 3' : '';
    const few = await looksOf(`${name}(note, "one two"${rest})`);
    expect((await looksOf(`${name}(note, "${long}"${rest})`)) - few, name).toBeGreaterThan(100);
  }
  reader.release();
  transaction.abort();
  await open.close();
});
