import { createHash } from 'node:crypto';
import { GraphQLInt, GraphQLList, GraphQLNonNull, GraphQLObjectType, GraphQLString } from 'graphql';
import { describe, expect, it } from 'vitest';
import { contextOf, createWorld } from '../../test/support/api-world.js';
import { dgraphNames } from '../base/index.js';
import { GraphQLInt64, type Operation, type RequestContext } from './index.js';

const PING: Operation = { name: 'ping', kind: 'query', args: {}, type: GraphQLString, run: async () => 'pong' };
const SDL = 'type City @withSubscription { name: String! @id people: Int @search }';

describe('the served schema', () => {
  it('says that there is none before the first upload', async () => {
    const world = await createWorld();
    const answer = await world.ask('{ queryThing { id } }');
    expect(answer.errors?.[0].message).toMatch(/no GraphQL schema/);
    expect(world.api.current()).toBeUndefined();
  });

  it('keeps serving what was there when an upload is refused', async () => {
    const world = await createWorld(SDL);
    const before = world.api.current();
    await expect(world.api.updateSchema('type City { name: Strin }')).rejects.toMatchObject({
      errors: [{ code: 'INVALID_SDL' }],
    });
    expect(world.api.current()).toBe(before);
    expect(await world.api.validate('type A {')).toMatchObject([{ code: 'INVALID_SDL' }]);
    expect(await world.api.validate(SDL)).toEqual([]);
    await world.data('mutation { addCity(input: [{name: "Bern"}]) { numUids } }');
  });

  it('leaves others their turn while it reads definitions, and what was there is served', async () => {
    let now = 0;
    // each look at this clock takes a slice's time
    const world = await createWorld(SDL, { clock: { wall: Date.now, monotonic: () => (now += 20) } });
    const before = world.api.current();
    const types = Array.from({ length: 30 }, (_, i) => `type T${i} { n: Int @search next: T${(i + 1) % 30} }`).join(
      '\n',
    );
    const turnsOf = async (work: Promise<unknown>): Promise<number> => {
      let turns = 0;
      let isWorking = true;
      const ended = work.finally(() => {
        isWorking = false;
      });
      while (isWorking) {
        await new Promise((resolve) => setImmediate(resolve));
        if (world.api.current() === before) turns++;
      }
      await ended;
      return turns;
    };
    expect(await turnsOf(world.api.validate(types))).toBeGreaterThan(500);
    expect(await turnsOf(world.api.remarks(types))).toBeGreaterThan(500);
    expect(await turnsOf(world.api.updateSchema(types))).toBeGreaterThan(500);
    expect(world.api.current()?.text).toBe(types);
  });

  it('has types of names that every object of the language knows', async () => {
    const world = await createWorld(`enum constructor { valueOf toString }
      type toString { id: ID! is: constructor @search other: [toString] }`);
    const { addtoString } = await world.data(
      'mutation { addtoString(input: [{ is: valueOf, other: [{ is: toString }] }]) { toString { is other { is } } } }',
    );
    expect(addtoString).toEqual({ toString: [{ is: 'valueOf', other: [{ is: 'toString' }] }] });
    const found = await world.data('{ querytoString(filter: { is: { eq: toString } }) { is } }');
    expect(found).toEqual({ querytoString: [{ is: 'toString' }] });
    expect(await world.api.validate('type valueOf { a: valueOf @search }')).toMatchObject([
      { message: expect.stringContaining('cannot have @search') },
    ]);
  });

  it('stores the text in the graph, reads it at start, forgets it when everything is dropped', async () => {
    const world = await createWorld(SDL);
    await world.api.load();
    expect(world.api.current()?.text).toBe(SDL);
    expect(world.api.current()?.generated).toContain('queryCity');
    await world.graph.setDocument('graphql.schema', 'type City { name: Strin }');
    expect(await world.api.load()).toMatchObject([{ code: 'INVALID_SDL' }]);
    expect((await world.ask('{ queryCity { name } }')).errors?.[0].message).toMatch(/stored GraphQL schema is refused/);
    world.api.setOperations([PING]);
    expect(await world.data('{ ping }')).toEqual({ ping: 'pong' });
    expect((await world.ask('{ queryCity { name } }')).errors).toMatchObject([
      { message: 'Cannot query field "queryCity" on type "Query".' },
      {
        message: expect.stringMatching(/stored GraphQL schema is refused: line 1/),
        extensions: { code: 'INVALID_SDL' },
      },
    ]);
    world.api.setOperations([]);
    await world.api.updateSchema(SDL);
    expect((await world.ask('{ queryCities { name } }')).errors).toHaveLength(1);
    await world.graph.alter({ kind: 'dropAll' });
    await world.api.dropped();
    expect(world.api.current()).toBeUndefined();
  });
});

