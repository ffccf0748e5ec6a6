import { expect, it } from 'vitest';
import type { GraphsteadErrors } from '../../base/index.js';
import { createWorld } from '../../../test/support/api-world.js';

it.each([
  ['{ born: { eq: 1 } }', /^Give Person\.born @search in the type definitions\. PersonFilter has name, .*not/],
  [
    '{ name: { regexp: "/a/" } }',
    'Texts and enums have it by @search(by: [trigram or regexp]). StringHashFilter has eq, in.',
  ],
  ['{ name: { le: "a" } }', 'Texts and enums have it by @search(by: [exact]). StringHashFilter has eq, in.'],
  [
    '{ kind: { between: { min: A, max: B } } }',
    'Texts and enums have it by @search(by: [exact]). Kind_hash has eq, in.',
  ],
  ['{ zzz: 1 }', /^PersonFilter has name, /],
  ['{ place: 1 }', /^PersonFilter has name, /],
  ['{ name: { zzz: 1 } }', 'StringHashFilter has eq, in.'],
])('a filter that asks %s is told what its type definitions lack', async (filter, fix) => {
  const { ask } = await createWorld(
    'type Person { name: String! @id born: Int kind: Kind @search(by: [hash]) place: [Float!] @embedding } enum Kind { A B }',
  );
  const { errors } = await ask(`{ queryPerson(filter: ${filter}) { name } }`);
  const told = typeof fix === 'string' ? fix : expect.stringMatching(fix);
  expect(errors).toEqual([expect.objectContaining({ extensions: { code: 'INVALID_GRAPHQL', fix: told } })]);
});

it('a query that is subscribed to is told what makes it a live one', async () => {
  const { ask } = await createWorld('type Person { name: String! } type Live @withSubscription { name: String! }');
  for (const query of ['queryPerson', 'aggregatePerson']) {
    const { errors } = await ask(`subscription { ${query} { name } }`);
    const fix = `${query} is a query: give Person @withSubscription in the type definitions to subscribe to it.`;
    expect(errors).toEqual([expect.objectContaining({ extensions: { code: 'INVALID_GRAPHQL', fix } })]);
  }
});

it.each([
  ['{ kind: A }', 'Write { eq: A }. Kind_hash has eq, in.'],
  ['{ name: "ann" }', 'Write { eq: "ann" }. StringHashFilter has eq, in.'],
  ['{ name: ["ann", "ben"] }', 'Write { in: ["ann", "ben"] }. StringHashFilter has eq, in.'],
  ['{ age: 7 }', 'Write { eq: 7 }. IntFilter has eq, in, le, lt, ge, gt, between.'],
  ['{ text: "tea" }', 'StringTermFilter has allofterms, anyofterms.'],
  [`{ name: "${'a'.repeat(60)}" }`, 'StringHashFilter has eq, in.'],
  ['{ friends: "ann" }', /^PersonFilter has name, /],
  ['"ann"', /^PersonFilter has name, /],
])('a filter that is given the value alone, as in %s, is told how to ask for it', async (filter, fix) => {
  const { ask } = await createWorld(
    `type Person { name: String! @id age: Int @search kind: Kind @search text: String @search friends: [Person!] } enum Kind { A B }`,
  );
  const { errors } = await ask(`{ queryPerson(filter: ${filter}) { name } }`);
  const told = typeof fix === 'string' ? fix : expect.stringMatching(fix);
  expect(errors).toEqual([expect.objectContaining({ extensions: { code: 'INVALID_GRAPHQL', fix: told } })]);
});

it.each([
  ['order: { asc: kind }', 'PersonOrderable has name, age.'],
  ['order: { asc: "nam" }', 'PersonOrderable has name, age.'],
  ['filter: { kind: { in: [A, C] } }', 'Kind has A, B.'],
  ['filter: { has: [agee] }', 'PersonHasFilter has name, age, kind.'],
  [
    'filter: { big: { eq: Z } }',
    /^Big has 21 values: \{ __type\(name: "Big"\) \{ enumValues \{ name \} \} \} lists them\.$/,
  ],
])('a value that an enum has not, as in %s, is told with those that it has', async (given, fix) => {
  const values = Array.from({ length: 21 }, (_, i) => `V${i}`).join(' ');
  const big = given.includes('big') ? 'big: Big @search' : '';
  const { ask } = await createWorld(
    `type Person { name: String! @id age: Int kind: Kind @search ${big} } enum Kind { A B } enum Big { ${values} }`,
  );
  const { errors } = await ask(`{ queryPerson(${given}) { name } }`);
  const told = typeof fix === 'string' ? fix : expect.stringMatching(fix);
  expect(errors).toEqual([expect.objectContaining({ extensions: { code: 'INVALID_GRAPHQL', fix: told } })]);
});

it('who adds an interface is told what its nodes are made by', async () => {
  const { ask } = await createWorld(
    'interface Party { email: String! @id(interface: true) } type Buyer implements Party { tier: Int } type Seller implements Party { rank: Int } type Note { text: String }',
  );
  const fixOf = async (query: string) => (await ask(query)).errors?.map(({ extensions }) => extensions);
  expect(await fixOf('mutation { addParty(input: [{ email: "a" }]) { numUids } }')).toEqual([
    { code: 'INVALID_GRAPHQL', fix: 'Party is an interface: a node of it is made by addBuyer, addSeller.' },
  ]);
  const others = { code: 'INVALID_GRAPHQL', fix: expect.stringMatching(/^(Mutation|Query) has /) };
  expect(await fixOf('mutation { addParties(input: []) { numUids } }')).toEqual([others]);
  expect(await fixOf('{ addParty { numUids } }')).toEqual([others]);
});

