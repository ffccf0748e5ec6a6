import { SignJWT } from 'jose';
import { beforeEach, describe, expect, it } from 'vitest';
import { contextOf, createWorld, type Tree, type World } from '../../../test/support/api-world.js';
import { defaultNames, dgraphNames } from '../../base/index.js';

const KEY = 'a key of at least thirty-two bytes, for HS256';
const SPACE = 'https://ships.example/claims';

const SDL = `
  type User @auth(delete: {rule: "{$ROLE: {eq: \\"admin\\"}}"}) { name: String! @id docs: [Doc] @hasInverse(field: owner) teams: [Team] @hasInverse(field: members) }
  type Team { name: String! @id members: [User] }
  type Doc @auth(
    query: {or: [
      {rule: "query ($USER: String!) { queryDoc { owner(filter: {name: {eq: $USER}}) { name } } }"},
      {rule: "query ($USER: String!) { queryDoc { owner { teams { members(filter: {name: {eq: $USER}}) { name } } } } }"},
      {rule: "{$ROLE: {in: [\\"admin\\", \\"auditor\\"]}}"}
    ]},
    add: {rule: "query ($USER: String!) { queryDoc { owner(filter: {name: {eq: $USER}}) { name } } }"},
    update: {and: [
      {rule: "query ($USER: String!) { queryDoc { owner(filter: {name: {eq: $USER}}) { name } } }"},
      {not: {rule: "query { queryDoc(filter: {locked: true}) { id } }"}}
    ]},
    delete: {rule: "{$ROLE: {regexp: \\"/^adm/\\"}}"}
  ) { id: ID! title: String! @search(by: [exact]) locked: Boolean @search owner: User! }
  interface Node @auth(query: {rule: "query { queryNode(filter: {public: true}) { id } }"}) { id: ID! public: Boolean @search label: String @search(by: [exact]) }
  type Plain implements Node { size: Int }
  type Guarded implements Node @auth(query: {rule: "{$ROLE: {eq: \\"admin\\"}}"}) { size: Int }
  # Service.Authorization {"Header": "X-Token", "Namespace": "${SPACE}", "Algo": "HS256", "VerificationKey": "${KEY}", "Audience": ["ships"]}
`;

const ADD = `mutation {
  addUser(input: [{name: "ann"}, {name: "ben"}, {name: "cat"}]) { numUids }
  addTeam(input: [{name: "blue", members: [{name: "ann"}, {name: "ben"}]}]) { numUids }
  addPlain(input: [{public: true, label: "p1"}, {public: false, label: "p2"}]) { numUids }
  addGuarded(input: [{public: true, label: "g1"}, {public: false, label: "g2"}]) { numUids }
}`;

