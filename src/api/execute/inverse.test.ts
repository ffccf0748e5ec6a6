import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createWorld, type Tree } from '../../../test/support/api-world.js';

const SDL = `
  type Left { key: String! @id mate: Right @hasInverse(field: mate) owned: [Right] @hasInverse(field: owner) all: [Right] @hasInverse(field: all) }
  type Right { key: String! @id mate: Left owner: Left all: [Left] }
`;
const KEYS = ['a', 'b', 'c'];
const key = fc.constantFrom(...KEYS);

/** An edge field of one side, whether it is a list, and the field at its other end. */
const EDGES = {
  Left: { mate: { list: false, back: 'mate' }, owned: { list: true, back: 'owner' }, all: { list: true, back: 'all' } },
  Right: {
    mate: { list: false, back: 'mate' },
    owner: { list: false, back: 'owned' },
    all: { list: true, back: 'all' },
  },
} as const;

const step = fc.constantFrom<'Left' | 'Right'>('Left', 'Right').chain((type) =>
  fc.record({
    type: fc.constant(type),
    field: fc.constantFrom(...Object.keys(EDGES[type])),
    action: fc.constantFrom<'set' | 'remove' | 'delete' | 'upsert'>('set', 'set', 'remove', 'upsert', 'delete'),
    from: key,
    to: key,
    more: key,
  }),
);

it('keeps both ends of every edge in step, whatever is added, set, removed and deleted', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 14 }), async (steps) => {
      const world = await createWorld(SDL);
      const all = KEYS.map((each) => `{key: "${each}"}`).join(', ');
      const fill = `mutation { addLeft(input: [${all}], upsert: true) { numUids } addRight(input: [${all}], upsert: true) { numUids } }`;
      await world.data(fill);
      for (const { type, field, action, from, to, more } of steps) {
        const edge = (EDGES[type] as Record<string, { list: boolean }>)[field];
        const reference = edge.list ? `[{key: "${to}"}]` : `{key: "${to}"}`;
        if (action === 'delete')
          await world.data(`mutation { delete${type}(filter: {key: {eq: "${from}"}}) { numUids } } `);
        else if (action === 'upsert') {
          await world.data(
            `mutation { add${type}(input: [{key: "${from}", ${field}: ${reference}}], upsert: true) { numUids } }`,
          );
        } else {
          await world.data(
            `mutation { update${type}(input: {filter: {key: {in: ["${from}"${action === 'set' ? `, "${more}"` : ''}]}}, ${action}: {${field}: ${reference}}}) { numUids } }`,
          );
          const end = (await world.data(`{ node: get${type}(key: "${from}") { ${field} { key } } }`)).node?.[field];
          const held = (Array.isArray(end) ? end : end ? [end] : []).map((each: Tree) => String(each.key));
          // of two nodes that are given one single partner, the one that came later keeps it
          if (action === 'remove' || from === more) expect(held.includes(to)).toBe(action === 'set');
        }
        await world.data(fill);
        await expectInStep(world);
      }
    }),
    { numRuns: 15 },
  );
});

async function expectInStep(world: Awaited<ReturnType<typeof createWorld>>): Promise<void> {
  const { queryLeft, queryRight } = await world.data(
    '{ queryLeft { key mate { key } owned { key } all { key } } queryRight { key mate { key } owner { key } all { key } } }',
  );
  const ends = (node: Tree, field: string): string[] =>
    [node[field]].flat().flatMap((end: Tree) => (end ? [String(end.key)] : []));
  for (const left of queryLeft) {
    for (const right of queryRight) {
      for (const [field, { back }] of Object.entries(EDGES.Left)) {
        const there = ends(left, field).includes(String(right.key));
        expect(ends(right, back).includes(String(left.key)), `${left.key}.${field} -> ${right.key}`).toBe(there);
      }
    }
  }
}

