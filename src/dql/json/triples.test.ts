import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { atOnce, defaultNames, dgraphNames, GraphsteadError } from '../../base/index.js';
import type { Triple } from '../syntax/index.js';
import { JsonTriples, parseJsonMutationSteps, parseJsonTriples, scanJson } from './index.js';
import { scanJsonSteps } from './scan.js';

const parseJsonMutation = (...given: Parameters<typeof parseJsonMutationSteps>) =>
  atOnce(parseJsonMutationSteps(...given));

function triples(json: unknown, op: 'set' | 'delete' = 'set', names = dgraphNames): Triple[] {
  const text = typeof json === 'string' ? json : JSON.stringify(json);
  return atOnce(new JsonTriples({ names, text, blankPrefix: 'dg.1' }).convert(scanJson(text), op));
}

function code(work: () => unknown): string {
  try {
    work();
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(GraphsteadError);
    expect((thrown as GraphsteadError).position).toBeDefined();
    return (thrown as GraphsteadError).code;
  }
  return 'accepted';
}

/** subject, predicate, object of each, shortly */
function short(list: readonly Triple[]): unknown[] {
  const node = (r: Triple['object'] | Triple['subject']): unknown =>
    r.kind === 'literal' ? r.value.value : r.kind === 'uid' ? r.uid : r.kind === 'blank' ? `_:${r.name}` : r;
  return list.map((triple) => [node(triple.subject), triple.predicate, node(triple.object)]);
}

describe('objects', () => {
  it('are nodes, nested ones with an edge before their own triples', () => {
    expect(
      short(triples({ uid: '0x1', name: 'A', friend: [{ uid: '_:b', name: 'B' }, { uid: 3 }], boss: { name: 'C' } })),
    ).toEqual([
      [1, 'name', 'A'],
      [1, 'friend', '_:b'],
      ['_:b', 'name', 'B'],
      [1, 'friend', 3],
      [1, 'boss', '_:dg.1.1'],
      ['_:dg.1.1', 'name', 'C'],
    ]);
  });

  it('name variables', () => {
    expect(triples({ uid: ' uid( v ) ', a: 'val(x)', friend: 'uid(w)' })).toMatchObject([
      { subject: { kind: 'variable', name: 'v' }, object: { kind: 'value', variable: 'x' } },
      { object: { kind: 'variable', name: 'w' } },
    ]);
    expect(code(() => triples({ uid: 'uid(v' }))).toBe('INVALID_MUTATION');
    expect(code(() => triples({ uid: 1, a: 'val(x' }))).toBe('INVALID_MUTATION');
    for (const text of ['value (not a variable)', 'val(x) and more', 'val(of) two (words)', 'uid']) {
      expect(short(triples({ uid: '0x1', a: text }))).toEqual([[1, 'a', text]]);
    }
  });

  it('refuse what has the form of a variable and is none, but not by default nor in an export', () => {
    for (const text of ['val(two words)', ' uid ( a+b ) ']) {
      expect(code(() => triples({ uid: '0x1', a: text }))).toBe('INVALID_MUTATION');
      expect(code(() => triples({ uid: '0x1', a: ['x', text] }, 'delete'))).toBe('INVALID_MUTATION');
      const json = JSON.stringify({ uid: '0x1', a: text });
      const own = new JsonTriples({ text: json, blankPrefix: 'dg.1' });
      expect(short(atOnce(own.convert(scanJson(json), 'set')))).toEqual([[1, 'a', text]]);
      expect(short(parseJsonTriples(json, { names: dgraphNames, otherUids: true }))).toEqual([[1, 'a', text]]);
    }
  });

  it('have languages, lists, places and reserved names', () => {
    const list = triples({
      uid: '0x1',
      'name@en': 'A',
      tags: ['x', 'y', null],
      loc: { type: 'Point', coordinates: [1.5, 2] },
      'dgraph.type': 'T',
      empty: {},
      none: null,
    });
    expect(list.map(({ predicate, lang }) => [predicate, lang])).toEqual([
      ['name', 'en'],
      ['tags', ''],
      ['tags', ''],
      ['loc', ''],
      ['service.type', ''],
    ]);
    expect(list[3].object).toMatchObject({ value: { type: 'geo', value: { type: 'Point', coordinates: [1.5, 2] } } });
    const both = { type: 'GeometryCollection', geometries: [{ type: 'Point', coordinates: [1.5, 2] }] };
    expect(triples({ uid: 1, loc: both })).toMatchObject([{ object: { value: { type: 'geo', value: both } } }]);
  });

  it('keep numbers exactly', () => {
    const value = (text: string) => triples(`{"uid": 1, "n": ${text}}`)[0].object;
    expect(value('9223372036854775807')).toMatchObject({ value: { type: 'int', value: 9223372036854775807n } });
    expect(value('-9223372036854775808')).toMatchObject({ value: { type: 'int', value: -9223372036854775808n } });
    expect(value('42')).toMatchObject({ value: { type: 'int', value: 42 } });
    expect(value('42.0')).toMatchObject({ value: { type: 'float', value: 42 } });
    expect(value('1e3')).toMatchObject({ value: { type: 'float', value: 1000 } });
    const written = '9007199254740993.5';
    expect(value(written)).toMatchObject({ value: { type: 'float', value: 9007199254740994, written } });
    for (const exact of ['0.30000000000000004', '1.500000000000000000', '1.5e-300', '9007199254740992.0']) {
      expect(value(exact), exact).not.toHaveProperty('value.written');
    }
    expect(code(() => value('9223372036854775808'))).toBe('INVALID_VALUE');
    expect(code(() => value('1e999'))).toBe('INVALID_VALUE');
  });

  it('of a file may have the names of another system, and those of a request may not', () => {
    const text = '{"uid": "alice", "friend": {"uid": "https://x.org/bo b"}}';
    const [edge] = parseJsonTriples(text, { otherUids: true });
    expect(edge).toMatchObject({
      subject: { kind: 'iri', iri: 'alice' },
      object: { kind: 'iri', iri: 'https://x.org/bo b' },
    });
    expect(code(() => parseJsonTriples(text))).toBe('INVALID_MUTATION');
    expect(code(() => parseJsonTriples('{"uid": " ", "a": 1}', { otherUids: true }))).toBe('INVALID_MUTATION');
  });
});