describe('@auth', () => {
  let world: World;
  const as = (USER: string | undefined, ROLE?: string) => ({
    claims: { ...(USER ? { USER } : {}), ...(ROLE ? { ROLE } : {}) },
  });
  const titles = async (query: string, who: object): Promise<string[]> => {
    const { docs } = await world.data(`{ docs: ${query} { title } }`, {}, who);
    return docs.map((doc: Tree) => String(doc.title)).sort();
  };

  beforeEach(async () => {
    world = await createWorld(SDL);
    await world.data(ADD);
    for (const [user, title, locked] of [
      ['ann', 'a1', false],
      ['ann', 'a2', true],
      ['ben', 'b1', false],
      ['cat', 'c1', false],
    ]) {
      await world.data(
        `mutation { addDoc(input: [{title: "${title}", locked: ${locked}, owner: {name: "${user}"}}]) { numUids } }`,
        {},
        as(String(user)),
      );
    }
  });

  it('shows what the rules of the graph reach, and all to a role', async () => {
    expect(await titles('queryDoc', as('cat'))).toEqual(['c1']);
    expect(await titles('queryDoc', as('ann'))).toEqual(['a1', 'a2', 'b1']);
    expect(await titles('queryDoc', as(undefined, 'auditor'))).toEqual(['a1', 'a2', 'b1', 'c1']);
    expect(await titles('queryDoc', as(undefined, 'nobody'))).toEqual([]);
    expect(await titles('queryDoc(filter: {title: {in: ["a1", "c1"]}})', as('ben'))).toEqual(['a1']);
  });

  it('hides nodes behind edges, in aggregates and in filters as well', async () => {
    const { queryUser, aggregateDoc } = await world.data(
      '{ queryUser(order: {asc: name}) { name docs(order: {asc: title}) { title } docsAggregate { count } } aggregateDoc { count } }',
      {},
      as('cat'),
    );
    expect(queryUser.map((user: Tree) => [user.name, user.docs, user.docsAggregate])).toEqual([
      ['ann', [], { count: 0 }],
      ['ben', [], { count: 0 }],
      ['cat', [{ title: 'c1' }], { count: 1 }],
    ]);
    expect(aggregateDoc).toEqual({ count: 1 });
    const probe = await world.data('{ queryUser(filter: {docs: {title: {eq: "a1"}}}) { name } }', {}, as('cat'));
    expect(probe.queryUser).toEqual([]);
  });

  it('does not tell of hidden nodes by has, where the peer does', async () => {
    const owners = async (filter: string, who: object, of = world) =>
      (await of.data(`{ queryUser(filter: ${filter}, order: {asc: name}) { name } }`, {}, who)).queryUser.map(
        ({ name }: Tree) => name,
      );
    expect(await owners('{has: [docs]}', as('cat'))).toEqual(['cat']);
    expect(await owners('{not: {has: [docs]}}', as('cat'))).toEqual(['ann', 'ben']);
    expect(await owners('{has: docs}', as(undefined, 'nobody'))).toEqual([]);
    expect(await owners('{has: docs}', { trusted: true })).toEqual(['ann', 'ben', 'cat']);
    const peer = await createWorld(SDL, { names: dgraphNames });
    await peer.data('mutation { addDoc(input: [{title: "x", owner: {name: "ann"}}]) { numUids } }', {}, as('ann'));
    expect(await owners('{has: docs}', as('cat'), peer)).toEqual(['ann']);
  });

  it('lets nothing be added, updated or deleted against the rules', async () => {
    const foreign = await world.ask(
      'mutation { addDoc(input: [{title: "x", owner: {name: "ann"}}]) { numUids } }',
      {},
      as('ben'),
    );
    expect(foreign.errors?.[0]).toMatchObject({
      message: expect.stringMatching(/authorization failed/),
      extensions: { code: 'FORBIDDEN', fix: "The token's claims do not meet the rule for add in @auth of Doc." },
    });
    const nobody = await world.ask('mutation { addDoc(input: [{title: "x", owner: {name: "ann"}}]) { numUids } }');
    expect(nobody.errors?.[0]).toMatchObject({
      extensions: { fix: 'Send a token that meets the rule for add in @auth of Doc.' },
    });
    expect(await titles('queryDoc', as(undefined, 'auditor'))).toHaveLength(4);
    const update =
      'mutation { updateDoc(input: {filter: {has: title}, set: {locked: false}}) { numUids doc { title } } }';
    expect((await world.data(update, {}, as('ann'))).updateDoc).toEqual({ numUids: 1, doc: [{ title: 'a1' }] });
    expect((await world.data(update, {}, as(undefined))).updateDoc).toEqual({ numUids: 0, doc: [] });
    const remove = 'mutation { deleteDoc(filter: {title: {eq: "c1"}}) { msg numUids } }';
    expect((await world.data(remove, {}, as('cat'))).deleteDoc).toEqual({ msg: 'No nodes were deleted', numUids: 0 });
    expect((await world.data(remove, {}, as('ann', 'admin'))).deleteDoc.numUids).toBe(1);
  });

  it('applies the rules of interfaces to their types, and each type its own below an interface', async () => {
    const labels = async (query: string, who: object) =>
      (await world.data(`{ nodes: ${query} { label } }`, {}, who)).nodes.map((node: Tree) => String(node.label)).sort();
    expect(await labels('queryPlain', as('ann'))).toEqual(['p1']);
    expect(await labels('queryGuarded', as('ann'))).toEqual([]);
    expect(await labels('queryGuarded', as('ann', 'admin'))).toEqual(['g1']);
    expect(await labels('queryNode', as('ann'))).toEqual(['p1']);
    expect(await labels('queryNode', as('ann', 'admin'))).toEqual(['g1', 'p1']);
  });

  it('keeps complete nodes only where @cascade meets what a rule hides', async () => {
    const { queryUser } = await world.data(
      '{ queryUser @cascade { name docs { title } } }',
      {},
      as(undefined, 'nobody'),
    );
    expect(queryUser).toEqual([]);
  });

  it('compares claims that are objects by what they hold', async () => {
    const shelf = await createWorld(`type Book @auth(query: {or: [
      {rule: "{$USER: {eq: {\\"desk\\": [1, {\\"at\\": null}]}}}"},
      {rule: "{$USER: {in: [{\\"a\\": \\"b\\"}, {\\"c\\": \\"d\\"}]}}"}]}) { name: String! @id }`);
    await shelf.data('mutation { addBook(input: [{name: "one"}]) { numUids } }');
    const seen = async (USER: unknown): Promise<number> =>
      (await shelf.data('{ queryBook { name } }', {}, { claims: { USER } })).queryBook.length;
    for (const user of [{ desk: [1, { at: null }] }, { a: 'b' }, { c: 'd' }]) expect(await seen(user)).toBe(1);
    for (const user of [{ desk: [1] }, { a: 'b', c: 'd' }, { a: 'c' }, {}, 'b', { desk: { 0: 1, 1: { at: null } } }])
      expect(await seen(user)).toBe(0);
  });

  it('finds claims by names that GraphQL can say', async () => {
    const shelf = await createWorld(`type Book @auth(query: {or: [
      {rule: "query ($x_hasura_user_id: Int!) { queryBook(filter: {pages: {eq: $x_hasura_user_id}}) { name } }"},
      {rule: "{$https___app_example_roles: {eq: \\"reader\\"}}"},
      {rule: "{$_2nd: {eq: true}}"}]}) { name: String! @id pages: Int @search }`);
    await shelf.data('mutation { addBook(input: [{name: "one", pages: 7}]) { numUids } }');
    const seen = async (claims: Readonly<Record<string, unknown>>): Promise<number> =>
      (await shelf.data('{ queryBook { name } }', {}, { claims })).queryBook.length;
    for (const claims of [
      { 'x-hasura-user-id': '7' },
      { x_hasura_user_id: 7, 'x-hasura-user-id': '8' },
      { 'https://app.example/roles': ['writer', 'reader'] },
      { '2nd': true },
    ])
      expect(await seen(claims)).toBe(1);
    for (const claims of [
      { 'x-hasura-user-id': '8' },
      { 'X-Hasura-User-Id': '7' },
      { x_hasura_user_id: null, 'x-hasura-user-id': '7' },
      { 'x-hasura-user-id': '7', 'x-hasura-user.id': '7' },
    ])
      expect(await seen(claims)).toBe(0);
  });

  it('reads claims that a graph rule names as its variables say, also from text', async () => {
    const shelf = await createWorld(`type Book @auth(query: {or: [
      {rule: "query ($NEW: Boolean!) { queryBook(filter: {isNew: $NEW}) { name } }"},
      {rule: "query ($PAGES: [Int!]!) { queryBook(filter: {pages: {in: $PAGES}}) { name } }"},
      {rule: "query ($NAME: String!) { queryBook(filter: {name: {eq: $NAME}}) { name } }"}]})
      { name: String! @id isNew: Boolean @search pages: Int @search }`);
    await shelf.data('mutation { addBook(input: [{name: "7", isNew: true, pages: 30}]) { numUids } }');
    const seen = async (claims: Readonly<Record<string, unknown>>): Promise<number> =>
      (await shelf.data('{ queryBook { name } }', {}, { claims })).queryBook.length;
    for (const claims of [{ NEW: true }, { NEW: 'true' }, { PAGES: [30] }, { PAGES: ['1', '30'] }, { PAGES: '30' }])
      expect(await seen(claims)).toBe(1);
    for (const claims of [{ NAME: '7' }, { NAME: 7 }]) expect(await seen(claims)).toBe(1);
    for (const claims of [{ NEW: 'false' }, { NEW: 'yes' }, { PAGES: 'many' }, { PAGES: [] }, { NAME: ['7', '8'] }])
      expect(await seen(claims)).toBe(0);
  });

  it('denies by a claim that is no time only what the rule over it allows', async () => {
    const since = 'query ($SINCE: DateTime!) { queryBook(filter: {written: {ge: $SINCE}}) { name } }';
    const between = 'query ($DAYS: [DateTime]) { queryBook(filter: {written: {in: $DAYS}}) { name } }';
    const mine = 'query ($USER: String!) { queryBook(filter: {owner: {eq: $USER}}) { name } }';
    const rules = `or: [{rule: "${since}"}, {rule: "${between}"}, {rule: "${mine}"}]`;
    const shelf = await createWorld(`type Book @auth(query: {${rules}}, delete: {not: {rule: "${since}"}})
      { name: String! @id owner: String @search(by: [exact]) written: DateTime @search }`);
    await shelf.data(`mutation { addBook(input: [{name: "old", owner: "ann", written: "1990-01-01"},
      {name: "new", written: "2024-05-01T10:00:00Z"}]) { numUids } }`);
    const seen = async (claims: Readonly<Record<string, unknown>>): Promise<string[]> =>
      (await shelf.data('{ queryBook(order: {asc: name}) { name } }', {}, { claims })).queryBook.map((book: Tree) =>
        String(book.name),
      );
    expect(await seen({ SINCE: '2000-01-01' })).toEqual(['new']);
    expect(await seen({ DAYS: ['1990-01-01', '2024'] })).toEqual(['old']);
    for (const text of ['', 'yesterday', '2024-13-01', 1704067200]) {
      expect(await seen({ SINCE: text, DAYS: ['1990-01-01', text] })).toEqual([]);
      expect(await seen({ SINCE: text, DAYS: text, USER: 'ann' })).toEqual(['old']);
    }
    const { deleteBook } = await shelf.data(
      'mutation { deleteBook(filter: {}) { numUids } }',
      {},
      { claims: { SINCE: 'x' } },
    );
    expect(deleteBook.numUids).toBe(0);
  });

  it.each([
    ['name: {regexp: $C}', 'String!', '/^ol/', ['ol', '', '/(/', '/a/q', '/(?=a)/', `/${'a'.repeat(20_000)}/`]],
    ['at: {near: {coordinate: {latitude: $C, longitude: 2}, distance: 10}}', 'Float!', 1, [500, '-91', 1e300]],
    ['at: {near: {coordinate: {latitude: 1, longitude: 2}, distance: $C}}', 'Float!', 10, [-5]],
    [
      'area: {contains: {polygon: $C}}',
      'PolygonRef!',
      {
        coordinates: [
          {
            points: [
              [1, 1],
              [1, 2],
              [2, 2],
            ].map(([latitude, longitude]) => ({ latitude, longitude })),
          },
        ],
      },
      [{ coordinates: [] }, { coordinates: [{ points: [{ latitude: 1, longitude: 1 }] }] }],
    ],
  ])(
    'denies by a claim with which nothing can be asked only what the rule over it allows: %s',
    async (asked, type, good, bad) => {
      // the edge stands first: what was compiled before the claim is no matter
      const rule = `query ($C: ${type}) { queryShop(filter: {next: {name: {eq: \\"none\\"}}, or: {${asked}}}) { name } }`;
      const mine = 'query ($USER: String!) { queryShop(filter: {owner: {eq: $USER}}) { name } }';
      const shops =
        await createWorld(`type Shop @auth(query: {or: [{rule: "${rule}"}, {rule: "${mine}"}]}, delete: {not: {rule: "${rule}"}}) {
      name: String! @search(by: [regexp, exact]) owner: String @search(by: [exact]) next: Shop at: Point @search area: Polygon @search }`);
      const ring =
        '[{latitude: 0, longitude: 0}, {latitude: 0, longitude: 9}, {latitude: 9, longitude: 9}, {latitude: 9, longitude: 0}]';
      await shops.data(
        `mutation { addShop(input: [{name: "old", owner: "ann", at: {latitude: 1, longitude: 2}, area: {coordinates: [{points: ${ring}}]}}, {name: "new"}]) { numUids } }`,
      );
      const seen = async (claims: Readonly<Record<string, unknown>>) =>
        (await shops.data('{ queryShop { name } }', {}, { claims })).queryShop.map((shop: Tree) => String(shop.name));
      expect(await seen({ C: good })).toEqual(['old']);
      for (const claim of bad) {
        expect(await seen({ C: claim })).toEqual([]);
        expect(await seen({ C: claim, USER: 'ann' })).toEqual(['old']);
        const gone = await shops.data('mutation { deleteShop(filter: {}) { numUids } }', {}, { claims: { C: claim } });
        expect(gone.deleteShop.numUids).toBe(0);
      }
    },
  );

  it('shows nothing by the negation of what a missing claim leaves open', async () => {
    const mine = '{rule: "query ($USER: String!) { queryBook(filter: {owner: {eq: $USER}}) { name } }"}';
    const open = '{rule: "query { queryBook(filter: {open: true}) { name } }"}';
    const seen = async (rule: string, claims: Readonly<Record<string, unknown>>): Promise<number> => {
      const shelf = await createWorld(`type Book @auth(query: ${rule}) { name: String! @id
        owner: String @search(by: [exact]) open: Boolean @search }`);
      await shelf.data('mutation { addBook(input: [{name: "a", owner: "ann"}, {name: "b", open: true}]) { numUids } }');
      return (await shelf.data('{ queryBook { name } }', {}, { claims })).queryBook.length;
    };
    for (const rule of [`{not: {or: [${mine}, ${open}]}}`, `{not: {and: [${open}, {or: [${mine}, ${open}]}]}}`]) {
      expect(await seen(rule, {})).toBe(0);
      expect(await seen(rule, { USER: 'ben' })).toBe(1);
    }
    expect(await seen(`{or: [${mine}, ${open}]}`, {})).toBe(1);
  });

  it('asks below a union for what a @cascade above it names, as queries do', async () => {
    const asked = 'queryDen @cascade(fields: ["name", "text"]) { beasts { ... on Bear { cave { id } } } }';
    const sdl = (rule: string) => `
      type Bear { id: ID! name: String cave: Cave }
      type Owl { id: ID! name: String }
      type Cave { id: ID! text: String }
      union Beast = Bear | Owl
      type Den ${rule} { name: String! @id beasts: [Beast] text: String }`;
    const den = await createWorld(sdl(`@auth(query: {rule: ${JSON.stringify(`query { ${asked} }`)}})`));
    await den.data(`mutation { addDen(input: [
      {name: "a", text: "t", beasts: [{bearRef: {cave: {text: "deep"}}}]},
      {name: "b", text: "t", beasts: [{bearRef: {name: "b", cave: {}}}]}
      {name: "c", beasts: [{bearRef: {cave: {text: "deep"}}}]}]) { numUids } }`);
    expect(await den.data('{ queryDen { name } }')).toEqual({ queryDen: [{ name: 'a' }] });
  });

  it.each([
    ['of that type alone', ['has'], 'has'],
    ['of each, where several are joined by or', ['has', 'other'], 'has', 'other'],
  ])('passes by a fragment in the rule of an interface nodes %s', async (_, seen, ...fragments) => {
    const on = { has: 'Plain { size }', other: 'Round { width }' };
    const rules = fragments.map((each) => `{rule: "query { queryShape { ... on ${on[each as keyof typeof on]} } }"}`);
    const world = await createWorld(`
      interface Shape @auth(query: {or: [${rules.join(' ')}]}) { name: String! @id }
      type Plain implements Shape { size: Int }
      type Round implements Shape { width: Int }`);
    await world.data(`mutation { addPlain(input: [{name: "has", size: 1}, {name: "lacks"}]) { numUids }
      addRound(input: [{name: "other", width: 1}, {name: "bare"}]) { numUids } }`);
    const { queryShape } = await world.data('{ queryShape(order: {asc: name}) { name } }');
    expect(queryShape.map(({ name }: Tree) => name)).toEqual(seen);
  });

  it('follows rules through unions', async () => {
    const den = await createWorld(`
      type Bear { name: String! @id cave: Cave }
      type Owl { name: String! @id }
      type Cave { name: String! @id }
      union Beast = Bear | Owl
      type Den @auth(query: {rule: "query { queryDen { beasts { ... on Bear { cave { name } } } } }"}) { name: String! @id beasts: [Beast] }`);
    await den.data(`mutation { addDen(input: [
      {name: "full", beasts: [{bearRef: {name: "b1", cave: {name: "c"}}}, {owlRef: {name: "o"}}]},
      {name: "bare", beasts: [{bearRef: {name: "b2"}}, {owlRef: {name: "o"}}]}]) { numUids } }`);
    expect((await den.data('{ queryDen { name beasts { __typename } } }')).queryDen).toEqual([
      { name: 'full', beasts: [{ __typename: 'Bear' }, { __typename: 'Owl' }] },
    ]);
  });

  it('verifies tokens: signature, time, audience, namespace', async () => {
    const secret = new TextEncoder().encode(KEY);
    const token = (claims: object, expires = '5m', key = secret) =>
      new SignJWT({ [SPACE]: claims })
        .setProtectedHeader({ alg: 'HS256' })
        .setSubject('s-1')
        .setAudience('ships')
        .setExpirationTime(expires)
        .sign(key);
    const claims = (value: string) => world.api.claims({ 'x-token': value });
    expect(await claims(await token({ USER: 'ann' }))).toMatchObject({ USER: 'ann', sub: 's-1' });
    expect(await claims(`Bearer ${await token(JSON.parse('{"USER": "ben"}'))}`)).toMatchObject({ USER: 'ben' });
    expect(await world.api.claims({})).toBeUndefined();
    const refused = { code: 'UNAUTHENTICATED' };
    await expect(claims(await token({}, '-1m'))).rejects.toMatchObject(refused);
    await expect(claims(await token({}, '5m', new TextEncoder().encode(`${KEY}!`)))).rejects.toMatchObject(refused);
    await expect(claims('Bearer two words')).rejects.toMatchObject(refused);
    const elsewhere = await new SignJWT({}).setProtectedHeader({ alg: 'HS256' }).setAudience('trains').sign(secret);
    await expect(claims(elsewhere)).rejects.toMatchObject(refused);
  });

  it('shows nothing without a token where it is closed by default', async () => {
    const closed = await createWorld(
      'type Open { name: String }\n# Service.Authorization {"Header": "X-Token", "Namespace": "n", "Algo": "HS256", "VerificationKey": "k", "ClosedByDefault": true}',
    );
    const answer = await closed.ask('{ queryOpen { name } }');
    expect(answer.errors?.[0].extensions.code).toBe('UNAUTHENTICATED');
    expect((await closed.ask('mutation { addOpen(input: [{}]) { numUids } }')).errors).toHaveLength(1);
    expect((await closed.data('{ queryOpen { name } }', {}, as('ann'))).queryOpen).toEqual([]);
  });
});

