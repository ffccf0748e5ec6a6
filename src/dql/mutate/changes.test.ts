import { describe, expect, it } from 'vitest';
import { atOnce, DEFAULT_LIMITS, defaultNames, type Limits, makeLimits } from '../../base/index.js';
import type { QueryVariable } from '../contract.js';
import { parseMutationSteps } from '../parse/index.js';
import { changesOf } from './changes.js';
import { MutationNodes } from './nodes.js';

const QUERY = 'query { a as var(func: has(a)) b as var(func: has(b)) }';
const variables = (a: number, b: number): ReadonlyMap<string, QueryVariable> => {
  const first = (count: number) => Float64Array.from({ length: count }, (_, i) => i + 1);
  return new Map([
    ['a', { uids: first(a) }],
    ['b', { uids: first(b) }],
  ]);
};

const parsed = (text: string) => atOnce(parseMutationSteps(text));

function stepsOf(mutation: string, [a, b]: readonly [number, number], limits: Limits = DEFAULT_LIMITS) {
  const { mutations } = parsed(`upsert { ${QUERY} mutation { ${mutation} } }`);
  const nodes = new MutationNodes(variables(a, b));
  atOnce(nodes.collect(mutations));
  const none = new Set<string>();
  const context = { nodes, variables: variables(a, b), names: defaultNames, limits, lists: none, singles: none };
  return changesOf(mutations, context);
}

/** Runs it, and counts its stops. */
function ran(...given: Parameters<typeof stepsOf>) {
  const steps = stepsOf(...given);
  for (let stops = 0; ; stops++) {
    const step = steps.next();
    if (step.done) return { stops, changes: step.value.changes };
  }
}

it('gives many new nodes their uids with stops between, and tells those that came to be', async () => {
  const names = Array.from({ length: 5_000 }, (_, i) => `n${i}`);
  const sets = names.map((name) => `_:${name} <p> "x" .`).join('\n');
  for (const left of ['"y"', 'val(b)']) {
    const { mutations } = parsed(
      `upsert { ${QUERY} mutation { set { ${sets}\nuid(a) <p> ${left} .\nuid(b) <p> "y" . } } }`,
    );
    const given = variables(1, 1);
    const nodes = new MutationNodes(given);
    atOnce(nodes.collect(mutations));
    let stops = 0;
    await nodes.assign(
      mutations,
      async () => 0x100,
      DEFAULT_LIMITS,
      () => {
        stops++;
      },
    );
    expect(stops).toBeGreaterThan(15);
    const none = new Set<string>();
    const context = {
      nodes,
      variables: given,
      names: defaultNames,
      limits: DEFAULT_LIMITS,
      lists: none,
      singles: none,
    };
    const { changes } = atOnce(changesOf(mutations, context));
    const telling = nodes.uidsIn(changes);
    let step = telling.next();
    for (stops = 0; !step.done; step = telling.next()) stops++;
    expect(stops).toBeGreaterThan(15);
    expect(step.value).toEqual(new Map(names.map((name, i) => [name, `0x${(0x100 + i).toString(16)}`])));
  }
});

describe('one triple about many nodes', () => {
  it.each(['set', 'delete'])('is worked on with stops between: %s', (op) => {
    const pairs = ran(`${op} { uid(a) <p> uid(b) . }`, [400, 300]);
    expect([pairs.changes.length, pairs.stops]).toEqual([120_000, expect.toSatisfy((n: number) => n >= 400)]);
    const [first, last] = [pairs.changes[0], pairs.changes.at(-1)];
    expect([first, last]).toMatchObject([
      { uid: 1, object: 1 },
      { uid: 400, object: 300 },
    ]);
    const values = ran(`${op} { uid(a) <p> "x" . <0x1> <q> uid(b) . }`, [10_000, 20_000]);
    expect([values.changes.length, values.stops]).toEqual([30_000, expect.toSatisfy((n: number) => n > 100)]);
  });

  it('is refused before its first change where there are too many', () => {
    const limits = makeLimits({ commitDeltas: 10_000 });
    const steps = stepsOf('set { uid(a) <p> uid(b) . }', [100, 101], limits);
    expect(() => steps.next()).toThrow('the mutation makes more than 10000 changes');
    expect(ran('set { uid(a) <p> uid(b) . }', [100, 100], limits).changes).toHaveLength(10_000);
  });
});