describe('requests', () => {
  it('finds persisted queries by their hash', async () => {
    const world = await createWorld(SDL);
    const query = '{ queryCity { name } }';
    const sha256Hash = createHash('sha256').update(query).digest('hex');
    const send = async (given: object) => JSON.parse((await world.api.execute(given, contextOf())).body.toString());
    const extensions = { persistedQuery: { version: 1, sha256Hash } };
    expect((await send({ extensions })).errors[0].message).toBe('PersistedQueryNotFound');
    expect((await send({ query, extensions })).data).toEqual({ queryCity: [] });
    expect((await send({ extensions })).data).toEqual({ queryCity: [] });
    expect((await send({ query: '{ aggregateCity { count } }', extensions })).errors).toHaveLength(1);
  });

  it("lets a cache that many share keep what is nobody's own, and no errors", async () => {
    const line = '# Service.Authorization {"Header":"X-Token","Namespace":"n","Algo":"HS256","VerificationKey":"k"}';
    const world = await createWorld(`${SDL}\n${line}`);
    const headersOf = async (field: string, context = {}) =>
      (await world.api.execute({ query: `query @cacheControl(maxAge: 9) { ${field} }` }, contextOf(context))).headers;
    const vary = 'Accept-Encoding, X-Token';
    expect(await headersOf('queryCity { name }')).toMatchObject({ 'cache-control': 'public,max-age=9', vary });
    const own = await headersOf('queryCity { name }', { claims: { sub: 'ann' } });
    expect(own).toMatchObject({ 'cache-control': 'private,max-age=9', vary });
    expect(await headersOf('getCity(id: "none") { name }')).not.toHaveProperty('cache-control');
  });

  it('lets it keep nothing that a key let in, or that a remote may have been sent headers for', async () => {
    const world = await createWorld(`${SDL}
      type Weather @remote { sky: String }
      type Query { weather: Weather @custom(http: {url: "http://127.0.0.1:1/", method: GET, forwardHeaders: ["X-Home"]}) }`);
    const query = 'query @cacheControl(maxAge: 9) { queryCity { name } }';
    const kept = async (context: Partial<RequestContext>) => {
      const { headers } = await world.api.execute({ query }, contextOf(context));
      return [headers['cache-control'], headers['vary']];
    };
    const vary = 'Accept-Encoding, X-Home';
    expect(await kept({ caller: 'anyone' })).toEqual(['public,max-age=9', vary]);
    expect(await kept({ caller: 'a digest of a key' })).toEqual(['private,max-age=9', vary]);
    expect(await kept({ headers: { 'x-home': 'here' } })).toEqual(['private,max-age=9', vary]);
  });

  it('tells the status, cost and cache of an answer', async () => {
    const world = await createWorld(SDL);
    const good = await world.api.execute(
      { query: 'query @cacheControl(maxAge: 9) { queryCity { name } }' },
      contextOf(),
    );
    expect(good).toMatchObject({ status: 200, kind: 'query', headers: { 'cache-control': 'public,max-age=9' } });
    const past = { query: 'query($s: Int!) @cacheControl(maxAge: $s) { queryCity { name } }', variables: { s: -5 } };
    const refused = await world.api.execute(past, contextOf());
    expect(refused).toMatchObject({ status: 400, headers: {} });
    expect(refused.body.toString()).toContain('maxAge of @cacheControl is -5');
    const bad = await world.api.execute({ query: '{ queryCity }' }, contextOf());
    expect(bad.status).toBe(400);
    const get = await world.api.execute({ query: 'mutation { addCity(input: []) { numUids } }' }, contextOf(), {
      allowMutation: false,
    });
    expect(get.status).toBe(405);
  });

  it('names the operation that is missing', async () => {
    const world = await createWorld(SDL);
    const query = 'query a { queryCity { name } } query b { aggregateCity { count } }';
    const send = async (operationName?: string) =>
      JSON.parse((await world.api.execute({ query, operationName }, contextOf())).body.toString());
    expect((await send()).errors[0].message).toMatch(/operationName is required/);
    expect((await send('c')).errors[0].message).toMatch(/"c" is not an operation/);
    expect((await send('b')).data).toEqual({ aggregateCity: { count: 0 } });
  });
});