describe('an edge that rules look through', () => {
  const as = (USER: string, ROLE = 'user') => ({ claims: { USER, ROLE } });
  const rule = (text: string) => `{rule: ${JSON.stringify(text)}}`;
  const admin = rule('{$ROLE: {eq: "admin"}}');
  const self = rule('query ($USER: String!) { queryUser(filter: {name: {eq: $USER}}) { name } }');
  const member = (selected: string) => rule(`query ($USER: String!) { ${selected} }`);
  const MEMBER = [
    ['selected', member('queryProject { members(filter: {name: {eq: $USER}}) { name } }')],
    [
      'in a fragment',
      member('queryProject { ...M } } fragment M on Project { members(filter: {name: {eq: $USER}}) { name }'),
    ],
    ['filtered by', member('queryProject(filter: {or: [{not: {not: {members: {name: {eq: $USER}}}}}]}) { key }')],
    [
      'inside a nest of rules',
      `{and: [{not: {not: ${member('queryProject { members(filter: {name: {eq: $USER}}) { name } }')}}}]}`,
    ],
  ];
  const sdl = (memberRule: string) => `
    type User @auth(update: ${self}) { name: String! @id projects: [Project] @hasInverse(field: members) }
    type Project @auth(query: ${memberRule}, add: ${admin}, update: {or: [${admin}, ${memberRule}]}) @generate(query: {query: true, get: false}) {
      key: String! @id
      members: [User]
      notes: [Note] @hasInverse(field: project)
    }
    type Note { text: String! @id project: Project! }
  `;
  const SEED = `mutation {
    addUser(input: [{name: "ann"}, {name: "eve"}]) { numUids }
    addProject(input: [{key: "secret", members: [{name: "ann"}]}, {key: "open", members: [{name: "ann"}]}]) { numUids }
  }`;
  const seeded = async (memberRule = MEMBER[0][1], names = defaultNames) => {
    const world = await createWorld(sdl(memberRule), { names });
    await world.data(SEED, {}, as('root', 'admin'));
    return world;
  };
  const keys = async (world: World, who: object) =>
    (await world.data('{ queryProject(order: {asc: key}) { key } }', {}, who)).queryProject.map(({ key }: Tree) => key);
  const join = (key: string) =>
    `mutation { updateUser(input: {filter: {name: {eq: "eve"}}, set: {projects: [{key: "${key}"}]}}) { numUids } }`;
  const FORBIDDEN = { extensions: { code: 'FORBIDDEN', type: 'Project', action: 'update' } };

  it.each(MEMBER)('is made from its other end only by who may update the node: %s', async (_, memberRule) => {
    const world = await seeded(memberRule);
    expect((await world.ask(join('secret'), {}, as('eve'))).errors?.[0]).toMatchObject(FORBIDDEN);
    const added = 'mutation { addUser(input: [{name: "mallory", projects: [{key: "secret"}]}]) { numUids } }';
    expect((await world.ask(added, {}, as('mallory'))).errors?.[0]).toMatchObject(FORBIDDEN);
    expect(await keys(world, as('eve'))).toEqual([]);
    const invited =
      'mutation { updateProject(input: {filter: {key: {eq: "open"}}, set: {members: [{name: "eve"}]}}) { numUids } }';
    await world.data(invited.replace('filter: {key: {eq: "open"}}', 'filter: {}'), {}, as('eve'));
    expect(await keys(world, as('eve'))).toEqual([]);
    await world.data(invited, {}, as('ann'));
    expect(await keys(world, as('eve'))).toEqual(['open']);
  });

  it('is removed from its other end by the same right, and is no matter where nothing changes', async () => {
    const world = await seeded();
    const leave =
      'mutation { updateUser(input: {filter: {name: {eq: "ann"}}, remove: {projects: [{key: "secret"}]}}) { numUids } }';
    const others = leave.replace(/ann/, 'eve');
    expect((await world.ask(others, {}, as('eve'))).errors).toBeUndefined();
    expect((await world.ask(join('secret').replace('eve', 'ann'), {}, as('ann'))).errors).toBeUndefined();
    expect((await world.ask(leave, {}, as('ann'))).errors).toBeUndefined();
    expect(await keys(world, as('ann'))).toEqual(['open']);
    expect((await world.ask(join('secret').replace('eve', 'ann'), {}, as('ann'))).errors?.[0]).toMatchObject(FORBIDDEN);
  });

  it('is the only one: what no rule looks through is written from either end', async () => {
    const world = await seeded();
    const note = 'mutation { addNote(input: [{text: "from outside", project: {key: "secret"}}]) { numUids } }';
    expect((await world.ask(note, {}, as('eve'))).errors).toBeUndefined();
    const { queryProject } = await world.data('{ queryProject(order: {asc: key}) { notes { text } } }', {}, as('ann'));
    expect(queryProject).toEqual([{ notes: [] }, { notes: [{ text: 'from outside' }] }]);
  });

  it('is written from either end as Dgraph has it, under its names', async () => {
    const world = await seeded(undefined, dgraphNames);
    expect((await world.ask(join('secret'), {}, as('eve'))).errors).toBeUndefined();
  });
});

