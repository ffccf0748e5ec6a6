import { describe, expect, it } from 'vitest';
import { defaultNames } from '../../base/index.js';
import { loadModel } from '../load.js';
import { broken, refusals } from './refusal.fixture.js';

const refused = (rows: readonly (readonly [text: string, rule: string])[]): void => {
  it.each(rows)('refuses %s', (text, rule) => {
    expect(broken(text)).toEqual([rule]);
  });
};

const accepted = (rows: readonly string[]): void => {
  it.each(rows)('accepts %s', (text) => {
    expect(refusals(text)).toEqual([]);
  });
};

describe('fields', () => {
  refused([
    ['type Shop { id: ID! }', 'type-content'],
    ['type Grid { id: ID! cells: [[Int]] }', 'list-depth'],
    ['type Shop { a: ID! b: ID! name: String }', 'identifier'],
    ['interface Owned { key: ID! } type Shop implements Owned { id: ID! name: String }', 'identifier'],
    ['type Shop { ids: [ID] name: String }', 'identifier'],
    ['type Shop { price: Float @id }', 'identifier'],
    ['type Shop { tags: [String] @id }', 'identifier'],
    ['type Shop { code: String! @id(interface: true) }', 'identifier'],
    ['type Shop { and: String @search }', 'filter-word'],
  ]);
  accepted([
    'type Shop { code: String! @id town: String @id number: Int64 @id }',
    'interface Coded { code: String! @id(interface: true) } type Shop implements Coded { name: String }',
    'type Shop { open: Boolean }',
    'type Shop { name: String } type Far @remote { open: [Boolean] }',
  ]);

  it('has no argument that nothing reads, where the peer takes it', () => {
    const text = 'type Shop { name(size: Int): String next(near: Boolean): Shop }';
    expect(broken(text)).toEqual(['reserved-argument']);
    expect(refusals(text)).toHaveLength(2);
    expect(refusals(text, 'dgraph')).toEqual([]);
    expect(refusals('type Far @remote { name(size: Int): String } type Shop { name: String }')).toEqual([]);
  });

  it('that stand twice are told once', () => {
    expect(refusals('type Shop { name: String name: Int! @id }')).toEqual([
      'unique-name 1: the field name stands more than once in Shop',
    ]);
  });

  it('stores no list of Boolean', () => {
    expect(broken('type Shop { open: [Boolean] }')).toEqual(['list-depth']);
    expect(broken('type Shop { open: [Boolean] }', 'dgraph')).toEqual(['list-depth']);
  });
});

describe('edges that may not be left empty', () => {
  const end = 'type Shop { code: String! @id }';
  refused([
    [`${end} type Desk { shop: Shop @restrict }`, 'restrict'],
    [`${end} type Desk { shop: [Shop!]! @restrict }`, 'restrict'],
    [`${end} type Desk { name: String! @restrict }`, 'restrict'],
    [
      'type Shop { code: String! @id desk: Desk! @dgraph(pred: "~at") @restrict } type Desk { shop: Shop @dgraph(pred: "at") }',
      'restrict',
    ],
    ['type Far @remote { code: String } type Near @remote { far: Far! @restrict }', 'restrict'],
    [`${end} type Desk { shop: Shop! @restrict(by: "all") }`, 'known-directive'],
    [`${end} type Desk @restrict { shop: Shop! }`, 'known-directive'],
  ]);
  accepted([
    `${end} type Desk { shop: Shop! @restrict }`,
    `${end} type Bank { code: String! @id } union Place = Shop | Bank interface At { at: Place! @restrict } type Desk implements At { name: String }`,
  ]);

  it('says where it belongs, where it stands on a list', () => {
    const text =
      'type Shop { desks: [Desk] @hasInverse(field: shop) @restrict } type Desk { name: String shop: Shop! }';
    expect(refusals(text)).toEqual(['restrict 1: @restrict on Shop.desks: a list may be empty']);
  });

  it('is passed over under the names of the peer', () => {
    expect(refusals(`${end} type Desk { shop: [Shop] @restrict(by: "all") }`, 'dgraph')).toEqual([]);
  });
});

