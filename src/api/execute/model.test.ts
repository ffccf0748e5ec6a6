import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createWorld, type Tree } from '../../../test/support/api-world.js';

/** A filter as the client writes it, and what it means. */
interface Case {
  readonly text: string;
  readonly holds: (item: Item) => boolean;
}

interface Item {
  readonly key: string;
  readonly n?: number;
  readonly flag?: boolean;
  readonly tags: readonly string[];
  /** keys of other items */
  readonly to: readonly string[];
}

const SDL = `type Item { key: String! @id n: Int @search flag: Boolean @search tags: [String] @search(by: [exact]) to: [Item] @hasInverse(field: from) from: [Item] }`;
const TAGS = ['red', 'green', 'blue'];

const items = fc
  .array(
    fc.record({
      n: fc.option(fc.integer({ min: -3, max: 3 }), { nil: undefined }),
      flag: fc.option(fc.boolean(), { nil: undefined }),
      tags: fc.uniqueArray(fc.constantFrom(...TAGS)),
      to: fc.uniqueArray(fc.nat({ max: 11 })),
    }),
    { minLength: 1, maxLength: 12 },
  )
  .map((list): Item[] =>
    list.map((item, i) => ({
      ...item,
      key: `k${i}`,
      to: item.to.filter((at) => at < list.length).map((at) => `k${at}`),
    })),
  );

function filters(byKey: (key: string) => Item): fc.Arbitrary<Case> {
  const n = fc.integer({ min: -3, max: 3 });
  const leaf: fc.Arbitrary<Case> = fc.oneof(
    n.map((v): Case => ({ text: `{n: {eq: ${v}}}`, holds: (item) => item.n === v })),
    n.map((v): Case => ({ text: `{n: {gt: ${v}}}`, holds: (item) => item.n !== undefined && item.n > v })),
    fc.tuple(n, n).map(
      ([a, b]): Case => ({
        text: `{n: {between: {min: ${a}, max: ${b}}}}`,
        holds: (item) => item.n !== undefined && item.n >= a && item.n <= b,
      }),
    ),
    fc.uniqueArray(n).map(
      (list): Case => ({
        text: `{n: {in: [${list}]}}`,
        holds: (item) => item.n !== undefined && list.includes(item.n),
      }),
    ),
    fc.constant<Case>({ text: '{n: {eq: null}}', holds: (item) => item.n === undefined }),
    fc.boolean().map((v): Case => ({ text: `{flag: ${v}}`, holds: (item) => item.flag === v })),
    fc
      .constantFrom(...TAGS)
      .map((tag): Case => ({ text: `{tags: {eq: "${tag}"}}`, holds: (item) => item.tags.includes(tag) })),
    fc.constantFrom<Case>(
      { text: '{has: [flag, n]}', holds: (item) => item.flag !== undefined && item.n !== undefined },
      { text: '{has: to}', holds: (item) => item.to.length > 0 },
    ),
  );
  const { tree } = fc.letrec<{ tree: Case }>((tie) => ({
    tree: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      leaf,
      fc.array(tie('tree'), { minLength: 1, maxLength: 3 }).map(
        (list): Case => ({
          text: `{and: [${list.map((each) => each.text).join(', ')}]}`,
          holds: (item) => list.every((each) => each.holds(item)),
        }),
      ),
      fc.array(tie('tree'), { minLength: 1, maxLength: 3 }).map(
        (list): Case => ({
          text: `{or: [${list.map((each) => each.text).join(', ')}]}`,
          holds: (item) => list.some((each) => each.holds(item)),
        }),
      ),
      tie('tree').map((each): Case => ({ text: `{not: ${each.text}}`, holds: (item) => !each.holds(item) })),
      tie('tree').map(
        (each): Case => ({
          text: `{to: ${each.text}}`,
          holds: (item) => item.to.some((key) => each.holds(byKey(key))),
        }),
      ),
    ),
  }));
  return tree;
}

it('agrees with a plain model on any data, filter, order and page', async () => {
  await fc.assert(
    fc.asyncProperty(items, fc.gen(), async (list, gen) => {
      const world = await createWorld(SDL);
      const byKey = new Map(list.map((item) => [item.key, item]));
      const input = list.map(({ to, ...rest }) => ({ ...rest, to: to.map((key) => ({ key })) }));
      await world.data('mutation ($in: [AddItemInput!]!) { addItem(input: $in) { numUids } }', { in: input });
      for (let round = 0; round < 6; round++) {
        const { text, holds } = gen(() => filters((key) => byKey.get(key) as Item));
        const first = gen(() => fc.nat({ max: 5 }));
        const offset = gen(() => fc.nat({ max: 5 }));
        const page = `first: ${first}, offset: ${offset}`;
        const { all, some, count } = await world.data(`{
          all: queryItem(filter: ${text}, order: {desc: key}) { key from(order: {asc: key}) { key } }
          some: queryItem(filter: ${text}, order: {asc: key}, ${page}) { key to(filter: ${text}, order: {asc: key}, ${page}) { key } }
          count: aggregateItem(filter: ${text}) { count nSum }
        }`);
        const cut = (keys: readonly string[]) =>
          keys.toSorted().slice(offset, first === 0 ? undefined : offset + first);
        const matching = list.filter(holds);
        expect(all, text).toEqual(
          matching
            .map(({ key }) => ({
              key,
              from: list
                .filter(({ to }) => to.includes(key))
                .map((item) => ({ key: item.key }))
                .toSorted((a, b) => (a.key < b.key ? -1 : 1)),
            }))
            .toSorted((a, b) => (a.key < b.key ? 1 : -1)),
        );
        expect(
          some.map((item: Tree) => item.key),
          text,
        ).toEqual(cut(matching.map(({ key }) => key)));
        for (const item of some) {
          const to = (byKey.get(String(item.key)) as Item).to.filter((key) => holds(byKey.get(key) as Item));
          expect(
            item.to.map((each: Tree) => each.key),
            text,
          ).toEqual(cut(to));
        }
        const numbers = matching.flatMap(({ n }) => n ?? []);
        expect(count, text).toEqual({
          count: matching.length,
          nSum: numbers.length === 0 ? null : numbers.reduce((a, b) => a + b, 0),
        });
      }
    }),
    { numRuns: 12 },
  );
});
