import { GraphQLString } from 'graphql';
import { describe, expect, it } from 'vitest';
import { createWorld, type World } from '../../test/support/api-world.js';
import { dgraphNames } from '../base/index.js';
import { createMemoryStore, type Store } from '../store/index.js';
import type { Operation } from './index.js';

const BEFORE = 'type City { name: String! @id }';
const AFTER = 'type City { name: String! @id people: Int @search } type Land { name: String @search }';

/** A store whose writes fail from the n-th on, until it is mended. */
function failingStore(): { readonly store: Store; failAfter(writes: number): void; mend(): void } {
  const store = createMemoryStore();
  let left = Number.POSITIVE_INFINITY;
  const apply: Store['apply'] = async (batch, options) => {
    if (left-- <= 0) throw new Error('the disk is gone');
    await store.apply(batch, options);
  };
  const failing = new Proxy(store, {
    get: (target, key) => {
      if (key === 'apply') return apply;
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  return {
    store: failing,
    failAfter: (writes) => {
      left = writes;
    },
    mend: () => {
      left = Number.POSITIVE_INFINITY;
    },
  };
}

/** A store that tells of its next write. */
function watchedStore(): { readonly store: Store; onWrite(heard: () => void): void } {
  const { store: inner } = failingStore();
  let hear: (() => void) | undefined;
  const apply: Store['apply'] = async (batch, options) => {
    const heard = hear;
    hear = undefined;
    heard?.();
    await inner.apply(batch, options);
  };
  const store = new Proxy(inner, { get: (target, key) => (key === 'apply' ? apply : Reflect.get(target, key)) });
  return {
    store,
    onWrite: (heard) => {
      hear = heard;
    },
  };
}

const state = ({ api, graph }: World) => ({
  served: api.current()?.text,
  land: graph.schema().type('Land') !== undefined,
  people: graph.schema().predicate('City.people') !== undefined,
});
const OLD = { served: BEFORE, land: false, people: false };
const NEW = { served: AFTER, land: true, people: true };

describe('an upload whose writes fail', () => {
  it('changes predicates and definitions, or neither, wherever it fails', async () => {
    for (let writes = 0, failed = true; failed; writes++) {
      const { store, failAfter, mend } = failingStore();
      const world = await createWorld(BEFORE, { store });
      failAfter(writes);
      failed = await world.api.updateSchema(AFTER).then(
        () => false,
        () => true,
      );
      mend();
      expect(state(world)).toEqual(failed ? OLD : NEW);
      // and so it stands for whoever opens the store next
      expect(state(await createWorld(undefined, { store }))).toEqual(failed ? OLD : NEW);
      expect(failed || writes > 0).toBe(true);
    }
  });

  it('is stored though no predicate changes', async () => {
    const { store } = failingStore();
    const world = await createWorld(BEFORE, { store });
    const shown = `# a comment more\n${BEFORE}`;
    await world.api.updateSchema(shown);
    expect((await createWorld(undefined, { store })).api.current()?.text).toBe(shown);
    await world.api.updateSchema('type Query { a: String @custom(dql: "{ a(func: uid(1)) { uid } }") }');
    expect((await createWorld(undefined, { store })).api.current()?.text).toContain('type Query');
  });
});

describe('an upload while operations change', () => {
  const named = (name: string): Operation => ({
    name,
    kind: 'query',
    args: {},
    type: GraphQLString,
    run: async () => name,
  });

  it('serves those of now beside it', async () => {
    const { store, onWrite } = watchedStore();
    const world = await createWorld(BEFORE, { store, operations: [named('old')] });
    onWrite(() => world.api.setOperations([named('now')]));
    await world.api.updateSchema(AFTER);
    expect(await world.data('{ now queryLand { name } }')).toEqual({ now: 'now', queryLand: [] });
    expect((await world.ask('{ old }')).errors?.[0].message).toMatch(/Cannot query field/);
  });
});

describe('what was declared in the graph language beside the types', () => {
  const TYPES =
    'type City { name: String! @search(by: [hash]) people: Int @search lands: [Land] } type Land { name: String }';
  const DECLARED = `City.name: string @index(hash, term) @upsert @unique .
    City.people: int @index(int) @count .
    City.lands: [uid] @reverse @count .
    City.note: string .
    City.gone: string .
    type City { City.name City.people City.lands City.note City.gone }`;
  const shown = ({ graph }: World, name: string): string[] => {
    const predicate = graph.schema().predicate(name);
    const flags = (['reverse', 'count', 'upsert', 'unique'] as const).filter((flag) => predicate?.[flag]);
    return [...(predicate?.indexes.map(({ kind }) => kind) ?? []).sort(), ...flags];
  };
  const all = (world: World) => ['City.name', 'City.people', 'City.lands'].map((name) => shown(world, name));
  const declared = async (options = {}): Promise<World> => {
    const world = await createWorld(TYPES, options);
    await world.graph.alter({ kind: 'schema', text: DECLARED });
    return world;
  };

  it('stays over uploads, and what only the types had goes with them', async () => {
    const world = await declared();
    const whole = [
      ['hash', 'term', 'upsert', 'unique'],
      ['int', 'count'],
      ['reverse', 'count'],
    ];
    await world.graph.alter({ kind: 'dropAttr', name: 'City.gone' });
    await world.api.updateSchema(`${TYPES} type More { a: Int }`);
    expect(all(world)).toEqual(whole);
    expect(world.graph.schema().type('City')?.fields.slice(-1)).toEqual(['City.note']);
    // @unique stands on the hash index, which so stays though the types leave it out
    await world.api.updateSchema(TYPES.replace(' @search(by: [hash])', '').replace('Int @search', 'Int'));
    expect(all(world)).toEqual([whole[0], ['count'], whole[2]]);
  });

  it('keeps @lang where the types leave the last field in a language out, whose texts stay too', async () => {
    const rest = 'type Town { name: String @dgraph(pred: "Town.name") }';
    const world = await createWorld(rest.replace(' }', ' it: String @dgraph(pred: "Town.name@it") }'));
    await world.data('mutation { addTown(input: [{ name: "Rome", it: "Roma" }]) { numUids } }');
    await world.api.updateSchema(rest);
    expect(world.graph.schema().predicate('Town.name')?.lang).toBe(true);
    expect(await world.data('{ queryTown { name } }')).toEqual({ queryTown: [{ name: 'Rome' }] });
  });

  it('goes where a field becomes another type, and where another sorted index comes', async () => {
    const world = await declared();
    await world.graph.alter({ kind: 'schema', text: 'City.since: datetime @index(hour) @count .' });
    await world.api.updateSchema(
      TYPES.replace('people: Int @search', 'people: String since: DateTime @search(by: [year])'),
    );
    expect([shown(world, 'City.people'), shown(world, 'City.since')]).toEqual([[], ['year', 'count']]);
  });

  it('is there after an import, where it comes before the first types', async () => {
    const world = await createWorld();
    await world.graph.alter({ kind: 'schema', text: DECLARED });
    await world.api.updateSchema(TYPES);
    expect(all(world)[2]).toEqual(['reverse', 'count']);
  });

  it('gives way to the types under --compat dgraph', async () => {
    const world = await declared({ names: dgraphNames });
    await world.api.updateSchema(`${TYPES} type More { a: Int }`);
    expect(all(world)).toEqual([['hash'], ['int'], []]);
  });
});
