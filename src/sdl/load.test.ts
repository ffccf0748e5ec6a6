import { describe, expect, it } from 'vitest';
import { defaultNames, dgraphNames, GraphsteadErrors } from '../base/index.js';
import { derivedSchema } from './derived-schema.js';
import { hideSecrets } from './hide-secret.js';
import { loadModel } from './load.js';
import type { Model } from './model.js';

const load = (text: string): Model => loadModel(text, { names: defaultNames });

function messages(text: string, names = defaultNames): string[] {
  try {
    loadModel(text, { names, source: 'schema.graphql' });
    return [];
  } catch (error) {
    if (!(error instanceof GraphsteadErrors)) throw error;
    return error.errors.map((e) => `${e.position?.source}:${e.position?.line}:${e.position?.column} ${e.message}`);
  }
}

const PEOPLE = `
"""Who can be named"""
interface Named @secret(field: "pin") { id: ID! name: String! @search(by: [term]) }
"A person"
type Person implements Named @auth(query: {rule: "{$ROLE: {eq: \\"ADMIN\\"}}"}) {
  email: String! @id
  friends: [Person!] @hasInverse(field: friends)
  home: Place
  level: Level @search
  since: DateTime @default(add: {value: "$now"})
  rank: Int @custom(http: {url: "http://a.example/$email", method: GET})
}
type Place @dgraph(type: "place") @withSubscription { title: String @dgraph(pred: "place.name@de") people: [Person] @hasInverse(field: home) }
type Weather @remote { sky: String @remoteResponse(name: "sky_state") }
union Thing = Person | Place
enum Level { LOW "very" HIGH @deprecated }
type Query { weather(at: String!): Weather @custom(http: {url: "http://a.example?at=$at", method: GET}) }
`;

