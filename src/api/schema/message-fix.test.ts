import { buildSchema, getVariableValues, Kind, parse, validate, type OperationDefinitionNode } from 'graphql';
import { expect, it } from 'vitest';
import { graphqlWire, isGraphqlError } from '../execute/answer.js';

const SCHEMA = buildSchema(`
  input Add { name: String! }
  type Person { id: ID!, name(first: Int): String }
  type Query { person(n: Int, add: Add): Person }
  type Subscription { person: Person }
`);

/** What is wrong with a document, or with the variables of one that is right. */
function mistakes(text: string, variables: Record<string, unknown> = {}) {
  try {
    const document = parse(text);
    const errors = validate(SCHEMA, document);
    if (errors.length > 0) return errors;
    const operation = document.definitions.find(({ kind }) => kind === Kind.OPERATION_DEFINITION);
    const { variableDefinitions = [] } = operation as OperationDefinitionNode;
    return getVariableValues(SCHEMA, variableDefinitions, variables).errors ?? [];
  } catch (thrown) {
    if (isGraphqlError(thrown)) return [thrown];
    throw thrown;
  }
}

it.each([
  ['{', /^Correct the document/],
  ['query ($a: Nope) { person(n: $a) { id } }', /lists them/],
  ['{ person }', /in braces/],
  ['{ person(n: "x") { id } }', /a value of that type/],
  ['{ ...F }', /^Define it/],
  ['fragment F on Person { ...F } { person { ...F } }', /lead back/],
  ['{ person { ... on Query { __typename } } }', /stands at this place/],
  ['{ person { ... on Int { id } } }', /stands at this place/],
  ['{ person(n: 1, n: 2) { id } }', /^Keep one/],
  ['{ person @skip(if: true) @skip(if: true) { id } }', /^Keep one/],
  ['query A { __typename } { __typename }', /operationName/],
  ['{ a: person { id } a: person(n: 1) { id } }', /alias/],
  ['query @skip(if: true) { person { id } }', /on a field/],
  ['query ($a: Person) { person { id } }', /input type/],
  ['{ person(add: {}) { id } }', /^Give a value for it/],
  ['{ person(add: { name: null }) { id } }', /^Give a value for it/],
  ['query ($a: Int!) { person(n: $a) { id } }', /^Give a value for it/],
  ['subscription { a: person { id } b: person { id } }', /one field/],
  ['type X { a: Int }', /admin\/schema/],
])('a mistake in a document has a fix: %s', (text, fix) => {
  const [first] = mistakes(text).map(graphqlWire);
  expect(first.extensions['fix']).toMatch(fix);
});

it('a mistake in variables has one too, and a fix that says more goes first', () => {
  const [first] = mistakes('query ($a: Int) { person(n: $a) { id } }', { a: 'x' });
  expect(graphqlWire(first).extensions['fix']).toMatch(/a value of that type/);
  Object.assign(first.extensions, { fix: 'more' });
  expect(graphqlWire(first).extensions['fix']).toBe('more');
});