describe('search', () => {
  refused([
    ['type Shop { name: String @search(by: term) }', 'search'],
    ['type Shop { name: String @search(by: [year]) }', 'search'],
    ['type Shop { name: String @search(by: [soundex]) }', 'search'],
    ['type Shop { name: String @search(by: [hash, exact]) }', 'search'],
    ['type Shop { name: String @search(by: [trigram, regexp]) }', 'search'],
    ['type Shop { since: DateTime @search(by: [year, day]) }', 'search'],
    ['type Shop { name: String @search(by: [term, term]) }', 'search'],
    ['type Shop { id: ID! @search name: String }', 'search'],
    ['type Shop { size: Size @search(by: [term]) } enum Size { S }', 'search'],
    ['type Shop { next: Shop @search }', 'search'],
    ['type Shop { at: Point @search(by: [hash]) }', 'search'],
    ['type Shop { look: [Float!] @embedding @search(by: [float]) }', 'search'],
    ['type Shop { look: [Float!] @embedding @search(by: ["hnsw(metric: taxicab)"]) }', 'search'],
    ['type Shop { look: [Float!] @embedding @search(by: ["hnsw(metric:cosine)"]) }', 'search'],
    ['type Shop { look: [Float!] @search(by: ["hnsw(metric: cosine)"]) }', 'search'],
    ['type Shop { look: [Float] @embedding }', 'embedding'],
    ['type Shop { look: String @embedding }', 'embedding'],
  ]);
  accepted([
    'type Shop { name: String @search(by: [hash, term, fulltext, regexp, ngram]) size: Size @search } enum Size { S }',
    'type Shop { at: Point @search area: Polygon @search(by: [polygon]) }',
    'type Shop { look: [Float!]! @embedding @search(by: ["hnsw(metric: dotproduct, exponent: 4)"]) }',
  ]);
});

describe('inverse', () => {
  refused([
    ['type Shop { name: String @hasInverse(field: "name") }', 'inverse'],
    ['type Shop { owner: Person @hasInverse(field: shops) } type Person { name: String }', 'inverse'],
    ['type Shop { owner: Person @hasInverse(field: name) } type Person { name: String }', 'inverse'],
    [
      'interface Owned { owner: Person } type Shop implements Owned { name: String } type Person { things: [Owned] @hasInverse(field: owner) shops: [Shop] @hasInverse(field: owner) }',
      'inverse',
    ],
    [
      'interface Owner { shops: [Shop] @hasInverse(field: owner) } type Person implements Owner { name: String leased: [Shop] @hasInverse(field: owner) } type Shop { owner: Owner }',
      'inverse',
    ],
    [
      'type Shop { owner: Person @hasInverse(field: shops) lender: Person @hasInverse(field: shops) } type Person { shops: [Shop] }',
      'inverse',
    ],
    [
      'type Shop { owner: Person @hasInverse(field: shops) lender: Person } type Person { shops: [Shop] @hasInverse(field: lender) }',
      'inverse',
    ],
  ]);
  accepted([
    'type Shop { owner: Person @hasInverse(field: shops) } type Person { shops: [Shop] }',
    'type Person { friends: [Person] @hasInverse(field: friends) }',
    'interface Owned { owner: Person } type Shop implements Owned { name: String } type Person { shops: [Shop] @hasInverse(field: owner) }',
    'interface Owned { owner: Person @hasInverse(field: things) } type Shop implements Owned { name: String } type Person { things: [Owned] }',
    'interface Owned { owner: Person @hasInverse(field: things) } type Shop implements Owned { owner: Person @hasInverse(field: things) name: String } type Person { things: [Owned] @hasInverse(field: owner) }',
    'interface Owned { owner: Person } type Shop implements Owned { name: String } type Car implements Owned { name: String } type Person { shops: [Shop] @hasInverse(field: owner) cars: [Car] @hasInverse(field: owner) }',
  ]);
});

