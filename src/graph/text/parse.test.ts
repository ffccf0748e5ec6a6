import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { atOnce, DEFAULT_LIMITS, GraphsteadError, type Limits, makeLimits } from '../../base/index.js';
import { parseSchemaInSteps } from './parse.js';

const parseSchema = (text: string, limits: Limits = DEFAULT_LIMITS) => atOnce(parseSchemaInSteps(text, limits));

function refusal(text: string): GraphsteadError {
  try {
    parseSchema(text);
  } catch (error) {
    if (error instanceof GraphsteadError) return error;
    throw error;
  }
  throw new Error(`accepted: ${text}`);
}

describe('schema text', () => {
  it('looks for the line of a position near the one before, however long the text', () => {
    const count = 2_000;
    const text = Array.from({ length: count }, (_, i) => `p${i}: string @index(term) .`).join('\n');
    const looks = vi.spyOn(String.prototype, 'indexOf');
    const { declarations } = parseSchema(text);
    const { length } = looks.mock.calls;
    looks.mockRestore();
    expect(length).toBeLessThan(count * 10);
    expect(declarations.map(({ position }) => position.line)).toEqual(Array.from({ length: count }, (_, i) => i + 1));
    expect(new Set(declarations.map(({ position }) => position.column))).toEqual(new Set([1]));
  });

  it('is read no further when it declares far too much', () => {
    const limits = makeLimits({ predicates: 10 });
    const text = Array.from({ length: 25 }, (_, i) => `p${i}: int .`).join('\n');
    const tooMany = expect.objectContaining({ code: 'LIMIT_EXCEEDED' });
    expect(() => parseSchema(`${text}\n %`, limits)).toThrow(tooMany);
    expect(() => parseSchema(`${text.replaceAll(': int .', ' { }').replaceAll('p', 'type p')}\n %`, limits)).toThrow(
      tooMany,
    );
    expect(() => parseSchema(`type T { ${text.replaceAll(': int .', '')} %`, limits)).toThrow(tooMany);
    expect(parseSchema('', limits)).toEqual({ declarations: [], types: [] });
  });

  it('of one long type is read with pauses', () => {
    const fields = Array.from({ length: 2_000 }, (_, i) => `p${i}`);
    const steps = parseSchemaInSteps(`type T { ${fields.join(' ')} }`, makeLimits());
    let pauses = 0;
    let step = steps.next();
    for (; !step.done; step = steps.next()) pauses++;
    expect(pauses).toBeGreaterThan(6);
    expect(step.value.types).toMatchObject([{ fields }]);
  });

  it('reads predicates with their directives, several on a line', () => {
    const { declarations } = parseSchema(
      'name: string @index(exact, term) @lang @count . age:int@index(int)@upsert.# years\n' +
        '<http://x/y>: [uid] @reverse @noconflict .\n"two words": [dateTime] .\n[0x0] <old>:default .',
    );
    expect(declarations.map(({ name, type, list }) => [name, type, list])).toEqual([
      ['name', 'string', false],
      ['age', 'int', false],
      ['http://x/y', 'uid', true],
      ['two words', 'datetime', true],
      ['old', 'default', false],
    ]);
    expect(declarations[0]).toMatchObject({ indexes: [{ kind: 'exact' }, { kind: 'term' }], lang: true, count: true });
    expect(declarations[1]).toMatchObject({ upsert: true, unique: false });
    expect(declarations[2]).toMatchObject({ reverse: true, noconflict: true });
  });

  it('reads types, with fields in every form', () => {
    const { types } = parseSchema(
      'type Person {\n name\n friend: [Person!]!\n <~boss> # theirs\n ~parent\n}\ntype: string .\ntype <A/c> {}',
    );
    expect(types.map(({ name, fields }) => [name, fields])).toEqual([
      ['Person', ['name', 'friend', '~boss', '~parent']],
      ['A/c', []],
    ]);
  });

  it('reads the options of hnsw', () => {
    const { declarations } = parseSchema('v: float32vector @index(hnsw(metric: "cosine", efConstruction: "64")) .');
    expect(declarations[0].indexes).toEqual([{ kind: 'hnsw', options: { metric: 'cosine', efConstruction: '64' } }]);
  });

  it.each([
    ['name: string', /Invalid ending/, 1, 13],
    ['a: int .\nname string .', /Missing colon/, 2, 6],
    ['name: strin .', /Undefined Type strin/, 1, 7],
    ['a: [password] .', /Unsupported type for list/, 1, 5],
    ['a: int @index .', /Require type of tokenizer/, 1, 15],
    ['a: int @index(year) .', /isn't valid for predicate: a of type: int/, 1, 15],
    ['a: int @index(nope) .', /Invalid tokenizer nope/, 1, 15],
    ['a: string @index(hash, hash) .', /Duplicate tokenizers/, 1, 24],
    ['a: string @index(term) @index(exact) .', /@index stands twice/, 1, 25],
    ['a: string @lang @Lang .', /@Lang stands twice/, 1, 18],
    ['type T { a: string!! }', /Expected a field of type T/, 1, 20],
    ['a: datetime @index(year, month) .', /More than one sortable index/, 1, 1],
    ['a: string @reverse .', /Cannot reverse for non-UID type/, 1, 1],
    ['a: int @lang .', /@lang directive/, 1, 1],
    ['a: string @upsert .', /Index tokenizer is mandatory/, 1, 1],
    ['a: string @nope .', /unknown directive @nope/, 1, 12],
    ['~a: uid .', /cannot be declared/, 1, 1],
    ['v: float32vector @index(hnsw(metric: "far")) .', /is no value of metric/, 1, 38],
    ['v: float32vector @index(hnsw(metric: "cosine", Metric: "euclidean")) .', /Metric stands twice/, 1, 48],
    ['type T { a a }', /Duplicate fields with name: a/, 1, 12],
    ['type T { a', /Unclosed type T/, 1, 11],
    ['type T {} a: int .', /Expected new line/, 1, 11],
    ['[0x1] a: int .', /namespace/, 1, 2],
    ['a: int ; .', /Unexpected character/, 1, 8],
  ])('refuses %j and says where', (text, message, line, column) => {
    const error = refusal(text);
    expect(error.message).toMatch(message);
    expect(error.position).toEqual({ line, column });
    expect(error.fix).toBeTruthy();
  });

  it.each([
    ['a: date .', 'Use one of string, int, float, bool, datetime,'],
    ['a: [Person] .', 'an edge is uid, or [uid] for several.'],
    ['a: int @index .', 'Write @index(int).'],
    ['a: int @index(exact) .', 'Write @index(int).'],
    ['a: string @index(fulltxt) .', 'Write @index(term), or one of exact, hash, trigram, fulltext, ngram.'],
    ['a: password @index(exact) .', 'Leave it out: values of type password have no index.'],
    ['a: uid @index(exact) .', 'Use @reverse or @count for edges.'],
    ['a: uid[] .', 'A list is written with its type in brackets, [uid].'],
    ['a: string! .', 'types of GraphQL go to POST /admin/schema.'],
    ['type T { a: String! @id }', 'types of GraphQL go to POST /admin/schema.'],
  ])('tells what to write instead of %j', (text, fix) => {
    expect(refusal(text).fix).toContain(fix);
  });

  it('answers any text with a schema or with a refusal', () => {
    const words = [
      'name',
      ':',
      'string',
      '[',
      ']',
      '.',
      '@',
      'index',
      '(',
      ')',
      'type',
      '{',
      '}',
      '<',
      '>',
      '"',
      '#',
      '\n',
      '~',
      ',',
      '\\',
      'é',
      '0x1',
    ];
    const text = fc.array(fc.oneof(fc.constantFrom(...words), fc.string({ maxLength: 4 })), { maxLength: 30 });
    fc.assert(
      fc.property(text, fc.constantFrom('', ' '), (parts, space) => {
        try {
          parseSchema(parts.join(space));
        } catch (error) {
          expect(error).toBeInstanceOf(GraphsteadError);
          expect((error as GraphsteadError).position?.line).toBeGreaterThan(0);
        }
      }),
      { numRuns: 500 },
    );
  });
});