it('keeps the ends in step that types pair for themselves when their nodes are changed by the interface', async () => {
  const world = await createWorld(`
    type Author { name: String! @id questions: [Question] @hasInverse(field: author) answers: [Answer] @hasInverse(field: author) }
    interface Post { text: String! @id author: Author }
    type Question implements Post { open: Boolean }
    type Answer implements Post { score: Int }
  `);
  await world.data(`mutation {
    addAuthor(input: [{name: "A", questions: [{text: "q"}], answers: [{text: "a"}]}, {name: "B"}]) { numUids } }`);
  const ends = async () => {
    const { queryAuthor } = await world.data(
      '{ queryAuthor(order: {asc: name}) { questions { text } answers { text } } }',
    );
    return queryAuthor.map(({ questions, answers }: Tree) => [questions, answers].flat().map(({ text }) => text));
  };
  expect(await ends()).toEqual([['q', 'a'], []]);
  const update = async (change: string) =>
    await world.data(`mutation { updatePost(input: {filter: {has: text}, ${change}}) { numUids } }`);
  await update('set: {author: {name: "B"}}');
  expect(await ends()).toEqual([[], ['q', 'a']]);
  await update('set: {author: {name: "C"}}');
  expect(await ends()).toEqual([[], [], ['q', 'a']]);
  await update('remove: {author: {name: "C"}}');
  expect(await ends()).toEqual([[], [], []]);
  await update('set: {author: {name: "A"}}');
  await update('remove: {author: null}');
  expect(await ends()).toEqual([[], [], []]);
});

it('takes no edge away by the interface that the other end of one of its types requires', async () => {
  const world = await createWorld(`
    type Author { name: String! @id answer: Answer! @hasInverse(field: author) }
    interface Post { text: String! @id author: Author }
    type Question implements Post { open: Boolean }
    type Answer implements Post { score: Int }
  `);
  await world.data(`mutation { addAuthor(input: [{name: "A", answer: {text: "a"}}]) { numUids } }`);
  const mutation = 'mutation { updatePost(input: {filter: {has: text}, remove: {author: null}}) { numUids } }';
  expect((await world.ask(mutation)).errors?.[0].message).toMatch(/type Author requires answer/);
  expect(await world.data('{ queryAuthor { answer { text } } }')).toEqual({
    queryAuthor: [{ answer: { text: 'a' } }],
  });
});

it('sets what nodes of one update take from each other, whatever their order', async () => {
  const sdl = 'type Item { key: String! @id to: [Item] @hasInverse(field: from) from: [Item] @hasInverse(field: to) }';
  for (const keys of [
    ['a', 'b'],
    ['b', 'a'],
  ]) {
    const world = await createWorld(sdl);
    await world.data(`mutation { addItem(input: [${keys.map((one) => `{key: "${one}"}`).join(', ')}]) { numUids } }`);
    const update = 'set: {to: [{key: "b"}], from: [{key: "a"}]}, remove: {from: [{key: "a"}]}';
    await world.data(`mutation { updateItem(input: {filter: {key: {in: ["a", "b"]}}, ${update}}) { numUids } }`);
    const [a, b] = [{ key: 'a' }, { key: 'b' }];
    expect(
      await world.data(
        '{ queryItem(order: {asc: key}) { to(order: {asc: key}) { key } from(order: {asc: key}) { key } } }',
      ),
    ).toEqual({
      queryItem: [
        { to: [a, b], from: [a] },
        { to: [b], from: [a, b] },
      ],
    });
  }
});

it('sets an edge again that another node of the mutation has taken meanwhile', async () => {
  const world = await createWorld(SDL);
  await world.data('mutation { addLeft(input: [{key: "a", owned: [{key: "r"}]}, {key: "b"}]) { numUids } }');
  const both = 'filter: {key: {in: ["a", "b"]}}, set: {owned: [{key: "r"}]}';
  const back = 'nested: {owned: {set: {owner: {key: "a"}}}}';
  await world.data(`mutation { updateLeft(input: {${both}, ${back}}) { numUids } }`);
  expect(
    await world.data('{ getRight(key: "r") { owner { key } } queryLeft(order: {asc: key}) { owned { key } } }'),
  ).toEqual({
    getRight: { owner: { key: 'a' } },
    queryLeft: [{ owned: [{ key: 'r' }] }, { owned: [] }],
  });
});