describe('the model', () => {
  const model = load(PEOPLE);

  it('has every type in order, with inherited fields first', () => {
    expect([...model.types.keys()]).toEqual(['Named', 'Person', 'Place', 'Weather', 'Thing', 'Level']);
    const person = model.object('Person');
    expect(person?.fields.map((f) => f.name).slice(0, 3)).toEqual(['id', 'name', 'email']);
    expect(person?.description).toBe('A person');
    expect(person?.password).toEqual({ field: 'pin', predicate: 'Named.pin' });
    expect(model.object('Named')?.members).toEqual(['Person']);
  });

  it('says how fields are stored', () => {
    const storage = (type: string, field: string) => model.object(type)?.field(field)?.storage;
    expect(storage('Person', 'name')).toEqual({ predicate: 'Named.name', reverse: false });
    expect(storage('Place', 'people')).toEqual({ predicate: 'place.people', reverse: false });
    expect(storage('Place', 'title')).toEqual({ predicate: 'place.name', reverse: false, languages: ['de'] });
    expect(model.object('Place')?.storedName).toBe('place');
  });

  it('gives every field its role', () => {
    const roles = Object.fromEntries(model.object('Person')?.fields.map((f) => [f.name, f.role]) ?? []);
    expect(roles).toEqual({
      id: 'id',
      name: 'scalar',
      email: 'scalar',
      friends: 'edge',
      home: 'edge',
      level: 'scalar',
      since: 'scalar',
      rank: 'custom',
    });
    expect(model.object('Weather')?.field('sky')).toMatchObject({ role: 'remote', responseName: 'sky_state' });
  });

  it('pairs both ends of an edge', () => {
    expect(model.object('Person')?.field('home')?.inverse).toEqual({ type: 'Place', field: 'people' });
    expect(model.object('Person')?.field('friends')?.inverse).toEqual({ type: 'Person', field: 'friends' });
  });

  it('adds the search that @id and enums need', () => {
    expect(model.object('Person')?.field('email')?.search).toEqual([{ kind: 'hash', options: {} }]);
    expect(model.object('Person')?.field('level')?.search).toEqual([{ kind: 'hash', options: {} }]);
  });

  it('keeps custom calls parsed, rules and defaults', () => {
    const custom = model.object('Person')?.field('rank')?.custom;
    expect(custom).toMatchObject({ kind: 'http', http: { method: 'GET', needs: ['email'], mode: 'SINGLE' } });
    expect(model.queries.map((q) => [q.name, q.custom.kind])).toEqual([['weather', 'http']]);
    expect(model.object('Person')?.auth?.query).toMatchObject({ kind: 'rbac', variable: 'ROLE', value: 'ADMIN' });
    expect(model.object('Person')?.field('since')?.default).toEqual({ add: { kind: 'now' } });
    expect(model.enums[0].values).toEqual([
      { name: 'LOW' },
      { name: 'HIGH', description: 'very', deprecated: 'No longer supported' },
    ]);
  });

  it('is frozen', () => {
    expect(Object.isFrozen(model.object('Person')?.fields[0].type)).toBe(true);
    expect(Object.isFrozen(model.queries)).toBe(true);
  });

  it('derives the schema of the graph', () => {
    const lines = derivedSchema(model, defaultNames).split('\n');
    expect(lines).toContain('Person.email: string @index(hash) @upsert .');
    expect(lines).toContain('Person.friends: [uid] @reverse .');
    expect(lines).toContain('Named.pin: password .');
    expect(lines).toContain('place.name: string @lang .');
    expect(lines.join('\n')).not.toMatch(/Weather|rank/);
    expect(derivedSchema(model, dgraphNames)).toContain('Person.friends: [uid] .');
  });

  it('derives names that end in a dot as names', () => {
    const ended = loadModel('type Shop { name: String @service(pred: "name.") }', { names: defaultNames });
    expect(derivedSchema(ended, defaultNames)).toBe('type Shop {\n  <name.>\n}\n<name.>: string .\n');
  });

  it('derives vectors, geo values and odd names', () => {
    const text =
      'type A { v: [Float!] @embedding w: [Float!] @embedding @search(by: ["hnsw(metric: cosine)"]) p: Point @search n: String @dgraph(pred: "名") }';
    const derived = derivedSchema(load(text), defaultNames);
    expect(derived).toContain('A.v: float32vector @index(hnsw(metric:"euclidean", exponent:"4")) .');
    expect(derived).toContain('A.w: float32vector @index(hnsw(metric:"cosine")) .');
    expect(derived).toContain('A.p: geo @index(geo) .');
    expect(derived).toContain('<名>: string .');
  });

  it('keeps the forward edge of a reverse field readable backwards', () => {
    const text = 'type A { bs: [B] @dgraph(pred: "~to") n: Int } type B { to: A @dgraph(pred: "to") }';
    expect(derivedSchema(load(text), dgraphNames)).toBe(
      'type A {\n  A.n\n}\ntype B {\n  to\n}\nto: uid @reverse .\nA.n: int .\n',
    );
  });
});