describe('languages', () => {
  it.each(['', '*', '.', 'en:fr', 'en_US', 'e n', '1', 'en-'])('are not %j', (tag) => {
    expect(code(() => triples({ uid: 1, [`name@${tag}`]: 'x' }))).toBe('INVALID_MUTATION');
  });

  it('have digits behind a letter', () => {
    expect(triples({ uid: 1, 'name@a1': 'x' })).toMatchObject([{ predicate: 'name', lang: 'a1' }]);
  });
});

describe('deletes', () => {
  it('of null, of nodes, of edges', () => {
    expect(triples({ uid: '0x1', name: null, 'nick@en': null }, 'delete')).toMatchObject([
      { predicate: 'name', lang: '', object: { kind: 'all' } },
      { predicate: 'nick', lang: 'en', object: { kind: 'all' } },
    ]);
    expect(triples([{ uid: '0x1' }], 'delete')).toMatchObject([{ predicate: '*', object: { kind: 'all' } }]);
    expect(short(triples({ uid: 1, friend: [{ uid: 2 }] }, 'delete'))).toEqual([[1, 'friend', 2]]);
    expect(code(() => triples({ name: null }, 'delete'))).toBe('INVALID_MUTATION');
    expect(code(() => triples({ uid: 1, 'nick@': null }, 'delete'))).toBe('INVALID_MUTATION');
    expect(code(() => triples({ uid: 1, 'nick@*': null }, 'delete'))).toBe('INVALID_MUTATION');
  });
});

