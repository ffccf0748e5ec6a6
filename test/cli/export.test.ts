import { writeFileSync } from 'node:fs';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { defaultNames } from '../../src/base/index.js';
import { localTarget } from '../../src/cli/import/local-target.js';
import { NameMap } from '../../src/cli/import/name-map.js';
import { progressBar } from '../../src/cli/import/progress.js';
import { runImport } from '../../src/cli/import/run.js';
import { sourceFile } from '../../src/cli/import/source.js';
import { createApi } from '../../src/api/index.js';
import { makeLimits, systemClock } from '../../src/base/index.js';
import type { Facets, Graph, GraphChange, GraphReader, Predicate, UidList } from '../../src/graph/index.js';
import { printSchema } from '../../src/graph/index.js';
import { exportParts, writeParts } from '../../src/server/index.js';
import { decodeValue, parseDateTime, parseGeometry, type Value } from '../../src/values/index.js';
import type { DateTime } from '../../src/values/contract.js';
import { openDql, type OpenDql } from '../open-dql.js';
import { run, runJson, scratch, serve } from './command.js';

let folder: ReturnType<typeof scratch>;
beforeEach(() => {
  folder = scratch();
});
afterEach(() => folder.remove());

const SCHEMA = `
name: string @index(exact, term) @lang .
names: [string] .
age: int @index(int) .
ages: [int] .
weight: float .
alive: bool .
born: datetime @index(year) .
seen: [datetime] .
place: geo @index(geo) .
secret: password .
big: bigfloat .
vector: float32vector @index(hnsw(metric: "cosine")) .
note: default .
friend: [uid] @reverse @count .
boss: uid .
type Person { name age friend }
`;

const instant = fc
  .record({
    ms: fc.integer({ min: -6e13, max: 2.5e14 }),
    nanos: fc.integer({ min: 0, max: 999_999_999 }),
    zone: fc.constantFrom('Z', '+01:00', '-09:30'),
  })
  .map(({ ms, nanos, zone }): DateTime => {
    const text = new Date(ms).toISOString();
    return parseDateTime(`${text.slice(0, text.indexOf('.'))}.${String(nanos).padStart(9, '0')}${zone}`);
  });
const text = fc.string({ unit: 'binary', maxLength: 12 }).filter((one) => !/[\p{Cs}\0]/u.test(one));
const int = fc.oneof(fc.integer(), fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })).map((value) => {
  return Number.isSafeInteger(Number(value)) ? Number(value) : BigInt(value);
});
const float = fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value || 0);
const facetValue: fc.Arbitrary<Value> = fc.oneof(
  // A facet's text that spells a date is a date in JSON: its form has no other way to say so.
  fc.record({ type: fc.constant('string' as const), value: text.filter((one) => !/^....-/u.test(one)) }),
  fc.record({ type: fc.constant('int' as const), value: int }),
  fc.record({ type: fc.constant('float' as const), value: float }),
  fc.record({ type: fc.constant('bool' as const), value: fc.boolean() }),
);
const facets: fc.Arbitrary<Facets> = fc
  .uniqueArray(fc.record({ key: fc.constantFrom('since', 'close', 'weight'), value: facetValue }), {
    selector: ({ key }) => key,
    maxLength: 3,
  })
  .map((list) => [...list].sort((a, b) => (a.key < b.key ? -1 : 1)));
const uid = fc.oneof(fc.integer({ min: 1, max: 40 }), fc.constantFrom(0x1_0000_0000, 2 ** 52 + 1));

const PLACES = [
  '{"type":"Point","coordinates":[13.4,52.5]}',
  '{"type":"Polygon","coordinates":[[[0,0],[0,2],[2,2],[2,0],[0,0]]]}',
];
const literal = (predicate: string, value: fc.Arbitrary<Value>, lang: fc.Arbitrary<string> = fc.constant('')) =>
  fc.record({
    op: fc.constant('setValue' as const),
    uid,
    predicate: fc.constant(predicate),
    value,
    lang,
    facets,
  });
const of = <T extends Value['type']>(type: T, value: fc.Arbitrary<unknown>) =>
  value.map((one) => ({ type, value: one }) as Value);
const edge = (predicate: string) =>
  fc.record({ op: fc.constant('setEdge' as const), uid, predicate: fc.constant(predicate), object: uid, facets });

const change: fc.Arbitrary<GraphChange> = fc.oneof(
  literal('name', of('string', text), fc.constantFrom('', 'de', 'pt-br')),
  literal('names', of('string', text)),
  literal('age', of('int', int)),
  literal('ages', of('int', int)),
  literal('weight', of('float', float)),
  literal('alive', of('bool', fc.boolean())),
  literal('born', of('datetime', instant)),
  literal('seen', of('datetime', instant)),
  literal(
    'place',
    fc.constantFrom(...PLACES).map((one) => ({ type: 'geo', value: parseGeometry(one) }) as Value),
  ),
  literal(
    'big',
    of(
      'bigfloat',
      fc.bigInt().map((value) => `${value}.125`),
    ),
  ),
  literal(
    'vector',
    of(
      'float32vector',
      fc
        .array(fc.float({ noNaN: true, noDefaultInfinity: true }), { minLength: 3, maxLength: 3 })
        .map((list) => new Float32Array(list.map((value) => value || 1))),
    ),
  ),
  literal('note', of('default', text)),
  literal('odd\\u0020name', of('default', text)),
  literal('service.type', of('string', fc.constantFrom('Person', 'Robot'))),
  edge('friend'),
  edge('boss'),
);