describe('comments', () => {
  const TYPE = 'type A { n: Int }';

  it('declare secrets, which never print', () => {
    const { secrets } = load(
      `#Service.Secret  one  "the \\"first\\""\n${TYPE} # Service.Secret "two" second\n# just words`,
    );
    expect([...secrets].map(([name, secret]) => [name, secret.reveal()])).toEqual([
      ['one', 'the "first"'],
      ['two', 'second'],
    ]);
    expect(JSON.stringify([...secrets])).not.toContain('second');
  });

  it('declare what stands in single quotes as it stands', () => {
    const { secrets, allowedOrigins } = load(
      `${TYPE}\n# Service.Secret 'a b' 'Bearer "x" \\"'\n# Service.Secret c 'd'\n# Service.Secret e it's\n# Service.Allow-Origin 'https://a.example'`,
    );
    expect([...secrets].map(([name, secret]) => [name, secret.reveal()])).toEqual([
      ['a b', 'Bearer "x" \\"'],
      ['c', 'd'],
      ['e', "it's"],
    ]);
    expect(allowedOrigins).toEqual(['https://a.example']);
  });

  it('are not read with what stands for a value that is not shown', () => {
    const shown = hideSecrets(
      `${TYPE}\n# Service.Secret a "one"\n# Service.Authorization {"Header":"X-A","Namespace":"https://a/claims","Algo":"HS256","VerificationKey":"k"}`,
    );
    expect(messages(shown)).toEqual([
      expect.stringMatching(/2:\d+ the secret a has "\[hidden\]"/),
      expect.stringMatching(/3:\d+ the authorization has "\[hidden\]"/),
    ]);
  });

  it('are read in the words of the mode', () => {
    const text = `${TYPE}\n# Dgraph.Secret k v`;
    expect(messages(text)).toEqual([expect.stringMatching(/^schema.graphql:2:\d+ "# Dgraph.Secret" is not read/)]);
    expect(loadModel(text, { names: dgraphNames }).secrets.has('k')).toBe(true);
  });

  it('are not read inside a description', () => {
    expect(load(`"""\n# Service.Secret a b\n"""\n${TYPE}`).secrets.size).toBe(0);
  });

  it('declare authorization and origins', () => {
    const model = load(
      `${TYPE}\n# Service.Authorization {"Header":"X-A","Namespace":"https://a/claims","Algo":"HS256","VerificationKey":"k","ClosedByDefault":true}\n# Service.Allow-Origin "https://a.example"`,
    );
    expect(model.authorization).toMatchObject({
      header: 'X-A',
      algorithm: 'HS256',
      closedByDefault: true,
      audience: [],
    });
    expect(model.authorization?.verificationKey?.reveal()).toBe('k');
    expect(model.allowedOrigins).toEqual(['https://a.example']);
  });

  it('demand that tokens name an audience, those of one key not where the peer does not', () => {
    const demands = (keys: string, names = defaultNames) =>
      loadModel(`${TYPE}\n# Service.Authorization {"Header":"X-A","Namespace":"n","Audience":["shop"],${keys}}`, {
        names,
      }).authorization?.demandsAudience;
    const key = '"Algo":"HS256","VerificationKey":"k"';
    const set = '"JWKURL":"https://a.example"';
    expect([demands(key), demands(set)]).toEqual([true, true]);
    expect([demands(key, dgraphNames), demands(set, dgraphNames)]).toEqual([false, true]);
  });

  it.each([
    'Secret alone',
    'Secret',
    'Secret a b c',
    'Allow-Origin a.example',
    'Allow-Origin "https://a.example/path"',
    'Authorization {"Header":"X"}',
    'Authorization {"Namespace":"n","Algo":"HS256","VerificationKey":"k"}',
    'Authorization {"Header":"X","Namespace":"n","Algo":"none","VerificationKey":"k"}',
    'Authorization {"Header":"X","Namespace":"n","VerificationKey":"k"}',
    'Authorization {"Header":"X","Namespace":"n","Algo":"HS256","VerificationKey":"k","JWKURL":"https://a.example"}',
    'Authorization {"Header":"X","Namespace":"n","JWKURL":"nowhere","Audience":["a"]}',
    'Authorization {"Header":"X","Namespace":"n","JWKURL":"https://a.example"}',
    'Authorization {"Header":"X","Namespace":"n","JWKURL":"https://a.example","JWKURLs":["https://b.example"],"Audience":["a"]}',
    'Authorization {"Header":7,"Namespace":"n","Algo":"HS256","VerificationKey":"k"}',
    'Authorization X claims HS256 unquoted',
    'Authorization X claims RS256 "key"',
    'Authorization {"Header":"X","Namespace":"n","Algo":"ES256","VerificationKey":"k"}',
    'Authorization {',
  ])('refuse "%s"', (rest) => {
    expect(messages(`${TYPE}\n# Service.${rest}`).length).toBeGreaterThan(0);
  });

  it('declare authorization once', () => {
    const line = '# Service.Authorization X claims HS256 "key"';
    expect(messages(`${TYPE}\n${line}\n${line}`)).toEqual([expect.stringContaining('more than once')]);
  });
});