it.each([defaultNames, dgraphNames])('reads the directives of a rule', async (names) => {
  const world = await createWorld(
    `
    type Sign @auth(query: {rule: "query ($A: Boolean!) { querySign { id text @skip(if: $A) ... @include(if: $A) { by { name } } } }"}) { id: ID! text: String by: Person }
    type Named @auth(query: {rule: "query { queryNamed @cascade(fields: [\\"text\\"]) { id } }"}) { id: ID! key: Int @search text: String }
    type Off @auth(query: {not: {rule: "query ($A: Boolean!) { queryOff @skip(if: $A) { text } }"}}) { id: ID! text: String }
    type Person { name: String! @id }`,
    { names },
  );
  await world.data(`mutation {
    addSign(input: [{text: "one"}, {by: {name: "ann"}}]) { numUids }
    addNamed(input: [{key: 1, text: "one"}, {key: 2}]) { numUids }
    addOff(input: [{text: "one"}]) { numUids }
  }`);
  const see = (A: boolean) =>
    world.data('{ querySign { text by { name } } queryNamed { key } queryOff { text } }', {}, { claims: { A } });
  expect(await see(false)).toEqual({ querySign: [{ text: 'one', by: null }], queryNamed: [{ key: 1 }], queryOff: [] });
  expect(await see(true)).toEqual({
    querySign: [{ text: null, by: { name: 'ann' } }],
    queryNamed: [{ key: 1 }],
    queryOff: [{ text: 'one' }],
  });
});