describe('facets', () => {
  it('belong to values, to members of lists by index, and to the edge that leads to a node', () => {
    const [name, first, second, friend] = triples({
      uid: 1,
      name: 'A',
      'name|since': '2006-01-02T15:04:05Z',
      'name|by': 'me',
      tags: ['x', 'y'],
      'tags|n': { '1': 2 },
      friend: { uid: 2, 'friend|close': true, 'friend|x': null },
    });
    expect(name.facets).toMatchObject([
      { key: 'by', value: { type: 'string', value: 'me' } },
      { key: 'since', value: { type: 'datetime' } },
    ]);
    expect(first.facets).toEqual([]);
    expect(second.facets).toEqual([{ key: 'n', value: { type: 'int', value: 2 } }]);
    expect(friend.facets).toEqual([{ key: 'close', value: { type: 'bool', value: true } }]);
  });

  it("beside a list of one edge are that edge's in a file, as the peer exported them once", () => {
    const text = '{"uid":"0x1","friend":[{"uid":"0x2"}],"friend|close":"yes","friend|w":2}';
    const [edge] = parseJsonTriples(text, { otherUids: true });
    expect(edge.facets).toEqual([
      { key: 'close', value: { type: 'string', value: 'yes' } },
      { key: 'w', value: { type: 'int', value: 2 } },
    ]);
    for (const refused of [
      '{"uid":"0x1","friend":[{"uid":"0x2"},{"uid":"0x3"}],"friend|close":"yes"}',
      '{"uid":"0x1","friend":[{"uid":"0x2"}],"friend|close":["yes"]}',
      '{"uid":"0x1","nick":["x"],"nick|close":"yes"}',
    ]) {
      expect(code(() => parseJsonTriples(refused, { otherUids: true }))).toBe('INVALID_MUTATION');
    }
    expect(code(() => parseJsonTriples(text))).toBe('INVALID_MUTATION');
  });

  it('of nothing are nothing', () => {
    expect(triples({ uid: 1, a: [], 'a|f': { '0': 1 }, b: null, 'b|f': { '0': 1 } })).toEqual([]);
  });

  it('without what they belong to are refused, where the peer leaves them out', () => {
    for (const json of [
      { uid: 1, 'a|f': 1 },
      { uid: 1, friend: { uid: 2, name: 'B', 'other|f': 1 } },
    ]) {
      expect(() => triples(json, 'set', defaultNames)).toThrow(
        /^the facet \w+\|f stands without the value or the edge/,
      );
      expect(code(() => triples(json))).toBe('accepted');
    }
    for (const inside of [
      { 'friend|since': [1] },
      { 'friend|since': { '0': 1 } },
      { 'friend|w': 1, 'friend|since': [1] },
    ]) {
      const json = { uid: 1, friend: [{ uid: 2, ...inside }] };
      expect(() => triples(json, 'set', defaultNames)).toThrow(
        /^the facet friend\|since of an edge is a list or a map/,
      );
      expect(code(() => triples(json))).toBe('accepted');
    }
    const own = { uid: 1, friend: { uid: 2, friend: [{ uid: 3 }], 'friend|since': { '0': 1 } } };
    expect(triples(own, 'set', defaultNames).map(({ facets }) => facets.length)).toEqual([0, 1]);
    const led = { uid: 1, friend: [{ uid: 2, 'friend|since': 1 }], nick: 'x', 'nick|w': 2 };
    expect(triples(led, 'set', defaultNames).map(({ facets }) => facets.length)).toEqual([1, 1]);
  });

  it.each([
    [{ uid: 1, a: 'x', 'a|f': { '0': 1 } }],
    [{ uid: 1, a: { uid: 2 }, 'a|f': { '0': 1 } }],
    [{ uid: 1, a: { type: 'Point', coordinates: [1, 2] }, 'a|f': [1] }],
    [{ uid: 1, a: ['x'], 'a|f': 1 }],
    [{ uid: 1, a: ['x'], 'a|f': { first: 1 } }],
    [{ uid: 1, a: ['x'], 'a|f': { '0': [1] } }],
    [{ uid: 1, a: ['x', 'y'], 'a|f': { '0': 1, '2': 1 } }],
    [{ uid: 1, a: [{ uid: 2 }], 'a|f': { '1': 1 } }],
    [{ uid: 1, a: 'x', 'a|': 5 }],
    [{ uid: 1, a: 'x', 'a|two words': 5 }],
    [{ uid: 1, a: { uid: 2, 'a|b=c': 5 } }],
    [{ uid: 1, a: 'x', '|f': null }],
    [{ uid: 1, friend: [{ uid: 2, 'friend|': 5 }] }],
  ])('refuse %o', (json) => {
    expect(code(() => triples(json))).toBe('INVALID_MUTATION');
  });
});