/** Everything that a graph holds, read value by value. */
async function dump(graph: Graph): Promise<string[]> {
  const transaction = await graph.begin({ bestEffort: true });
  const reader = await transaction.reader();
  const lines = [printSchema(reader.schema, defaultNames)];
  for (const predicate of reader.schema.predicates) {
    for await (const uids of reader.having(predicate)) {
      const rows =
        predicate.type === 'uid' ? await edgeRows(reader, predicate, uids) : await valueRows(reader, predicate, uids);
      lines.push(...rows.flatMap((row) => row.map(say).sort()));
    }
  }
  reader.release();
  transaction.abort();
  return lines;
}

async function edgeRows(reader: GraphReader, predicate: Predicate, uids: UidList): Promise<unknown[][]> {
  const { rows, facets: found } = await reader.edges(predicate, uids, { facets: true });
  return rows.map((row, i) => [...row].map((object, j) => [predicate.name, uids[i], object, found?.[i]?.[j] ?? []]));
}

async function valueRows(reader: GraphReader, predicate: Predicate, uids: UidList): Promise<unknown[][]> {
  const rows = await reader.allValues(predicate, uids, { facets: true });
  return rows.map((row, i) =>
    row.map(({ value, lang, facets: found = [] }) => [predicate.name, uids[i], decodeValue(value), lang, found]),
  );
}

function say(one: unknown): string {
  return JSON.stringify(one, (_key, value: unknown) => {
    if (typeof value === 'bigint') return `${value}n`;
    return value instanceof Float32Array ? [...value] : value;
  });
}

function importInto({ graph }: OpenDql, files: readonly string[]): Promise<unknown> {
  const limits = makeLimits();
  const api = createApi({ graph, names: defaultNames, clock: systemClock, limits });
  const target = localTarget({ graph, api });
  const nodes = new NameMap((count) => target.lease(count));
  const order = { files: files.map((path) => sourceFile(path)), target, nodes, names: defaultNames };
  return runImport({ ...order, progress: progressBar(0) });
}

describe('export and import', () => {
  it('give the same graph, in both formats', async () => {
    let count = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(change, { minLength: 1, maxLength: 60 }),
        fc.constantFrom('rdf' as const, 'json' as const),
        async (changes, format) => {
          const [from, to] = [
            await openDql({ schema: SCHEMA, names: defaultNames }),
            await openDql({ names: defaultNames }),
          ];
          try {
            const transaction = await from.graph.begin();
            await transaction.stage(changes);
            await transaction.stage([
              { op: 'setValue', uid: 9, predicate: 'secret', value: { type: 'string', value: 'hunter22' }, lang: '' },
            ]);
            await transaction.commit();
            const { files } = await writeParts(
              exportParts({ graph: from.graph, names: defaultNames, format }),
              folder.path(String(++count)),
            );
            await importInto(to, files);
            expect(await dump(to.graph)).toEqual(await dump(from.graph));
          } finally {
            await from.close();
            await to.close();
          }
        },
      ),
      { numRuns: 25 },
    );
  });

  it('work as commands, on a directory and on a running service, GraphQL types included', async () => {
    const types = folder.path('types.graphql');
    writeFileSync(types, 'type Person { name: String! @id  age: Int  friends: [Person] }\n');
    const data = folder.path('data');
    writeFileSync(
      folder.path('a.json'),
      '{"service.type": "Person", "Person.name": "Ann", "Person.age": 41, "Person.friends": {"Person.name": "Bob", "service.type": "Person"}}',
    );
    await runJson(['import', folder.path('a.json'), '--graphql', types, '--data', data]);
    const service = await serve(['--data', data]);
    const remote = await runJson(['export', '--from', service.url, '--out', folder.path('remote'), '--format', 'json']);
    await service.stop();
    const local = await runJson(['export', '--data', data, '--out', folder.path('local')]);
    expect([remote['statements'], local['statements']]).toEqual([6, 6]);
    const again = await run(['export', '--data', data, '--out', folder.path('local')]);
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('exists already')]);
    expect((await run(['export', '--data', folder.path('nothing'), '--out', 'x'])).stderr).toContain('holds no store');

    for (const files of [remote['files'], local['files']] as string[][]) {
      const copy = folder.path(`copy-${files[1].length}`);
      await runJson(['import', ...files, '--data', copy]);
      const served = await serve(['--data', copy]);
      const answer = await served.graphql('{ queryPerson(filter: { has: age }) { name age friends { name } } }');
      await served.stop();
      expect(answer['data']).toEqual({ queryPerson: [{ name: 'Ann', age: 41, friends: [{ name: 'Bob' }] }] });
    }
  });
});
