import { describe, expect, it } from 'vitest';
import { defaultNames } from '../../base/index.js';
import { loadModel, readModel } from '../load.js';
import { broken, refusals } from './refusal.fixture.js';

describe('names', () => {
  it.each([
    ['scalar Money', 'allowed-definition'],
    ['schema { query: Query }', 'allowed-definition'],
    ['directive @mine on FIELD_DEFINITION', 'allowed-definition'],
    ['enum Size { S } extend enum Size { L }', 'allowed-definition'],
    ['type Shop { name: String } type Shop { town: String }', 'unique-name'],
    ['type Shop { name: String name: String }', 'unique-name'],
    ['enum Size { S M S }', 'unique-name'],
    ['type Shop { name: String @search @search }', 'known-directive'],
    ['type Float { name: String }', 'reserved-name'],
    ['type Shop { uid: String }', 'reserved-name'],
    ['type Shop { As: String }', 'reserved-name'],
    ['type Shop { true: Boolean }', 'reserved-name'],
    ['type Shop { goodsAggregate: Int }', 'reserved-name'],
    ['type Subscription { name: String }', 'reserved-name'],
    ['interface Query { name: String }', 'reserved-name'],
    ['type Shop { name: String near(first: Int): [Shop] }', 'reserved-argument'],
    ['type Shop { name: String near(filter: String): Shop }', 'reserved-argument'],
    ['type Shop { name(offset: Int): String }', 'reserved-argument'],
    ['type Shop { name(order: Int): String }', 'reserved-argument'],
    ['type Shop { name: String } input ShopPatch { name: String }', 'generated-name'],
    ['type Shop { name: String } type AddShopInput { name: String }', 'generated-name'],
    ['input IntFilter { eq: Int }', 'generated-name'],
    ['type A { n: Int } union U = A input UCascadeStep { n: Int }', 'generated-name'],
    ['type Msg { text: String }', 'generated-field'],
    ['type NumUids { count: Int }', 'generated-field'],
    ['type A { n: Int } type a { m: Int } union U = A | a', 'generated-field'],
    ['type Doc { id: ID! v: [Float!] @embedding vector_distance: Float }', 'generated-field'],
    ['type Doc { topK: String! @id v: [Float!] @embedding }', 'generated-field'],
    ['type Doc { id: ID! v: [Float!] @embedding } type SimilarDocById { n: Int }', 'generated-field'],
    ['type Shop { has: ID! name: String }', 'filter-word'],
    ['enum Size { S } type Size_hash { name: String }', 'generated-name'],
    ['type Shop { owner: Person }', 'known-type'],
    ['input Where { town: String } type Shop { where: Where }', 'known-type'],
    ['type Shop { at: PointRef }', 'known-type'],
    ['type Shop { name(of: Shop): String }', 'known-type'],
    ['type Shop { name(n: Int = "x"): String }', 'argument-default'],
    ['type Shop { name(n: Int = 3000000000): String }', 'argument-default'],
    ['type Shop { name(n: [Int!]! = [1, null]): String }', 'argument-default'],
    ['type Shop { name(n: Int64 = 9223372036854775808): String }', 'argument-default'],
    ['type Shop { name(n: Int64 = "many"): String }', 'argument-default'],
    ['type Shop { name(n: Float = 1e400): String }', 'argument-default'],
    ['input Where { since: [DateTime] = ["2024-02-30"] } type Shop { name: String }', 'argument-default'],
    ['type Shop { name(n: Size = XL): String } enum Size { S }', 'argument-default'],
    ['input Where { town: String! at: PointRef = {longitude: 1} }', 'argument-default'],
    ['input Where { town: String! } type Shop { name(w: Where = {city: "b"}): String }', 'argument-default'],
    ['type Shop { name: String @indexed }', 'known-directive'],
    ['type Shop @search { name: String }', 'known-directive'],
    ['type Shop { name: String @search(kind: [term]) }', 'known-directive'],
    ['type Shop { name: String @remoteResponse(name: 7) }', 'known-directive'],
    ['type Shop @remote { name: String @remoteResponse }', 'known-directive'],
    ['type Shop { owner: Shop @hasInverse }', 'known-directive'],
    ['type Shop { name: String @lambda }', 'known-directive'],
  ])('refuses %s', (text, rule) => {
    expect(broken(text)).toContain(rule);
  });

  it('leaves the arguments of remote types and of custom operations alone', () => {
    const text = `type Shop @remote { name(first: Int): String }
      type Query { shops(first: Int, offset: Int): [Shop] @custom(http: {url: "https://x.test/?n=$first&o=$offset", method: GET}) }`;
    expect(broken(text)).toEqual([]);
  });

  it('takes names that nothing generated needs', () => {
    expect(broken('type Doc { by: String! @id vector_distance: Float } type SimilarDocById { n: Int }')).toEqual([]);
    expect(broken('type Msg @remote { text: String } type Doc { n: Int }')).toEqual([]);
    expect(broken('type A @remote { n: Int } type a @remote { m: Int } union U @remote = A | a')).toEqual([]);
    expect(broken('type Msg { text: String }', 'dgraph')).toEqual([]);
    expect(broken('type Doc { id: ID! v: [Float!] @embedding vector_distance: Float }', 'dgraph')).toEqual([]);
  });

  it('keeps the names of ours free under the peer', () => {
    const text = 'type Shop { name: String } type ShopNested { name: String }';
    expect(broken(text)).toEqual(['generated-name']);
    expect(broken(text, 'dgraph')).toEqual([]);
  });

  it('passes over what the peer passes over', () => {
    const text = 'directive @mine on FIELD_DEFINITION type Shop { name: String @mine bio: String @lambda }';
    expect(broken(text, 'dgraph')).toEqual([]);
  });

  it("refuses the peer's hooks on mutations where a type has none", () => {
    const text = (directives: string): string => `type Shop ${directives} { name: String }`;
    expect(broken(text('@lambdaOnMutate(add: true)'), 'dgraph')).toEqual([]);
    expect(broken(text('@remote @lambdaOnMutate(add: true)'), 'dgraph')).toEqual(['remote-type']);
  });

  it("refuses a field that both @custom and the peer's functions resolve", () => {
    const text =
      'type Shop { id: ID! a: Int b: Int @lambda @custom(http: {url: "http://x.example/$id", method: GET}) }';
    expect(broken(text, 'dgraph')).toEqual(['custom-field']);
  });

  it('says where, why and everything at once', () => {
    const text = 'type Shop {\n  uid: Int\n  owner: Persn\n  name: Int @search(by: [term])\n}';
    expect(refusals(text)).toEqual([
      'reserved-name 2: uid is a reserved word: a field cannot have this name',
      'known-type 3: Shop.owner uses the type Persn, which is not defined',
      'search 4: @search by term on Shop.name does not apply to the type Int',
    ]);
  });

  it.each([
    ['Bool!', 'Write Boolean.'],
    ['datetime', 'Write DateTime.'],
    ['[shop]', 'Write Shop.'],
    ['Integer', 'Write Int, a whole number of 32 bits, or Int64.'],
    ['UUID', 'Write ID for names that the service gives, String! @id for those that you give.'],
    ['JSON', 'Write String for JSON as a text, or define a type of the fields that it has.'],
    ['Date', 'Write DateTime, which takes days ("2026-01-31") too.'],
    ['constructor', 'Define constructor (with @remote if it is not stored), or correct the name.'],
  ])('says what to write for the type %s', (type, fix) => {
    expect(() => loadModel(`type Shop { at: ${type} }`, { names: defaultNames })).toThrow(
      expect.objectContaining({ errors: [expect.objectContaining({ details: { rule: 'known-type' }, fix })] }),
    );
  });

  it('bounds how deep a text may nest', () => {
    expect(broken(`type Shop { grid: ${'['.repeat(100_000)}Int${']'.repeat(100_000)} }`)).toEqual(['syntax']);
  });

  it('says where the syntax is wrong', () => {
    expect(refusals('type Shop {\n  name String\n}')).toEqual([
      expect.stringMatching(/^syntax 2: the type definitions cannot be parsed/),
    ]);
  });
});