describe('bodies', () => {
  it('hold a query, conditions, and several mutations', () => {
    const request = parseJsonMutation(
      JSON.stringify({
        query: '{ v as var(func: has(a)) }',
        set: { uid: 'uid(v)', b: 1 },
        cond: '@if(gt(len(v), 0))',
        mutations: [{ delete: { uid: 'uid(v)', c: null } }],
      }),
    );
    expect(request.query?.blocks).toHaveLength(1);
    expect(request.mutations).toMatchObject([
      { set: [{ predicate: 'b' }], delete: [], condition: { kind: 'call', call: { subject: { kind: 'length' } } } },
      { set: [], delete: [{ predicate: 'c' }] },
    ]);
    expect(request.mutations[1]).not.toHaveProperty('condition');
  });

  it.each([
    ['{}', 'INVALID_REQUEST'],
    ['[]', 'INVALID_MUTATION'],
    ['{"set": 3}', 'INVALID_MUTATION'],
    ['{"sett": {}}', 'INVALID_MUTATION'],
    ['{"set": [{"uid": "alice"}]}', 'INVALID_MUTATION'],
    ['{"set": [{"uid": true}]}', 'INVALID_MUTATION'],
    ['{"set": {"a": [[1]]}}', 'INVALID_MUTATION'],
    ['{"set": {"": 1}}', 'INVALID_MUTATION'],
    ['{"set": {"a": 1}} x', 'SYNTAX'],
    ['{"set": {"a": 01}}', 'SYNTAX'],
    ['{"set": {"a": "\n"}}', 'SYNTAX'],
    ['{"set": {"a": 1}, "cond": "if(x)"}', 'SYNTAX'],
    ['{"set": {"a": 1}, "cond": "@if(eq(name, 1))"}', 'INVALID_QUERY'],
    ['{"set": {"uid": "uid(v)"}, "query": "{ q(func: has(a) }"}', 'SYNTAX'],
  ])('refuse %s with %s', (body, expected) => {
    const work = () => parseJsonMutation(body);
    if (expected === 'INVALID_REQUEST') expect(work).toThrow(GraphsteadError);
    else expect(code(work)).toBe(expected);
  });

  it('place mistakes in the body, and in the query by its name', () => {
    try {
      parseJsonMutation('{\n  "set": {"a":\n   nul}\n}');
    } catch (thrown) {
      expect((thrown as GraphsteadError).position).toEqual({ line: 3, column: 4 });
    }
    try {
      parseJsonMutation('{"set": {"a": 1}, "query": "{ q(func: }"}');
    } catch (thrown) {
      expect((thrown as GraphsteadError).position).toEqual({ line: 1, column: 11, source: 'query' });
    }
    expect.assertions(2);
  });

  it.each([
    '"set": {"name": "x", "uid":  @"uid(w)"}',
    '"set": {"uid": "uid(v)", "boss":\n {"name": "x", "uid": @"uid(w)"}}',
    '"set": {"uid": "uid(v)", "boss": @"uid(w)"}',
    '"delete": {"uid": "uid(v)", "age": @"val(w)"}',
  ])('place a variable that the query does not define where it stands: %s', (mutation) => {
    const query = '"query": "{ q(func: uid(1)) { v as uid } }"';
    const body = `{${query},\n ${mutation}}`;
    const before = body.slice(0, body.indexOf('@')).split('\n');
    const position = { line: before.length, column: (before.at(-1) ?? '').length + 1 };
    expect(() => parseJsonMutation(body.replace('@', ''))).toThrow(expect.objectContaining({ position }));
  });
});