it('tells nothing of hidden nodes by what a cascade would delete', async () => {
  const world = await createWorld(`
    type Safe @auth(query: {rule: "{$ROLE: {eq: \\"admin\\"}}"}, delete: {rule: "{$ROLE: {eq: \\"admin\\"}}"}) { name: String! @id pin: String @search(by: [hash]) }
    type Mine { name: String! @id of: Safe }
  `);
  const admin = { claims: { ROLE: 'admin' } };
  await world.data('mutation { addSafe(input: [{name: "s", pin: "1234"}]) { numUids } }', {}, admin);
  const guess = async (cascade: string) => {
    await world.data('mutation { addMine(input: [{name: "m", of: {name: "s"}}], upsert: true) { numUids } }');
    const { errors, data } = await world.ask(
      `mutation { deleteMine(filter: {}, cascade: {of: {${cascade}}}) { numUids } }`,
    );
    return errors?.[0].extensions.code ?? data?.deleteMine.numUids;
  };
  expect([await guess('filter: {pin: {eq: "1234"}}'), await guess('filter: {pin: {eq: "9"}}')]).toEqual([1, 1]);
  expect(await guess('')).toBe('FORBIDDEN');
  expect((await world.data('{ querySafe { pin } }', {}, admin)).querySafe).toEqual([{ pin: '1234' }]);
});

