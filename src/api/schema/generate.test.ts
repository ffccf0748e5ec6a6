import {
  buildSchema,
  getNamedType,
  graphqlSync,
  GraphQLInt,
  type GraphQLNamedType,
  GraphQLObjectType,
  type GraphQLSchema,
  GraphQLString,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isIntrospectionType,
  isObjectType,
  isScalarType,
  isUnionType,
  parse,
  printType,
  validate,
  validateSchema,
} from 'graphql';
import { describe, expect, it } from 'vitest';
import { defaultNames, dgraphNames, GraphsteadErrors } from '../../base/index.js';
import { loadModel } from '../../sdl/index.js';
import type { Operation } from '../operation.js';
import { type GeneratedSchema, generateSchema } from './generate.js';
import { fieldMeaning, inputMeaning, rootMeaning, typeMeaning } from './meaning.js';

type Mode = 'default' | 'dgraph';

function generate(text: string, mode: Mode = 'default', operations: readonly Operation[] = []): GeneratedSchema {
  const names = mode === 'dgraph' ? dgraphNames : defaultNames;
  return generateSchema(loadModel(text, { names }), { names, operations });
}

function messages(run: () => unknown): string[] {
  try {
    run();
    return [];
  } catch (error) {
    if (!(error instanceof GraphsteadErrors)) throw error;
    return error.errors.map((e) => e.message);
  }
}

const text = (schema: GraphQLSchema, name: string): string => {
  const type = schema.getType(name);
  return type ? printType(type) : '';
};
const root = (schema: GraphQLSchema, name: 'Query' | 'Mutation' | 'Subscription'): string[] =>
  Object.keys((schema.getType(name) as GraphQLObjectType | undefined)?.getFields() ?? {});

const SHOPS = `
interface Named { id: ID! name: String! @search(by: [exact, term]) }
type Shop implements Named @secret(field: "pin") @withSubscription {
  code: String! @id
  town: Town @hasInverse(field: shops)
  sells: [Thing]
  best: Thing
  at: Point @search
  size: Size @search(by: [exact])
  rank: Int @custom(http: {url: "http://a.example/$code", method: GET})
  look: [Float!] @embedding
}
type Town { id: ID! title: String @search founded: DateTime shops: [Shop] weather: Sky @custom(http: {url: "http://a.example/$id", method: GET}) }
type Book { isbn: String! @id pages: Int }
union Thing = Book | Town
enum Size { S M L }
type Sky @remote { clouds: Int }
input Near { town: String! = "x" within: PointRef }
type Query { sky(near: Near, sizes: [Size!]): Sky @custom(http: {url: "http://a.example", method: GET}) }
`;