describe('the scanner', () => {
  it('reads what JSON.parse reads', () => {
    const plain = (node: ReturnType<typeof scanJson>): unknown => {
      if (node.kind === 'object')
        return Object.fromEntries([...node.entries].map(([key, value]) => [key, plain(value)]));
      if (node.kind === 'array') return node.items.map(plain);
      if (node.kind === 'number') return Number(node.text);
      return node.kind === 'null' ? null : node.kind === 'bool' ? node.value : node.text;
    };
    fc.assert(
      fc.property(fc.json(), (text) => {
        // a key "__proto__" is a key like others here
        fc.pre(!text.includes('__proto__'));
        expect(plain(scanJson(text))).toEqual(JSON.parse(text));
      }),
    );
  });

  it.each([
    ['{"set": {"a": 1}, "set": {"b": 2}}', 19],
    ['{"set": [{"name": "A",  "name": "B"}]}', 25],
    ['{"set": {"of": {"uid": "0x1", "uid": "0x2"}}}', 31],
    ['{"set": {"a": [{"b": [[[[[{"c": 1, "c": 2}]]]]]}]}}', 36],
  ])('refuses a key that stands twice, of which the peer keeps the last: %s', (text, column) => {
    const message = expect.stringMatching(/stands twice/);
    expect(() => scanJson(text)).toThrow(
      expect.objectContaining({ code: 'SYNTAX', position: { line: 1, column }, message }),
    );
    expect(scanJson(text, { lastCounts: true }).kind).toBe('object');
  });

  it('keeps the last of a key in requests and files of the peer alone', () => {
    const [text, object] = ['{"set": {"uid": "0x1", "a": 1, "a": 2}}', '{"uid": "0x1", "a": 1, "a": 2}'];
    expect(code(() => parseJsonMutation(text))).toBe('SYNTAX');
    expect(code(() => parseJsonTriples(object))).toBe('SYNTAX');
    expect(short(parseJsonMutation(text, { names: dgraphNames }).mutations[0].set)).toEqual([[1, 'a', 2]]);
    expect(short(parseJsonTriples(object, { names: dgraphNames }))).toEqual([[1, 'a', 2]]);
  });

  it('gives objects without a uid names that no other text gives', () => {
    const [a] = parseJsonTriples('{"x": 1}');
    const [b] = parseJsonTriples('{"x": 1}');
    expect(a.subject).not.toEqual(b.subject);
  });
});

describe('long lists', () => {
  it('are scanned in steps, those of the places of a geometry too', () => {
    const ring = Array.from({ length: 3_000 }, (_, i) => [i / 100, 1]);
    const polygon = { type: 'Polygon', coordinates: [ring] };
    let steps = 0;
    for (const _ of scanJsonSteps(JSON.stringify({ mutations: [{ set: [{ loc: polygon }] }] }))) steps++;
    expect(steps).toBe(11);
  });
});

describe('nodes below a node', () => {
  it('are converted in steps, however deep they are listed', () => {
    const list = Array.from({ length: 3_000 }, (_, i) => ({ name: `${i}` }));
    for (const node of [{ knows: list }, { knows: { knows: [{ knows: list }] } }]) {
      const text = JSON.stringify(node);
      let steps = 0;
      const converter = new JsonTriples({ text, blankPrefix: 'dg.1' });
      for (const _ of converter.convert(scanJson(text), 'set')) steps++;
      expect(steps).toBe(11);
    }
  });
});
