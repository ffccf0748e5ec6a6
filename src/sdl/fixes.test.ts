import { describe, expect, it } from 'vitest';
import { defaultNames, dgraphNames, GraphsteadErrors } from '../base/index.js';
import { loadModel } from './load.js';

/** What stands there. */
const wordAt = (text: string, column = 0): string => /\w+|./.exec(text.slice(column - 1))?.[0] ?? '';

function told(text: string, names = defaultNames): string[] {
  try {
    loadModel(text, { names });
    return [];
  } catch (error) {
    if (!(error instanceof GraphsteadErrors)) throw error;
    return error.errors.map(({ position, message, fix }) => `${wordAt(text, position?.column)}: ${message} -> ${fix}`);
  }
}

describe('a mistake in type definitions is told with its way out', () => {
  it.each([
    ['type T { a: String; }', 'Take it away: a line needs no sign at its end.'],
    ['type T { // text\n a: String }', 'Write comments with #.'],
    ['type T { a: String? }', 'Take it away: a field may be null unless its type ends in "!".'],
    ['type T { a: String[] }', 'Write lists as [String].'],
    ['type T { a: List<String> }', 'Write lists as [String].'],
    [
      'type T { a: Int = 3 }',
      'Write the value of a new field as @default(add: {value: "..."}); values of enums are names alone.',
    ],
    ['type T { a: Int | String }', 'Define a union, as in union Found = Book | Writer, and use its name.'],
    ['type T { }', 'Put something between the braces, or take both away.'],
    ['type T { a: Int', 'Close what is open: "}" behind fields, ")" behind arguments, quotes behind a text.'],
    ['type T implement I { a: Int }', 'Write implements.'],
    ['type T { a String }', 'Write a colon between name and type: name: String.'],
    ['model T { a: Int }', 'Begin definitions with type, interface, union, enum, input or extend type.'],
    ['type T { a-b: Int }', 'Names hold letters, digits and _, and begin with no digit.'],
    [
      'type T @auth(query: { rule: "{$R: {eq: "A"}}" }) { a: Int }',
      'Write a quote inside a text as \\", or the text between """.',
    ],
    ['type T { a: Int! ! }', 'Correct the syntax at this place.'],
  ])('syntax: %s', (text, fix) => {
    expect(told(text)).toEqual([expect.stringMatching(/: the type definitions cannot be parsed: Syntax Error/)]);
    expect(told(text)[0].endsWith(` -> ${fix}`)).toBe(true);
  });

  it.each([
    ['type T { a: Int @serach }', 'serach: @serach on T.a is not a directive that exists -> Write @search.'],
    [
      'type T { a: [T] @hasinverse(field: "a") }',
      'hasinverse: @hasinverse on T.a is not a directive that exists -> Write @hasInverse.',
    ],
    [
      'type T { a: Int @unknown }',
      'unknown: @unknown on T.a is not a directive that exists -> Correct its name, or remove it.',
    ],
    [
      'union U = A type T { a: Int }',
      'A: A is a member of union U, but it is not defined -> Define type A, or correct the name.',
    ],
    [
      'union U = E enum E { A } type T { a: Int }',
      'E: E is a member of union U, but it is not an object type -> Name object types only.',
    ],
    [
      'type Query { a: Int } type T { a: Int }',
      'a: Query.a has no @custom, and nothing else answers it -> Resolve it with @custom, or remove it and write a function of its name in the app.',
    ],
    [
      'type Query { a: T } type T { a: Int }',
      'a: Query.a has no @custom: the fields for T are generated -> Remove it, or resolve it with @custom.',
    ],
    [
      'type T { a(b: Int): Int }',
      'b: T.a is stored, and nothing reads its argument b -> Remove the argument, or make the field one of Query with @custom.',
    ],
    [
      'type T @auth(query: { rule: "query { queryT(filter: ) { a } }" }) { a: Int }',
      '): @auth on T: the rule cannot be parsed: Syntax Error: Unexpected ")". -> Write a query of T: query($USER: String!) { queryT(filter: {...}) { __typename } }.',
    ],
  ])('%s', (text, message) => {
    expect(told(text)).toEqual([message]);
  });

  it.each([
    ['http://a.example/b/:id', ':id'],
    ['http://a.example/b/{id}/c', '{id}'],
    ['http://a.example:80/b?id={id}', '{id}'],
  ])('a url that names an argument as elsewhere: %s', (url, written) => {
    const text = `type Query { a(id: ID!): Int @custom(http: { url: "${url}", method: GET }) }`;
    expect(told(text)).toEqual([
      `": @custom on Query.a: the url has ${written}, which would be sent as it stands -> Write $id.`,
    ]);
    expect(told(text, dgraphNames)).toEqual([]);
    expect(told(text.replaceAll('id', 'number').replace('number:', 'other:'))).toEqual([]);
  });
});