describe('interfaces and unions', () => {
  refused([
    ['type Shop implements Owned { name: String }', 'interface-field'],
    ['type Owned { name: String } type Shop implements Owned { town: String }', 'interface-field'],
    [
      'interface A { name: String } interface B { name: String } type Shop implements A & B { town: String }',
      'interface-field',
    ],
    ['interface A { id: ID! } interface B { id: ID } type Shop implements A & B { town: String }', 'interface-field'],
    ['interface A { id: ID! } interface B { key: ID! } type Shop implements A & B { town: String }', 'identifier'],
    ['interface Named { name: String! } type Shop implements Named { name: String }', 'interface-field'],
    [
      'interface A { n: Int } interface B implements A { n: Int! } type Shop implements A & B { n: Int }',
      'interface-field',
    ],
    ['interface A implements B { a: String } interface B implements A { b: String }', 'interface-field'],
    [
      'interface A implements B { a: String } interface B implements A { b: String } type Shop implements A { c: String }',
      'interface-field',
    ],
    ['interface A implements A { a: String } type Shop implements A { c: String }', 'interface-field'],
    [
      'interface Named { name: String } type Shop implements Named { name: String @search town: String }',
      'interface-field',
    ],
    [
      'interface Named { id: ID! name: String } type Shop implements Named { name: String @custom(http: {url: "https://a.example/$id", method: GET}) town: String }',
      'interface-field',
    ],
    ['union Place = String', 'union-member'],
    ['interface Named { name: String } union Place = Named', 'union-member'],
    ['type Shop @remote { name: String } union Place = Shop', 'union-member'],
  ]);
  accepted([
    'interface Named { name: String } interface Placed implements Named { at: Point } type Shop implements Placed { tax: Int }',
    'interface Named { name: String } type Shop implements Named { name: String! town: String }',
    'interface Named { name: String @search(by: [exact]) } type Shop implements Named { name: String! @search(by: [exact]) town: String }',
    'type Shop @remote { name: String } union Place @remote = Shop',
    'interface Shape { id: ID! side: Int } interface Color { id: ID! shade: Int } type Figure implements Shape & Color { size: Int }',
    'interface Shape { id: ID! side: Int } interface Color { id: ID! shade: Int } type Figure implements Shape & Color { id: ID! shade: Int }',
  ]);

  it('lets a repeated field never be null, where the peer wants it as the interface has it', () => {
    const text = 'interface Named { name: String } type Shop implements Named { name: String! town: String }';
    expect(broken(text)).toEqual([]);
    expect(broken(text, 'dgraph')).toEqual(['interface-field']);
    const searched =
      'interface Named { name: String } type Shop implements Named { name: String @search town: String }';
    expect(broken(searched, 'dgraph')).toEqual([]);
  });
});

describe('stored names', () => {
  refused([
    ['type Shop { id: ID! @dgraph(pred: "key") name: String }', 'mapped-name'],
    ['type Shop { name: String @dgraph(type: "name") }', 'mapped-name'],
    ['type Shop { name: String @service(pred: "") }', 'mapped-name'],
    ['type Shop @dgraph(type: 3) { name: String }', 'mapped-name'],
    ['type Shop { name: String @dgraph(pred: "~named") }', 'mapped-name'],
    ['type Shop { owners: [Person] @dgraph(pred: "~owns") } type Person { name: String }', 'mapped-name'],
    [
      'type Shop { owners: [Person] @dgraph(pred: "~owns") } type Person { owns: [Person] @dgraph(pred: "owns") }',
      'mapped-name',
    ],
    ['type Shop { name: Int @dgraph(pred: "name@de") }', 'mapped-name'],
    ['type Shop { name: String @dgraph(pred: "name@de@en") }', 'mapped-name'],
    ['type Shop { name: String @dgraph(pred: "name@*") }', 'mapped-name'],
    ['type Shop { name: String @dgraph(pred: "@de") }', 'mapped-name'],
    ['type Shop { name: String @dgraph(pred: "the name") }', 'mapped-name'],
    ['type Shop { name: String @dgraph(pred: "name|de") }', 'mapped-name'],
    ['type Shop @service(type: "a shop") { name: String }', 'mapped-name'],
    ['type Shop @secret(field: "pwd", pred: "pass word") { name: String }', 'mapped-name'],
    ['type Shop { owners: [Shop] @dgraph(pred: "~") }', 'mapped-name'],
    ['type Shop { name: String @dgraph(pred: "name@de") @id }', 'mapped-name'],
    ['type Shop { name: String @dgraph(pred: "name@de:en") @search }', 'mapped-name'],
    ['type Shop { name: String @dgraph(pred: "n") } type Person { age: Int @dgraph(pred: "n") }', 'shared-predicate'],
    ['type Shop { a: String @dgraph(pred: "n") @id } type Person { b: String @dgraph(pred: "n") }', 'shared-predicate'],
    [
      'type Shop @secret(field: "pwd") { name: String } type Person { word: String @dgraph(pred: "Shop.pwd") }',
      'shared-predicate',
    ],
    [
      'interface A { a: String @dgraph(pred: "p") } type B implements A { b: String @dgraph(pred: "p") }',
      'shared-predicate',
    ],
    ['type Shop { name: String title: String @dgraph(pred: "Shop.name") }', 'shared-predicate'],
    ['type Shop { de: String @dgraph(pred: "n@de") german: String @dgraph(pred: "n@de") }', 'shared-predicate'],
  ]);
  accepted([
    'type Shop @service(type: "store") { name: String @service(pred: "title") }',
    'type Shop @service(type: "http://shop.example/type#shop") { name: String @service(pred: "http://shop.example/name") }',
    'type Shop { owners: [Person] @dgraph(pred: "~owns") } type Person { owns: [Shop] @dgraph(pred: "owns") }',
    'type Shop { name: String! nameDe: String @dgraph(pred: "Shop.name@de") @search any: String @dgraph(pred: "Shop.name@.") }',
    'type Shop { name: String! @dgraph(pred: "n") } type Person { name: String @dgraph(pred: "<n>") }',
    'type Shop { de: String @dgraph(pred: "n@de") a: String @dgraph(pred: "n@de:.") b: String @dgraph(pred: "n@de:.") }',
    'type Shop { alias: String @dgraph(pred: "n@a1") }',
  ]);

  it('lets two fields of a type share a predicate where the peer does', () => {
    expect(broken('type Shop { name: String title: String @dgraph(pred: "Shop.name") }', 'dgraph')).toEqual([]);
  });
});

