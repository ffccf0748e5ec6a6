import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type OpenDql, openDql } from '../../../test/open-dql.js';

/** A graph of 40 nodes: edges to what divides, numbers, and a colour for some. */
const COUNT = 40;
const COLOURS = ['red', 'green', 'blue'];
interface Node {
  readonly uid: number;
  readonly size: number;
  readonly colour?: string;
  readonly to: readonly number[];
}
const nodes = new Map<number, Node>();
for (let uid = 1; uid <= COUNT; uid++) {
  const to = [...Array(COUNT).keys()]
    .map((i) => i + 1)
    .filter((other) => other !== uid && (other % uid === 0 || uid % other === 3));
  nodes.set(uid, { uid, size: (uid * 17) % 11, ...(uid % 4 ? { colour: COLOURS[uid % 3] } : {}), to });
}

let dql: OpenDql;
beforeAll(async () => {
  dql = await openDql({
    schema: 'size: int @index(int) .\ncolour: string @index(exact) .\nto: [uid] @reverse @count .',
  });
  const lines = [...nodes.values()].flatMap((node) => [
    `<${node.uid}> <size> "${node.size}" .`,
    ...(node.colour ? [`<${node.uid}> <colour> "${node.colour}" .`] : []),
    ...node.to.map((other) => `<${node.uid}> <to> <${other}> .`),
  ]);
  await dql.mutate(`{ set {\n${lines.join('\n')}\n} }`);
});
afterAll(() => dql.close());

/** What an edge may carry, as text and as the same on arrays. */
interface Step {
  readonly text: string;
  apply(uids: readonly number[]): readonly number[];
}

const at = (uid: number): Node => nodes.get(uid) as Node;

const filters: fc.Arbitrary<Step> = fc.oneof(
  fc.constant<Step>({ text: '', apply: (uids) => uids }),
  fc.integer({ min: 0, max: 10 }).map(
    (size): Step => ({
      text: `@filter(ge(size, ${size}))`,
      apply: (uids) => uids.filter((uid) => at(uid).size >= size),
    }),
  ),
  fc.constantFrom(...COLOURS).map(
    (colour): Step => ({
      text: `@filter(not eq(colour, "${colour}"))`,
      apply: (uids) => uids.filter((uid) => at(uid).colour !== colour),
    }),
  ),
  fc.integer({ min: 1, max: 5 }).map(
    (n): Step => ({
      text: `@filter(lt(count(to), ${n}))`,
      apply: (uids) => uids.filter((uid) => at(uid).to.length < n),
    }),
  ),
);

const orders: fc.Arbitrary<Step> = fc.constantFrom<Step>(
  { text: '', apply: (uids) => uids },
  { text: 'orderasc: size', apply: (uids) => [...uids].sort((a, b) => at(a).size - at(b).size || a - b) },
  { text: 'orderdesc: size', apply: (uids) => [...uids].sort((a, b) => at(b).size - at(a).size || a - b) },
);

const pages: fc.Arbitrary<Step> = fc.oneof(
  fc.constant<Step>({ text: '', apply: (uids) => uids }),
  fc.tuple(fc.integer({ min: 1, max: 6 }), fc.integer({ min: 0, max: 4 })).map(
    ([first, offset]): Step => ({
      text: `first: ${first}, offset: ${offset}`,
      apply: (uids) => uids.slice(offset, offset + first),
    }),
  ),
  fc.integer({ min: 1, max: 4 }).map((n): Step => ({ text: `first: -${n}`, apply: (uids) => uids.slice(-n) })),
);

/** A tree of edges: its query text, and its answer computed node by node. */
interface Tree {
  readonly text: string;
  answer(uid: number): Record<string, unknown>;
}

const { tree } = fc.letrec<{ tree: Tree }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.constant<Tree>({ text: 'uid size', answer: (uid) => ({ uid: `0x${uid.toString(16)}`, size: at(uid).size }) }),
    fc.tuple(fc.boolean(), filters, orders, pages, tie('tree')).map(([reverse, filter, order, page, below]): Tree => {
      const edge = reverse ? '~to' : 'to';
      const args = [order.text, page.text].filter((text) => text !== '').join(', ');
      return {
        text: `uid colour ${edge} ${args ? `(${args})` : ''} ${filter.text} { ${below.text} }`,
        answer: (uid) => {
          const all = reverse
            ? [...nodes.values()].filter((node) => node.to.includes(uid)).map((node) => node.uid)
            : at(uid).to;
          const row = page.apply(order.apply(filter.apply(all)));
          const { colour } = at(uid);
          return {
            uid: `0x${uid.toString(16)}`,
            ...(colour ? { colour } : {}),
            ...(row.length > 0 ? { [edge]: row.map(below.answer) } : {}),
          };
        },
      };
    }),
  ),
}));

/** The same under @cascade: undefined for a node that lacks something. */
interface CascadeTree {
  readonly text: string;
  answer(uid: number): Record<string, unknown> | undefined;
}

const cascade = fc.letrec<{ tree: CascadeTree }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 3 },
    fc.constant<CascadeTree>({
      text: 'uid colour',
      answer: (uid) => (at(uid).colour ? { uid: `0x${uid.toString(16)}`, colour: at(uid).colour } : undefined),
    }),
    fc.tuple(filters, orders, pages, tie('tree')).map(([filter, order, page, below]): CascadeTree => {
      const args = [order.text, page.text].filter((text) => text !== '').join(', ');
      return {
        text: `uid size to ${args ? `(${args})` : ''} ${filter.text} { ${below.text} }`,
        answer: (uid) => {
          const whole = order.apply(filter.apply(at(uid).to)).filter((other) => below.answer(other));
          const row = page.apply(whole);
          return row.length === 0
            ? undefined
            : { uid: `0x${uid.toString(16)}`, size: at(uid).size, to: row.map(below.answer) };
        },
      };
    }),
  ),
}));

describe('nested selections', () => {
  it('answer as walking from node to node would', async () => {
    const roots = fc.uniqueArray(fc.integer({ min: 1, max: COUNT }), { minLength: 1, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(roots, tree, async (uids, { text, answer }) => {
        const { q } = await dql.query(`{ q(func: uid(${uids.join(', ')})) { ${text} } }`);
        expect(q).toEqual([...uids].sort((a, b) => a - b).map(answer));
      }),
      { numRuns: 120 },
    );
  });

  it('drop what lacks something under @cascade, before they are paged', async () => {
    const all = [...nodes.keys()];
    await fc.assert(
      fc.asyncProperty(cascade.tree, pages, async ({ text, answer }, page) => {
        const { q } = await dql.query(
          `{ q(func: uid(${all.join(', ')})${page.text ? `, ${page.text}` : ''}) @cascade { ${text} } }`,
        );
        expect(q).toEqual(page.apply(all.filter((uid) => answer(uid))).map(answer));
      }),
      { numRuns: 120 },
    );
  });
});
