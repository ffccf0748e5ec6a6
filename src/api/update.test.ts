import { GraphQLString } from 'graphql';
import { describe, expect, it } from 'vitest';
import { createWorld, type World } from '../../test/support/api-world.js';
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