it('what an input does not take is told with what it does, in variables as in texts', async () => {
  const { ask } = await createWorld(`
    type Person { id: ID! name: String! @id born: Int age: Int @search kind: Kind @search home: Home! pet: Pet }
    type Home { town: String! @id } type Cat { lives: Int } type Dog { breed: String } union Pet = Cat | Dog enum Kind { A B }`);
  const home = 'HomeRef has town.';
  const person = /^AddPersonInput has name, /;
  const order = 'Write { asc: age } or { desc: age }. PersonOrder has asc, desc, then, home.';
  const born = /^Give Person\.born @search in the type definitions\. PersonFilter has id, /;
  const cases: [kind: string, field: string, type: string, wrong: string, fix: string | RegExp][] = [
    [
      'mutation',
      'addPerson(input: $v) { numUids }',
      '[AddPersonInput!]!',
      '{name: "a", home: {town: "b", id: "0x1"}}',
      home,
    ],
    [
      'mutation',
      'addPerson(input: $v) { numUids }',
      '[AddPersonInput!]!',
      '[{name: "a", home: {town: "b"}, zzz: 1}]',
      person,
    ],
    ['mutation', 'addPerson(input: $v) { numUids }', '[AddPersonInput!]!', '[{name: "a", home: "b"}]', home],
    [
      'mutation',
      'updatePerson(input: $v) { numUids }',
      'UpdatePersonInput!',
      '{filter: {}, zzz: 1}',
      /^UpdatePersonInput has filter, /,
    ],
    ['query', 'queryPerson(order: $v) { name }', 'PersonOrder', '{age: 1}', order],
    ['query', 'queryPerson(filter: $v) { name }', 'PersonFilter', '{and: [{}, {born: {eq: 1}}]}', born],
    ['query', 'queryPerson(filter: $v) { name }', 'PersonFilter', '{age: 7}', /^Write \{ eq: 7 \}\. IntFilter has /],
    ['query', 'queryPerson(filter: $v) { name }', 'PersonFilter', '{kind: {in: ["A", "C"]}}', 'Kind has A, B.'],
  ];
  for (const [kind, field, type, wrong, fix] of cases) {
    const told = expect.objectContaining({
      extensions: { code: 'INVALID_GRAPHQL', fix: typeof fix === 'string' ? fix : expect.stringMatching(fix) },
    });
    expect((await ask(`${kind} { ${field.replace('$v', wrong.replace(/"(A|C)"/g, '$1'))} }`)).errors).toEqual([told]);
    const v: unknown = JSON.parse(wrong.replace(/(\w+):/g, '"$1":'));
    expect((await ask(`${kind} ($v: ${type}) { ${field} }`, { v })).errors).toEqual([told]);
  }
  const both = await ask(
    'query ($a: PersonOrder, $b: PersonFilter) { a: queryPerson(order: $a) { name } b: queryPerson(filter: $b) { name } }',
    {
      a: { asc: 'zzz', zzz: 1 },
      b: { not: { kind: 1, zzz: 2 } },
    },
  );
  expect(both.errors?.map(({ extensions }) => (extensions as { fix?: string }).fix)).toEqual([
    'PersonOrderable has name, born, age.',
    'PersonOrder has asc, desc, then, home.',
    'Write { eq: 1 }. Kind_hash has eq, in.',
    expect.stringMatching(/^PersonFilter has /),
  ]);
  const union = await ask('{ queryPerson { pet { breed } } }');
  expect(union.errors).toMatchObject([{ extensions: { fix: 'Ask for it by type, as in ... on Dog { ... }.' } }]);
});

it('a rule of @auth is told as a request would be, at its place in the definitions', async () => {
  const upload = (rule: string) => {
    const text = `type Person @auth(query: { rule: "${rule}" }) {\n name: String! @id born: Int }`;
    return createWorld(text).then(
      () => [],
      ({ errors }: GraphsteadErrors) =>
        errors.map(({ position, fix }) => [position?.line, text.slice((position?.column ?? 0) - 1).slice(0, 5), fix]),
    );
  };
  expect(await upload('query { queryPerson(filter: {name: {eq: $USER}}) { name } }')).toEqual([
    [1, '$USER', 'Declare it behind the name of the operation, as $USER: String.'],
  ]);
  const born = expect.stringMatching(/^Give Person\.born @search in the type definitions\./);
  expect(await upload('  query { queryPerson(filter: {born: {eq: 1}}) { name } }')).toEqual([[1, 'born:', born]]);
  expect(await upload('query { queryPerson { nam } }')).toEqual([[1, 'nam }', 'Person has name, born.']]);
  expect(await upload('query ($A: Nothing) { queryPerson(filter: {name: {eq: $A}}) { name } }')).toEqual([
    [1, 'Nothi', 'Query Person by what its generated filter and fields offer.'],
  ]);
});