describe('passwords, rules, generation', () => {
  refused([
    ['type Shop @secret(field: "") { name: String }', 'password'],
    ['type Shop @secret(field: "a b") { name: String }', 'password'],
    [
      'interface I @secret(field: "p") { a: String } type Shop implements I @secret(field: "q") { b: String }',
      'password',
    ],
    ['interface I @secret(field: "p") { a: String } type Shop implements I { p: String }', 'password'],
    [
      'interface I @secret(field: "p") { a: String } interface J @secret(field: "q") { b: String } type Shop implements I & J { c: String }',
      'password',
    ],
    ['type Shop @generate(query: {fetch: false}) { name: String }', 'generate'],
    ['type Shop @generate(mutation: {add: "no"}) { name: String }', 'generate'],
    ['type Shop @generate(query: false) { name: String }', 'generate'],
    ['type Shop { name: String @withSubscription }', 'subscription'],
    ['type Shop @remote @withSubscription { name: String }', 'subscription'],
    ['type Shop @auth(query: {}) { name: String }', 'auth'],
    ['type Shop @auth(query: {rule: "{ROLE: {eq: 1}}"}) { name: String }', 'auth'],
    ['type Shop @auth(query: {rule: "{$ROLE: {like: 1}}"}) { name: String }', 'auth'],
    ['type Shop @auth(query: {rule: "{$ROLE: {in: 1}}"}) { name: String }', 'auth'],
    ['type Shop @auth(query: {rule: "{$ROLE: {eq: null}}"}) { name: String }', 'auth'],
    ['type Shop @auth(query: {rule: "{$ROLE: {regexp: \\"(\\"}}"}) { name: String }', 'auth'],
    ['type Shop @auth(query: {rule: "mutation { deleteShop { msg } }"}) { name: String }', 'auth'],
    [
      'type Shop @auth(query: {rule: "query { queryPerson { name } }"}) { name: String } type Person { name: String }',
      'auth',
    ],
    ['type Shop @auth(query: {or: []}) { name: String }', 'auth'],
    ['type Shop @auth(password: {rule: "{$ROLE: {eq: 1}}"}) { name: String }', 'auth'],
  ]);
  accepted([
    'type Shop @auth(query: {and: [{rule: "{$ROLE: {in: [\\"A\\"]}}"}, {not: {rule: "{ $A: { eq: {\\"b\\": 1} } }"}}]}) { name: String }',
    'type Shop @auth(add: {rule: "query($U: String!) { queryShop(filter: {name: {eq: $U}}) { name } }"}) { name: String @id }',
  ]);

  it.each([
    ['{$x-hasura-role: {eq: \\"user\\"}}', '"x-hasura-role" as $x_hasura_role'],
    ['{$https://app.example/roles: {eq: 1}}', '"https://app.example/roles" as $https___app_example_roles'],
    ['query ($cognito:groups: [String!]!) { queryShop { name } }', '"cognito:groups" as $cognito_groups'],
    ['query ($USER:String!) { queryShop( { name } }', 'Write a query of Shop'],
  ])('says how %s names its claim', (rule, fix) => {
    const load = () => loadModel(`type Shop @auth(query: {rule: "${rule}"}) { name: String }`, { names: defaultNames });
    expect(load).toThrow(
      expect.objectContaining({ errors: [expect.objectContaining({ fix: expect.stringContaining(fix) })] }),
    );
  });
});