describe('a gateway', () => {
  it('is told the schema before the first @key', async () => {
    const world = await createWorld(SDL);
    expect((await world.data('{ _service { sdl } }'))._service.sdl).toContain('type City');
    expect((await world.ask('{ _service { nothing } }')).errors).toHaveLength(1);
  });
});

describe('operations', () => {
  const Box = new GraphQLObjectType({
    name: 'Box',
    fields: { size: { type: new GraphQLNonNull(GraphQLInt) }, tags: { type: new GraphQLList(GraphQLString) } },
  });
  const operations: Operation[] = [
    {
      name: 'boxes',
      kind: 'query',
      args: { n: { type: GraphQLInt } },
      type: new GraphQLList(Box),
      run: async ({ n }) => Array.from({ length: Number(n) }, (_, i) => ({ size: i === 1 ? undefined : i })),
    },
    {
      name: 'fail',
      kind: 'mutation',
      args: {},
      type: GraphQLString,
      run: async () => {
        throw new Error('out of boxes');
      },
    },
    {
      name: 'ticks',
      kind: 'subscription',
      args: {},
      type: GraphQLInt,
      async *subscribe() {
        yield [{ value: 1, id: 'a.1' }];
        yield [{ value: 2 }, { value: 3, id: 'a.3' }];
      },
    },
  ];

  it('are completed by their types, alone or beside a schema', async () => {
    const world = await createWorld(undefined, { operations });
    const answer = await world.ask('{ boxes(n: 3) { size tags } }');
    expect(answer.data).toEqual({ boxes: [{ size: 0, tags: null }, null, { size: 2, tags: null }] });
    expect(answer.errors).toMatchObject([{ path: ['boxes', 1, 'size'] }]);
    await world.api.updateSchema(SDL);
    expect((await world.ask('mutation { fail }')).errors).toMatchObject([{ message: 'out of boxes', path: ['fail'] }]);
    world.api.setOperations([]);
    expect((await world.ask('{ boxes(n: 1) { size } }')).errors?.[0].message).toMatch(/Cannot query field/);
  });

  it('stream events with their ids', async () => {
    const world = await createWorld(SDL, { operations });
    const events = [];
    for await (const batch of world.api.subscribe({ query: 'subscription { ticks }' }, contextOf())) {
      events.push(batch.map(({ body, id }) => [JSON.parse(body.toString()).data, id]));
    }
    expect(events).toEqual([
      [[{ ticks: 1 }, 'a.1']],
      [
        [{ ticks: 2 }, undefined],
        [{ ticks: 3 }, 'a.3'],
      ],
    ]);
  });

  it('answer nobody without a token where the types are closed by default', async () => {
    const closed = `# Service.Authorization {"Header": "X-Auth", "Namespace": "app", "Algo": "HS256", "VerificationKey": "k", "ClosedByDefault": true}`;
    const world = await createWorld(`${SDL}\n${closed}`, { operations });
    const answers = async (context = {}) => {
      const streamed = world.api.subscribe({ query: 'subscription { ticks }' }, contextOf(context));
      const bodies = [];
      for await (const batch of streamed) for (const { body } of batch) bodies.push(JSON.parse(body.toString()));
      return [
        (await world.ask('{ boxes(n: 1) { size } }', {}, context)).errors,
        (await world.ask('mutation { fail }', {}, context)).errors?.[0],
        bodies,
      ];
    };
    const refused = { extensions: { code: 'UNAUTHENTICATED' } };
    expect(await answers()).toMatchObject([[refused], refused, [{ errors: [refused] }]]);
    const taken = [
      undefined,
      { message: 'out of boxes' },
      [{ data: { ticks: 1 } }, { data: { ticks: 2 } }, { data: { ticks: 3 } }],
    ];
    expect(await answers({ claims: {} })).toMatchObject(taken);
  });
});