describe('the filter of a mutation', () => {
  const SAFES = `
    type Safe @auth(query: {rule: "query ($USER: String!) { querySafe(filter: {owner: {eq: $USER}}) { name } }"}) {
      id: ID! name: String! @id owner: String @search(by: [hash]) pin: String @search(by: [hash]) label: String in: Room
    }
    type Room { name: String! @id safes: [Safe] @hasInverse(field: in) }`;
  const eve = { claims: { USER: 'eve' } };
  const filled = async (names = defaultNames) => {
    const world = await createWorld(SAFES, { names });
    await world.data(`mutation { addSafe(input: [
      {name: "a", owner: "ann", pin: "1234", in: {name: "r"}}, {name: "e", owner: "eve", pin: "1234", in: {name: "r"}}]) { numUids } }`);
    const done = async (mutation: string): Promise<number> => {
      const { done: payload } = await world.data(`mutation { done: ${mutation} { numUids } }`, {}, eve);
      return Number(payload.numUids);
    };
    const labels = async () => {
      const { querySafe } = await world.data('{ querySafe(order: {asc: name}) { label } }', {}, { trusted: true });
      return querySafe.map(({ label }: Tree) => label);
    };
    const { querySafe } = await world.data('{ querySafe(order: {asc: name}) { id } }', {}, { trusted: true });
    return { done, labels, ids: querySafe.map(({ id }: Tree) => String(id)) };
  };
  const update = (filter: string) => `updateSafe(input: {filter: ${filter}, set: {label: "x"}})`;

  it.each([
    '{pin: {eq: "1234"}}',
    '{has: pin}',
    '{not: {pin: {eq: "9"}}}',
    '{or: [{pin: {eq: "1234"}}, {name: {eq: "a"}}]}',
    '{in: {name: {eq: "r"}}}',
    '{name: {in: ["a", "e"]}, pin: {eq: "1234"}}',
  ])('finds no node that its caller may not see, where it asks what nodes hold: %s', async (filter) => {
    const { done, labels } = await filled();
    expect(await done(update(filter))).toBe(1);
    expect(await labels()).toEqual([null, 'x']);
    expect(await done(`deleteSafe(filter: ${filter})`)).toBe(1);
    expect(await labels()).toEqual([null]);
  });

  it('finds those that it names, and all', async () => {
    const { done, labels, ids } = await filled();
    for (const filter of ['{}', '{name: {in: ["a", "e"]}}', `{id: ${JSON.stringify(ids)}}`])
      expect(await done(update(filter))).toBe(2);
    expect(await labels()).toEqual(['x', 'x']);
    expect(await done('deleteSafe(filter: {name: {eq: "a"}})')).toBe(1);
  });

  it('is held to the same along edges', async () => {
    const { done, labels } = await filled();
    const nested = (filter: string) =>
      done(`updateRoom(input: {filter: {}, nested: {safes: {${filter} set: {label: "x"}}}})`);
    await nested('filter: {pin: {eq: "1234"}}');
    expect(await labels()).toEqual([null, 'x']);
    await nested('');
    expect(await labels()).toEqual(['x', 'x']);
  });

  it('looks past the rules of queries under the names of the peer, as there', async () => {
    const { done } = await filled(dgraphNames);
    expect(await done(update('{pin: {eq: "1234"}}'))).toBe(2);
  });
});