describe('defaults', () => {
  refused([
    ['type Shop { n: Int @default(add: {value: "ten"}) }', 'default-value'],
    ['type Shop { n: Int @default(add: {value: "3000000000"}) }', 'default-value'],
    ['type Shop { n: Int @default(add: {value: 3}) }', 'default-value'],
    ['type Shop { n: String @default(add: {value: "$now"}) }', 'default-value'],
    ['type Shop { n: Boolean @default(update: {value: "yes"}) }', 'default-value'],
    ['type Shop { n: Size @default(add: {value: "XL"}) } enum Size { S }', 'default-value'],
    ['type Shop { n: DateTime @default(add: {value: "noon"}) }', 'default-value'],
    ['type Shop { n: DateTime @default(add: {value: "2024-02-30T00:00:00Z"}) }', 'default-value'],
    ['type Shop { n: [Int] @default(add: {value: "1"}) }', 'default-value'],
    ['type Shop { n: Shop @default(add: {value: "1"}) }', 'default-value'],
    ['type Shop { n: Int! @id @default(add: {value: "1"}) }', 'default-value'],
    ['type Shop @remote { n: Int @default(add: {value: "1"}) }', 'default-value'],
    ['type Shop { n: Int @default }', 'default-value'],
  ]);
  accepted([
    'type Shop { a: Int64 @default(add: {value: "3000000000"}) b: DateTime @default(add: {value: "$now"}, update: {value: "$now"}) c: Size @default(add: {value: "S"}) } enum Size { S }',
  ]);
});

describe('remote types', () => {
  refused([
    ['type Shop @remote @auth(query: {rule: "{$A: {eq: 1}}"}) { name: String }', 'remote-type'],
    ['type Shop @remote { name: String @custom(http: {url: "http://a.example", method: GET}) }', 'remote-type'],
    ['type Shop @remote { name: String @search }', 'remote-type'],
    ['interface Named @remote { name: String } type Shop implements Named { town: String }', 'remote-type'],
    ['interface Named { name: String } type Shop implements Named @remote { town: String }', 'remote-type'],
    ['type Shop { name: String @remoteResponse(name: "n") }', 'remote-type'],
    ['type Shop @remote { name: String @remoteResponse(name: "") }', 'remote-type'],
    ['type Shop { name: String owner: Person } type Person @remote { name: String }', 'remote-type'],
    ['type Shop @remote @generate(query: {get: true}) { name: String }', 'generate'],
  ]);
});

describe('federation', () => {
  refused([
    ['extend type Shop { id: ID! @external name: String }', 'federation'],
    ['type Shop @key(fields: "name") { id: ID! name: String }', 'federation'],
    ['extend type Shop @key(fields: "id") { id: ID! name: String }', 'federation'],
    ['type Shop @key(fields: "id code") { id: ID! code: String @id }', 'federation'],
    ['type Shop @key(fields: "key") { id: ID! name: String }', 'federation'],
    ['type Shop @key(fields: "id") { id: ID! name: String @external }', 'federation'],
    ['extend type Shop @key(fields: "id") { id: ID! @external a: Int b: Int @requires(fields: "a") }', 'federation'],
    ['extend type Shop @key(fields: "id") { id: ID! @external b: Int @requires(fields: " ") }', 'federation'],
    ['extend type Shop @key(fields: "id") { id: ID! @external tax: Int @external @search name: String }', 'federation'],
    ['extend type Shop @key(fields: "id") { id: ID! @external code: String @external @id name: String }', 'federation'],
    [
      'type Shop { name: String city: City @provides(fields: "") } type City @key(fields: "id") { id: ID! n: Int }',
      'federation',
    ],
    ['type Shop { owner: Person @provides(fields: "name") } type Person { name: String }', 'federation'],
  ]);
  accepted([
    'extend type Shop @key(fields: "id") { id: ID! @external tax: Int @external name: String @requires(fields: "tax") }',
    'type Shop { owner: Person @provides(fields: "name") } type Person @extends @key(fields: "id") { id: ID! @external name: String @external }',
    'type Shop { owner: Person @provides(fields: "name") } type Person @extends @key(fields: "id") { id: ID! @external name: String @external @search }',
    'extend type Shop @key(fields: "code") { code: String! @external @id @search(by: [exact]) name: String }',
  ]);
});