describe('subscriptions', () => {
  it.each([
    'subscription ($at: Int64!) { queryStar(filter: { distance: { eq: $at } }) { name } }',
    'subscription ($at: Int64!) { seen(at: $at) }',
  ])('take variables past 2^53: %s', async (query) => {
    const seen: Operation = {
      name: 'seen',
      kind: 'subscription',
      args: { at: { type: GraphQLInt64 } },
      type: GraphQLInt64,
      async *subscribe({ at }) {
        yield [{ value: at }];
      },
    };
    const world = await createWorld('type Star @withSubscription { name: String distance: Int64 @search }', {
      operations: [seen],
    });
    await world.data('mutation { addStar(input: [{name: "far", distance: "9007199254740993"}]) { numUids } }');
    const abort = new AbortController();
    const variables = { at: '9007199254740993' };
    for await (const [{ body }] of world.api.subscribe({ query, variables }, contextOf({ signal: abort.signal }))) {
      expect(body.toString()).toMatch(/"data":\{"(queryStar":\[\{"name":"far"|seen":9007199254740993)/);
      abort.abort();
    }
    expect.assertions(2);
  });

  it('push an answer when a commit changed it, and end with the request', async () => {
    const world = await createWorld(SDL);
    const abort = new AbortController();
    const stream = world.api
      .subscribe(
        { query: 'subscription { queryCity(order: {asc: name}) { name people } }' },
        contextOf({ signal: abort.signal }),
      )
      [Symbol.asyncIterator]();
    const next = async () => JSON.parse((await stream.next()).value[0].body.toString()).data.queryCity;
    expect(await next()).toEqual([]);
    await world.data('mutation { addCity(input: [{name: "Bern", people: 5}]) { numUids } }');
    expect(await next()).toEqual([{ name: 'Bern', people: 5 }]);
    const waiting = next();
    await world.data('mutation { updateCity(input: {filter: {name: {eq: "Bern"}}, set: {people: 5}}) { numUids } }');
    await world.data('mutation { updateCity(input: {filter: {name: {eq: "Bern"}}, set: {people: 6}}) { numUids } }');
    expect(await waiting).toEqual([{ name: 'Bern', people: 6 }]);
    const last = stream.next();
    abort.abort();
    expect((await last).done).toBe(true);
  });

  it('are answered once for all who ask the same, and give a reader who comes later what was committed before', async () => {
    const world = await createWorld(SDL);
    const query = 'subscription ($name: String!) { getCity(name: $name) { people } }';
    const abort = new AbortController();
    const open = (name: string, claims?: Record<string, unknown>) => {
      const context = contextOf({ signal: abort.signal, ...(claims ? { claims } : {}) });
      const stream = world.api.subscribe({ query, variables: { name } }, context)[Symbol.asyncIterator]();
      return async () => (await stream.next()).value as readonly { body: Buffer }[];
    };
    const text = (events: readonly { body: Buffer }[]) => JSON.parse(events[0].body.toString()).data.getCity?.people;
    const readers = [open('Bern'), open('Bern'), open('Basel'), open('Bern', { USER: 'eve' })];
    for (const next of readers) expect(text(await next())).toBeUndefined();
    await world.data(
      'mutation { addCity(input: [{name: "Bern", people: 5}, {name: "Basel", people: 7}]) { numUids } }',
    );
    const [one, same, other, stranger] = await Promise.all(readers.map((next) => next()));
    expect([one, other, stranger].map(text)).toEqual([5, 7, 5]);
    expect([same === one, stranger === one]).toEqual([true, false]);
    await world.data('mutation { updateCity(input: {filter: {}, set: {people: 9}}) { numUids } }');
    expect(text(await open('Bern')())).toBe(9);
    abort.abort();
    for (const next of readers) expect(await next()).toBeUndefined();
  });

  it('end with what is wrong where a token is wanted and none came', async () => {
    const closed = `type Doc @withSubscription { text: String! @id }
      # Service.Authorization {"Header":"X-Token","Namespace":"n","Algo":"HS256","VerificationKey":"k","ClosedByDefault":true}`;
    const world = await createWorld(closed);
    const events = world.api.subscribe({ query: 'subscription { queryDoc { text } }' }, contextOf());
    const stream = events[Symbol.asyncIterator]();
    const told = JSON.parse((await stream.next()).value[0].body.toString());
    expect(told).toEqual({ errors: [{ message: expect.any(String), extensions: expect.anything() }] });
    expect(told.errors[0].extensions.code).toBe('UNAUTHENTICATED');
    expect((await stream.next()).done).toBe(true);
  });

  describe('that are open while other definitions come', () => {
    const line = (key: string) =>
      `# Service.Authorization {"Header":"X-Token","Namespace":"n","Algo":"HS256","VerificationKey":"${key}"}`;
    const RULE = '{rule: "query ($USER: String!) { queryDoc(filter: {owner: {eq: $USER}}) { text } }"}';
    const docs = (auth = '', key = 'k') =>
      `${line(key)}\ntype Doc @withSubscription ${auth} { text: String! @id owner: String @search(by: [hash]) }`;
    const opened = async () => {
      const world = await createWorld(docs());
      const add = (text: string, owner: string) =>
        world.data(`mutation { addDoc(input: [{text: "${text}", owner: "${owner}"}]) { numUids } }`);
      await add('a', 'ann');
      const context = contextOf({ claims: { USER: 'eve' } });
      const query = 'subscription { queryDoc(order: {asc: text}) { text } }';
      const open = () => {
        const stream = world.api.subscribe({ query }, context)[Symbol.asyncIterator]();
        return async () => {
          const { value, done } = await stream.next();
          return done ? 'done' : JSON.parse(value[0].body.toString());
        };
      };
      const next = open();
      expect((await next()).data).toEqual({ queryDoc: [{ text: 'a' }] });
      return { world, add, next, open };
    };

    it('answer under their rules', async () => {
      const { world, add, next, open } = await opened();
      await world.api.updateSchema(docs(`@auth(query: ${RULE})`));
      expect((await open()()).data).toEqual({ queryDoc: [] });
      await add('b', 'ann');
      expect((await next()).data).toEqual({ queryDoc: [] });
      await add('c', 'eve');
      expect((await next()).data).toEqual({ queryDoc: [{ text: 'c' }] });
    });

    it.each([
      ['a token is verified otherwise', docs('', 'another key'), 'UNAUTHENTICATED'],
      ['what they ask for is gone', `${line('k')}\ntype Doc { text: String! @id owner: String }`, 'INVALID_GRAPHQL'],
    ])('end with what is wrong where %s', async (_, text, code) => {
      const { world, add, next } = await opened();
      await world.api.updateSchema(text);
      await add('b', 'ann');
      expect((await next()).errors[0].extensions.code).toBe(code);
      expect(await next()).toBe('done');
    });
  });
});

describe('the admin API', () => {
  it('takes the question that tools of the peer ask about a cluster', async () => {
    const world = await createWorld(SDL);
    const query = `{ state { counter groups { id snapshotTs checksum
        members { id groupId addr leader amDead lastUpdate clusterInfoOnly forceGroupId }
        tablets { predicate groupId space readOnly force remove moveTs } }
      zeros { id groupId addr leader } removed { id } namespaces
      maxUID maxNsID maxTxnTs maxRaftId cid license { user enabled maxNodes expiryTs } } }`;
    const { data, errors } = JSON.parse((await world.api.admin({ query }, contextOf())).body.toString());
    expect(errors).toBeUndefined();
    expect(data.state).toMatchObject({
      groups: [{ id: '1', snapshotTs: null, members: [{ id: '1', leader: true, forceGroupId: false }] }],
      zeros: [],
      removed: [],
      namespaces: [0],
      maxUID: null,
      cid: null,
      license: null,
    });
    expect(data.state.groups[0].tablets).toContainEqual({
      predicate: 'City.name',
      groupId: 1,
      space: null,
      readOnly: false,
      force: false,
      remove: false,
      moveTs: null,
    });
  });

  it('knows the definitions by one uid over their updates, until all data goes', async () => {
    const world = await createWorld(SDL);
    const id = async () => {
      const { body } = await world.api.admin({ query: '{ getGQLSchema { id } }' }, contextOf());
      return JSON.parse(body.toString()).data.getGQLSchema.id;
    };
    const first = await id();
    expect(first).toMatch(/^0x[0-9a-f]+$/);
    const before = world.api.schemaUpdates();
    await world.api.updateSchema('type Town { name: String }');
    expect(world.api.schemaUpdates()).toBe(before + 1);
    expect(await id()).toBe(first);
    await world.graph.alter({ kind: 'dropAll' });
    await world.api.dropped();
    await world.api.updateSchema(SDL);
    expect(await id()).not.toBe(first);
  });

  it("takes texts of the graph language that answer nothing under Dgraph's names alone", async () => {
    const text =
      'type Stat @remote { n: Int } type Query { all: [Stat] @custom(dql: "{ other(func: uid(1)) { n } }") }';
    const peer = await createWorld(undefined, { names: dgraphNames });
    await expect(peer.api.updateSchema(text)).resolves.toMatchObject({ served: { text } });
    const world = await createWorld();
    await expect(world.api.updateSchema(text)).rejects.toThrow('no block is named all');
  });

  it('shows and replaces the schema', async () => {
    const world = await createWorld();
    const admin = async (query: string, variables?: Record<string, unknown>) =>
      JSON.parse((await world.api.admin({ query, variables }, contextOf())).body.toString());
    expect((await admin('{ getGQLSchema { schema } }')).data).toEqual({ getGQLSchema: null });
    const update =
      'mutation ($s: String!) { updateGQLSchema(input: {set: {schema: $s}}) { gqlSchema { schema generatedSchema } } }';
    const { data } = await admin(update, { s: SDL });
    expect(data.updateGQLSchema.gqlSchema.generatedSchema).toContain('type AddCityPayload');
    const refused = await admin(update, { s: 'type City { a: Nope, b: Nada }' });
    expect(refused.errors.length).toBeGreaterThan(1);
    const misfit = await admin(update, { s: { text: SDL } });
    expect(misfit.errors).toMatchObject([{ extensions: { code: 'INVALID_GRAPHQL' }, locations: [{ line: 1 }] }]);
    expect(
      (await admin('{ getGQLSchema { schema } health { status } state { groups { tablets { predicate } } } }')).data,
    ).toMatchObject({
      getGQLSchema: { schema: SDL },
      health: [{ status: 'healthy' }],
    });
  });
});
