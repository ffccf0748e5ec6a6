import { describe, expect, it } from 'vitest';
import { broken, refusals } from './refusal.fixture.js';

const query = (http: string, args = 'id: ID!'): string =>
  `type Shop @remote { name: String } type Query { shop(${args}): Shop @custom(http: {${http}}) }`;
const field = (http: string, more = ''): string =>
  `type Shop { id: ID! name: String! town: String ${more} rating: Int @custom(http: {${http}}) }`;
const GET = 'method: GET';
const POST = 'method: POST';

describe('@custom by itself', () => {
  it.each([
    ['type Query { a: Int @custom }', 'custom-shape'],
    ['type Query { a: Int @custom(http: {url: "http://a.example", method: GET}, dql: "{}") }', 'custom-shape'],
    ['type Query { a: Int @custom(dql: " ") }', 'custom-shape'],
    ['type Mutation { a: Int @custom(dql: "{ a(func: uid(1)) { uid } }") }', 'custom-shape'],
    ['input In { a: Int } type Query { a(in: In): Int @custom(dql: "{ a(func: uid(1)) { uid } }") }', 'custom-shape'],
    [query(GET), 'custom-shape'],
    [query('url: "http://a.example"'), 'custom-shape'],
    [query(`url: "a.example/x", ${GET}`), 'custom-shape'],
    [query(`url: "http://$id.example/x", ${GET}`), 'custom-shape'],
    [query(`url: "http://a.example?q=x$id", ${GET}`), 'custom-shape'],
    [query(`url: "http://a.example/\${id}", ${GET}`), 'custom-shape'],
    [query(`url: "http://a.example?q=\${id}", ${GET}`), 'custom-shape'],
    [query('url: "http://a.example", method: HEAD'), 'custom-shape'],
    [query(`url: "http://a.example", ${GET}, retries: 3`), 'custom-shape'],
    [query(`url: "http://a.example", ${GET}, mode: SINGLE`), 'custom-shape'],
    [query(`url: "http://a.example", ${GET}, skipIntrospection: "yes"`), 'custom-shape'],
    [query(`url: "http://a.example", ${GET}, forwardHeaders: "A"`), 'custom-shape'],
    [query(`url: "http://a.example", ${GET}, forwardHeaders: ["a:b:c"]`), 'custom-shape'],
    [query(`url: "http://a.example", ${POST}, body: "{ id: $id"`), 'custom-shape'],
    [query(`url: "http://a.example", ${POST}, graphql: "query { a "`), 'custom-shape'],
    [query(`url: "http://a.example", ${POST}, graphql: "query Named { a }"`), 'custom-shape'],
    [query(`url: "http://a.example", ${POST}, graphql: "{ a b }"`), 'custom-shape'],
    [query(`url: "http://a.example", ${POST}, graphql: "{ a { b } }"`), 'custom-shape'],
    [query(`url: "http://a.example", ${POST}, graphql: "{ a @b }"`), 'custom-shape'],
    [query(`url: "http://a.example", ${POST}, graphql: "subscription { a }"`), 'custom-shape'],
    [query(`url: "http://a.example", ${POST}, graphql: "query($id: ID!, $id: ID!) { a(id: $id) }"`), 'custom-shape'],
    [query(`url: "http://a.example", ${POST}, graphql: "query($id: ID!) { a(id: $id, id: $id) }"`), 'custom-shape'],
    [
      'type Shop { id: ID! a: String b: Int @search @custom(http: {url: "http://a.example", method: GET}) }',
      'custom-shape',
    ],
    ['type Shop { a: String b: Int @custom(http: {url: "http://a.example", method: GET}) }', 'custom-field'],
    [
      'type Shop { id: ID! a: String b(n: Int): Int @custom(http: {url: "http://a.example", method: GET}) }',
      'custom-field',
    ],
    [
      'type Shop { id: ID! @custom(http: {url: "http://a.example/$code", method: GET}) code: String! @id }',
      'custom-field',
    ],
    [query(`url: "http://a.example", ${GET}, secretHeaders: ["A:key"]`), 'custom-header'],
    [query(`url: "http://a.example", ${GET}, introspectionHeaders: ["key"]`), 'custom-header'],
    [
      `${query(`url: "http://a.example", ${GET}, forwardHeaders: ["a"], secretHeaders: ["A:key"]`)}\n# Service.Secret key v`,
      'custom-header',
    ],
    [query(`url: "http://a.example", ${GET}, forwardHeaders: ["X-A:b", "x-a:c"]`), 'custom-header'],
    [query(`url: "http://a.example", ${GET}, forwardHeaders: ["Host"]`), 'custom-header'],
    [query(`url: "http://a.example", ${GET}, forwardHeaders: ["transfer-encoding:X-A"]`), 'custom-header'],
    [
      `${query(`url: "http://a.example", ${GET}, secretHeaders: ["Content-Length:key"]`)}\n# Service.Secret key v`,
      'custom-header',
    ],
  ])('refuses %s', (text, rule) => {
    expect(broken(text)).toContain(rule);
  });

  it.each([
    query(`url: "https://a.example:8080/shops/$id?by=$id&sort=up", method: "GET", forwardHeaders: ["A", "B:c"]`),
    `${query(`url: "http://a.example", ${POST}, body: "{ id: $id }", secretHeaders: ["Authorization:key"]`)}\n# Service.Secret key v`,
    query(`url: "http://a.example", ${GET}, forwardHeaders: ["X-Host:Host"]`),
    field(`url: "http://a.example/$name?town=$town", ${GET}`),
    field(`url: "http://a.example", ${POST}, mode: BATCH, body: "{ id: $id }"`),
    field(`url: "http://a.example", ${POST}, body: "{ town: $town }"`),
    field(
      `url: "http://a.example", ${POST}, mode: BATCH, body: "{ id: $id }", graphql: "query($input: [In]) { a(input: $input) }"`,
    ),
  ])('accepts %s', (text) => {
    expect(refusals(text)).toEqual([]);
  });
});