describe('the generated schema', () => {
  it.each(['default', 'dgraph'] as const)('is valid GraphQL in the mode %s', (mode) => {
    const { schema, sdl } = generate(SHOPS, mode);
    expect(validateSchema(schema)).toEqual([]);
    expect(() => buildSchema(sdl)).not.toThrow();
  });

  it('offers the operations of each type', () => {
    const { schema } = generate(SHOPS, 'dgraph');
    expect(root(schema, 'Query')).toEqual([
      'sky',
      ...['getNamed', 'queryNamed', 'aggregateNamed'],
      ...['getShop', 'checkShopPassword', 'queryShop', 'querySimilarShopById', 'querySimilarShopByEmbedding'],
      'aggregateShop',
      ...['getTown', 'queryTown', 'aggregateTown', 'getBook', 'queryBook', 'aggregateBook'],
    ]);
    expect(root(schema, 'Mutation')).toEqual([
      ...['updateNamed', 'deleteNamed', 'addShop', 'updateShop', 'deleteShop'],
      ...['addTown', 'updateTown', 'deleteTown', 'addBook', 'updateBook', 'deleteBook'],
    ]);
    expect(root(schema, 'Subscription')).toEqual(['getShop', 'queryShop', 'aggregateShop']);
  });

  it('adds nested filters, orders, updates and cascades in the default mode alone', () => {
    const { schema } = generate(SHOPS);
    expect(text(schema, 'ShopFilter')).toContain('town: TownFilter');
    expect(text(schema, 'ShopFilter')).toContain('sells: ThingFilter');
    expect(text(schema, 'ShopOrder')).toContain('town: TownOrder');
    expect(text(schema, 'TownOrder')).not.toContain('shops');
    expect(text(schema, 'UpdateShopInput')).toContain('nested: ShopNested');
    expect(text(schema, 'ShopNested')).toBe(
      'input ShopNested {\n  town: TownNestedUpdate\n  sells: ThingNestedUpdate\n  best: ThingNestedUpdate\n}',
    );
    expect(text(schema, 'ShopCascade')).toContain('sells: ThingCascadeStep');
    expect(text(schema, 'ThingNestedUpdate')).toContain('bookNested: BookNestedUpdate');
    expect(text(schema, 'ThingCascadeStep')).toContain('bookCascade: BookCascadeStep');
    expect(text(schema, 'TownCascadeStep')).toContain('cascade: TownCascade');
    expect(text(schema, 'Mutation')).toContain('deleteShop(filter: ShopFilter!, cascade: ShopCascade)');
    const peer = generate(SHOPS, 'dgraph').schema;
    expect(text(peer, 'ShopFilter')).not.toContain('town');
    for (const name of ['ShopNested', 'ThingNestedUpdate', 'ThingCascadeStep']) {
      expect(peer.getType(name)).toBeUndefined();
    }
    expect(text(peer, 'Size_exact')).toContain('between: Size\n');
    expect(text(schema, 'Size_exact')).toContain('between: Size_range\n');
  });

  it('orders a type by what it leads to, though it has nothing to order by itself', () => {
    const chain =
      'type A { b: B ok: Boolean } type B { c: C ok: Boolean } type C { n: Int } type D { a: [A] ok: Boolean }';
    const { schema } = generate(chain);
    expect(text(schema, 'AOrder')).toBe('input AOrder {\n  then: AOrder\n  b: BOrder\n}');
    expect(schema.getType('DOrder')).toBeUndefined();
    expect(generate(chain, 'dgraph').schema.getType('AOrder')).toBeUndefined();
  });

  it('drops inputs that would be empty, with their mutations', () => {
    const reversed = 'type A { bs: [B] @dgraph(pred: "~to") } type B { to: [A] @dgraph(pred: "to") n: Int a: A }';
    const { schema } = generate(reversed, 'dgraph');
    expect(schema.getType('ARef')).toBeUndefined();
    expect(root(schema, 'Mutation')).toEqual(['deleteA', 'addB', 'updateB', 'deleteB']);
    expect(text(schema, 'AddBInput')).toBe('input AddBInput {\n  n: Int\n}');
  });

  it('marks what an interface cannot answer for sure', () => {
    const { schema } = generate(
      'interface I { a: String! @id b: String! @id(interface: true) } type T implements I { n: Int }',
    );
    const get = (schema.getQueryType() as GraphQLObjectType).getFields().getI;
    expect(get.deprecationReason).toContain('unique within each type');
  });

  it('takes the mark by which a type never has null for what its interface may', () => {
    const { schema } = generate(
      'interface A { id: ID n: String k: Int } interface B implements A { k: Int! } type T implements A & B { id: ID! n: String! }',
    );
    expect(text(schema, 'T')).toMatch(/^ {2}id: ID!\n {2}n: String!\n {2}k: Int!$/m);
    expect(text(schema, 'AddTInput')).toBe('input AddTInput {\n  n: String!\n  k: Int!\n}');
    expect(text(schema, 'TPatch')).toBe('input TPatch {\n  n: String\n  k: Int\n}');
    expect(text(schema, 'A')).toMatch(/^ {2}id: ID\n {2}n: String\n {2}k: Int$/m);
  });

  it('needs nothing in the definitions', () => {
    const { schema } = generate('# nothing yet\n');
    expect(root(schema, 'Query')).toEqual(['_empty']);
  });

  it('carries descriptions, deprecations and defaults', () => {
    const { schema, sdl } = generate(
      '"The shop" type Shop { "Its name" name: String @deprecated(reason: "gone") @search }',
    );
    expect(text(schema, 'Shop')).toContain('"""Its name"""\n  name: String @deprecated(reason: "gone")');
    expect(sdl).toContain('"""\nThe shop\n"""\ntype Shop {');
    expect(sdl).toContain('name: String @deprecated(reason: "gone") @search');
    expect(text(generate(SHOPS).schema, 'Near')).toContain('town: String! = "x"');
  });
});