it('tells nothing of hidden nodes by how many uids an answer has touched', async () => {
  const sdl = `
    type Safe @auth(query: {rule: "query ($USER: String!) { querySafe { keepers(filter: {name: {eq: $USER}}) { name } } }"}) {
      name: String! @id pin: String @search(by: [hash]) keepers: [User] in: Room
    }
    type Room { name: String! @id safes: [Safe] @hasInverse(field: in) }
    type User { name: String! @id }
    union Thing = Safe | Room
    type Shelf { name: String! @id things: [Thing] }`;
  const touched = async (hidden: readonly string[]) => {
    const world = await createWorld(sdl);
    const safes = ['"e", pin: "0", keepers: [{name: "eve"}]', ...hidden.map((pin, i) => `"h${i}", pin: "${pin}"`)];
    await world.data(`mutation { addSafe(input: [${safes.map((safe) => `{in: {name: "r"}, name: ${safe}}`)}]) { numUids }
      addShelf(input: [{name: "s", things: [{roomRef: {name: "r"}}]}]) { numUids } }`);
    const counts: unknown[] = [];
    for (const query of [
      '{ querySafe(order: {in: {asc: name}}) { name in { name } } }',
      '{ querySafe(filter: {in: {name: {eq: "r"}}}) { name } }',
      '{ queryRoom(order: {asc: name}) { safes(order: {in: {asc: name}}) { name } safesAggregate { count } } }',
      '{ queryRoom(filter: {safes: {pin: {eq: "1"}}}) { name } }',
      '{ queryShelf(filter: {things: {memberTypes: [Safe, Room]}}) { things { __typename } } }',
      '{ aggregateSafe(filter: {not: {pin: {eq: "1"}}}) { count } }',
      'mutation { addSafe(input: [{name: "e", pin: "5"}], upsert: true) { numUids safe { pin } } }',
    ]) {
      const { body, headers } = await world.api.execute({ query }, contextOf({ claims: { USER: 'eve' } }));
      counts.push([query, JSON.parse(body.toString()), headers['graphql-toucheduids']]);
    }
    return counts;
  };
  expect(await touched(['1', '1', '2'])).toEqual(await touched(['3']));
});