describe('root fields', () => {
  const shop = 'type Shop { id: ID! name: String }';
  it.each([
    [`${shop} type Query { shops: [Shop] }`],
    [`${shop} type Query { getShop(id: ID!): Shop @custom(http: {url: "http://a.example", method: GET}) }`],
    [`${shop} type Mutation { addShop(id: ID!): Shop @custom(http: {url: "http://a.example", method: POST}) }`],
    [`${shop} type Query { a: Shop @search @custom(http: {url: "http://a.example", method: GET}) }`],
    [`${shop} type Query { _service: Shop @custom(http: {url: "http://a.example", method: GET}) }`],
  ])('refuses %s', (text) => {
    expect(broken(text)).toEqual(['root-field']);
  });

  it('joins Query and Mutation with their extensions', () => {
    const custom = '@custom(http: {url: "http://a.example", method: GET})';
    const text = `type Shop { name: String } type Query { a: Shop ${custom} } extend type Query { b: Shop ${custom} }`;
    expect(broken(text)).toEqual([]);
    expect(broken(`${text} extend type Query { a: Shop ${custom} }`)).toEqual(['unique-name']);
    expect(broken(`${text} type Query { c: Shop ${custom} }`)).toEqual(['unique-name']);
    expect(loadModel(text, { names: defaultNames }).queries.map((field) => field.name)).toEqual(['a', 'b']);
  });

  it('refuses other extensions of what stands here once, and says where the addition belongs', () => {
    const text = 'enum Size { S } input In { a: Int } type Hat { size: Size } type Cap { a: Int } union Wear = Hat';
    const fixes = (extension: string) => {
      const { errors } = readModel(`${text} ${extension}`, { names: defaultNames });
      return errors.map(({ message, fix }) => [message.replace(/:.*/, ''), fix]);
    };
    const fix = 'Write what it adds into the definition itself.';
    expect(fixes('extend enum Size { L }')).toEqual([['an enum cannot be extended', fix]]);
    expect(fixes('extend input In { b: Int }')).toEqual([['an input cannot be extended', fix]]);
    expect(fixes('extend union Wear = Cap')).toEqual([['a union cannot be extended', fix]]);
    expect(fixes('extend type Cap { b: Int }')).toContainEqual([
      'the type Cap stands more than once in the definitions',
      expect.stringContaining('into the definition itself'),
    ]);
  });

  it('leaves the names of remote types free', () => {
    const custom = '@custom(http: {url: "http://a.example", method: GET})';
    expect(broken(`type Shop @remote { name: String } type Query { getShop: Shop ${custom} }`)).toEqual([]);
  });
});