describe('meanings', () => {
  /** Names of parts that carry no meaning. */
  function bare(schema: GraphQLSchema): string[] {
    const free =
      /^(Near|.*Range|_range|Point.*|Polygon.*|MultiPolygon.*|.*(Near|Within|Contains|Intersects)Filter)$|_range$/;
    return Object.values(schema.getTypeMap()).flatMap((type: GraphQLNamedType) => {
      if (isIntrospectionType(type) || isScalarType(type) || free.test(type.name)) return [];
      const isRoot = /^(Query|Mutation|Subscription)$/.test(type.name);
      const self = isRoot || typeMeaning(type) ? [] : [type.name];
      if (isInputObjectType(type)) {
        const fields = Object.values(type.getFields()).filter((field) => !inputMeaning(field));
        return [...self, ...fields.map((field) => `${type.name}.${field.name}`)];
      }
      if (isEnumType(type) || isUnionType(type)) return self;
      if (!isObjectType(type) && !isInterfaceType(type)) return self;
      const fields = Object.values(type.getFields()).filter((f) => !(isRoot ? rootMeaning(f) : fieldMeaning(f)));
      return [...self, ...fields.map((field) => `${type.name}.${field.name}`)];
    });
  }

  it('are on every part', () => {
    const entity = 'type E @key(fields: "id") { id: ID! n: Int }';
    expect(bare(generate(SHOPS).schema)).toEqual([]);
    expect(bare(generate(entity).schema)).toEqual(['_Service']);
  });

  it('say what a part is', () => {
    const { schema } = generate(SHOPS);
    const query = (schema.getQueryType() as GraphQLObjectType).getFields();
    expect(rootMeaning(query.checkShopPassword)).toMatchObject({ op: 'checkPassword', type: { name: 'Shop' } });
    const shop = (schema.getType('Shop') as GraphQLObjectType).getFields();
    expect(fieldMeaning(shop.town)).toMatchObject({ op: 'field', field: { role: 'edge' } });
    const filter = schema.getType('ShopFilter');
    expect(isInputObjectType(filter) && inputMeaning(filter.getFields().size)).toMatchObject({
      op: 'search',
      search: [{ kind: 'exact' }],
    });
  });
});

describe('operations', () => {
  const operation = (name: string, kind: Operation['kind'], type: Operation['type'] = GraphQLString): Operation => ({
    name,
    kind,
    type,
    args: { n: { type: GraphQLInt } },
  });

  it('stand beside the generated fields', () => {
    const operations = [
      operation('greet', 'query'),
      operation('reset', 'mutation'),
      operation('ticks', 'subscription'),
    ];
    const { schema } = generate('type A { n: Int }', 'default', operations);
    expect(root(schema, 'Query')).toContain('greet');
    expect(root(schema, 'Mutation')).toContain('reset');
    expect(root(schema, 'Subscription')).toEqual(['ticks']);
    expect(getNamedType((schema.getQueryType() as GraphQLObjectType).getFields().greet.type).name).toBe('String');
  });

  it('cannot take a name that is there', () => {
    const twice = [operation('queryA', 'query'), operation('x', 'query'), operation('x', 'query')];
    expect(messages(() => generate('type A { n: Int }', 'default', twice))).toEqual([
      expect.stringContaining('queryA'),
      expect.stringContaining('two operations'),
    ]);
    const type = new GraphQLObjectType({ name: 'A', fields: { n: { type: GraphQLInt } } });
    expect(messages(() => generate('type A { n: Int }', 'default', [operation('x', 'query', type)]))).toEqual([
      expect.stringContaining('the app has a type A'),
    ]);
  });
});