describe('templates', () => {
  it('knows arguments and fields, and which of them a path needs', () => {
    expect(refusals(query(`url: "http://a.example/$ip", ${GET}`))).toEqual([
      'custom-template 1: @custom on Query.shop: the url path uses $ip, but there is no argument ip',
    ]);
    expect(refusals(query(`url: "http://a.example/$id", ${GET}`, 'id: ID'))).toEqual([
      'custom-template 1: @custom on Query.shop: the url path uses $id, which can be null',
    ]);
    expect(refusals(query(`url: "http://a.example?id=$id", ${GET}`, 'id: ID'))).toEqual([]);
    expect(refusals(field(`url: "http://a.example/$town", ${GET}`))).toEqual([
      'custom-template 1: @custom on Shop.rating: the url path uses $town, which can be null',
    ]);
  });

  it.each([
    [field(`url: "http://a.example?r=$rating", ${GET}`)],
    [
      field(
        `url: "http://a.example?o=$other", ${GET}`,
        'other: Int @custom(http: {url: "http://b.example", method: GET})',
      ),
    ],
    [field(`url: "http://a.example?s=$sister", ${GET}`, 'sister: Shop')],
    [query(`url: "http://a.example/$id", ${POST}, graphql: "{ a }"`)],
    [query(`url: "http://a.example", ${POST}, body: "{id: $id}", graphql: "{ a }"`)],
    [field(`url: "http://a.example?i=$id", ${POST}, mode: BATCH, body: "{id: $id}"`)],
    [field(`url: "http://a.example", ${POST}, mode: BATCH`)],
  ])('refuses %s in both modes', (text) => {
    expect(broken(text)).toEqual(['custom-template']);
    expect(broken(text, 'dgraph')).toContain('custom-template');
  });

  it.each([
    [query(`url: "http://a.example", ${POST}, body: "{ shop_id: $id }"`)],
    [query(`url: "http://a.example", ${POST}, body: "{ id: $id, kind: \\"x\\" }"`)],
    [query(`url: "http://a.example", ${POST}, body: "{ ids: $ids }"`, 'ids: [ID!]!')],
    [query(`url: "http://a.example/$ids", ${GET}`, 'ids: [ID!]!')],
    [query(`url: "http://ann:pw@a.example/$id", ${GET}`)],
    [field(`url: "http://a.example?at=$at", ${GET}`, 'at: Point')],
    [field(`url: "http://a.example", ${POST}, body: "{ id: $id, area: $area }"`, 'area: MultiPolygon')],
  ])('refuses %s, which the peer accepts', (text) => {
    expect(broken(text)).toEqual(['custom-template']);
    expect(broken(text, 'dgraph')).toEqual([]);
  });

  it('leaves out what the peer wants sent', () => {
    const text = field(`url: "http://a.example", ${POST}, body: "{ town: $town }"`);
    expect(broken(text, 'dgraph')).toEqual(['custom-template']);
  });
});

describe('graphql texts', () => {
  it.each([
    [query(`url: "http://a.example", ${POST}, graphql: "query($id: ID!) { a }"`)],
    [
      field(
        `url: "http://a.example", ${POST}, mode: BATCH, body: "{id: $id}", graphql: "query($a: [In]) { a(a: $a, b: 1) }"`,
      ),
    ],
    [query(`url: "http://a.example", ${POST}, graphql: "{ a(id: $id) }"`)],
    [query(`url: "http://a.example", ${POST}, graphql: "query($no: Int) { a(no: $no) }"`)],
    [query(`url: "http://a.example", ${GET}, graphql: "query($id: ID!) { a(id: $id) }"`)],
    [field(`url: "http://a.example", ${POST}, graphql: "query($rating: Int) { a(r: $rating) }"`)],
    [field(`url: "http://a.example", ${POST}, graphql: "query($sister: In) { a(s: $sister) }"`, 'sister: Shop')],
    [field(`url: "http://a.example", ${POST}, mode: BATCH, body: "{id: $id}", graphql: "query($a: Int) { a(a: $a) }"`)],
  ])('refuses %s', (text) => {
    expect(broken(text)).toEqual(['custom-graphql']);
  });
});