describe('rules that are queries', () => {
  const ruled = (rule: string, more = ''): string =>
    `type A @auth(query: {rule: "${rule}"}) ${more} { n: String @search }`;

  it('are checked against the generated types', () => {
    expect(messages(() => generate(ruled('query { queryA(filter: {m: 1}) { n } }')))).toEqual([
      expect.stringContaining('Field "m" is not defined by type "AFilter"'),
    ]);
    expect(
      messages(() => generate(ruled('query($U: String!) { queryA(filter: {n: {allofterms: $U}}) { n } }'))),
    ).toEqual([]);
    expect(messages(() => generate(ruled('query($U: String!) { queryA @cascade(fields: [$U]) { n } }')))).toEqual([
      expect.stringContaining('@cascade takes names from a variable'),
    ]);
  });

  const sides = (rule: string): string => `
    type A @auth(query: {rule: "query { ${rule} }"}) { id: ID! n: String b: B far: String @custom(http: {url: "http://a.example/$id", method: GET}) }
    type B { k: String! @id parts: [A] }`;

  it.each([
    ['queryA { far }', '"far" is not stored'],
    ['queryA { b { partsAggregate { count } } }', '"partsAggregate" is there for every node'],
    ['queryA { ...F } } fragment F on A { b { parts(offset: 1) { n } }', '"offset" makes a page'],
    ['queryA(first: 1) { n }', '"first" makes a page'],
    ['queryA @cascade(fields: [\\"n\\", \\"m\\"]) { n }', '@cascade names "m", which is no field of A'],
    ['queryA { b @cascade(fields: \\"n\\") { k } }', '@cascade names "n", which is no field of B'],
    ['queryA @cascade(fields: [\\"far\\"]) { n }', '"far" is not stored'],
    ['queryA { b @cascade(fields: [\\"partsAggregate\\"]) { k } }', '"partsAggregate" is there for every node'],
  ])('hold nothing that decides nothing: %s', (rule, reason) => {
    expect(messages(() => generate(sides(rule)))).toEqual([expect.stringContaining(reason)]);
  });

  it('hold patterns that can be read, and claims that are looked at when they come', () => {
    const told = (pattern: string, head = 'query') => {
      const rule = `${head} { queryA(filter: {n: {regexp: ${pattern}}}) { n } }`;
      return messages(() =>
        generate(`type A @auth(query: {rule: ${JSON.stringify(rule)}}) { n: String @search(by: [regexp]) }`),
      );
    };
    expect([...told('"/^ab+/"'), ...told('"/x/i"'), ...told('$P', 'query($P: String!)')]).toEqual([]);
    expect(told('"/a(/"')).toEqual([expect.stringMatching(/^@auth on A: the rule is not a valid query: .*pattern/)]);
    expect(told('"abc"')).toEqual([expect.stringContaining('"abc" is not written between slashes')]);
  });

  it('may ask for the first of an edge, which is there where any is', () => {
    expect(messages(() => generate(sides('queryA { b { parts(first: 1, order: {asc: n}) { n } } }')))).toEqual([]);
  });

  it('may ask what clients may not', () => {
    expect(messages(() => generate(ruled('query { queryA { n } }', '@generate(query: {query: false})')))).toEqual([]);
  });
});

describe('a federation', () => {
  const text = `
    type Shop @key(fields: "id") @auth(query: {rule: "{$A: {eq: 1}}"}) { id: ID! name: String rank: Int @custom(http: {url: "http://a.example", method: GET}) }
    extend type Person @key(fields: "email") { email: String! @id @external shops: [Shop] }`;

  it('is answered by entities and the service', () => {
    const { schema } = generate(text);
    expect(root(schema, 'Query').slice(0, 2)).toEqual(['_entities', '_service']);
  });

  it('is answered without entities too, unseen by clients', () => {
    const { schema } = generate('type A { n: Int }');
    expect(validate(schema, parse('{ _service { sdl } }'))).toEqual([]);
    const query = graphqlSync({ schema, source: '{ __schema { queryType { fields { name } } } }' });
    expect(JSON.stringify(query.data)).not.toContain('_service');
  });

  it('has no entities where interfaces alone have keys', () => {
    const { schema } = generate(
      'interface Node @key(fields: "id") { id: ID! } type Shop implements Node { name: String }',
    );
    expect(root(schema, 'Query')).toContain('_service');
    expect(root(schema, 'Query')).not.toContain('_entities');
  });

  it('hears nothing that is ours alone', () => {
    const { serviceSdl } = generate(text);
    expect(serviceSdl).toContain('type Person @key(fields: "email") @extends {');
    expect(serviceSdl).not.toMatch(/@auth|@custom|_entities|_Entity|getPerson/);
  });
});

it('generates 500 types in bounded time', () => {
  const types = Array.from({ length: 500 }, (_, i) => {
    const next = `T${(i + 1) % 500}`;
    return `type T${i} { id: ID! name: String! @search(by: [term, hash]) n: Int @search next: ${next} all: [${next}] }`;
  });
  const model = loadModel(types.join('\n'), { names: defaultNames });
  const before = process.cpuUsage();
  const { schema } = generateSchema(model, { names: defaultNames });
  const { user, system } = process.cpuUsage(before);
  expect(Object.keys(schema.getTypeMap()).length).toBeGreaterThan(6_000);
  expect((user + system) / 1000).toBeLessThan(3_000);
});
