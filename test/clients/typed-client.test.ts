// A typed client is generated from the service's own introspection by GraphQL Code Generator, and compiled.
import { createRequire } from 'node:module';
import { codegen } from '@graphql-codegen/core';
import * as operationsPlugin from '@graphql-codegen/typescript-operations';
import { basename, resolve } from 'node:path';
import type * as Graphql from 'graphql';
import ts from 'typescript';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startService, type TestService } from '../service.js';

// the generator loads the CommonJS build: two builds in one process do not know each other's schemas
const { buildClientSchema, getIntrospectionQuery, parse, printSchema } = createRequire(import.meta.url)(
  'graphql',
) as typeof Graphql;

let s: TestService;
beforeAll(async () => {
  s = await startService();
  const answer = await s.schema(`
    enum Mood { GOOD BAD }
    interface Named { name: String! @id @search(by: [exact]) }
    type Person implements Named { age: Int @search born: DateTime mood: Mood @search friends: [Person] home: Place }
    type Place { id: ID! at: Point @search people: [Person] @hasInverse(field: home) }
  `);
  expect(answer.body.errors).toBeUndefined();
});
afterAll(() => s.close());

const OPERATIONS = `
  query Grown($min: Int!) {
    queryPerson(filter: { age: { ge: $min }, friends: { mood: { eq: GOOD } } }, order: { asc: name }, first: 3) {
      __typename name age born mood friends { name } home { at { longitude latitude } peopleAggregate { count } }
    }
  }
  mutation Add($people: [AddPersonInput!]!) { addPerson(input: $people) { numUids person { name } } }
`;

async function generate(operations: string): Promise<string> {
  const { body } = await s.graphql(getIntrospectionQuery());
  const schema = buildClientSchema(body.data);
  return codegen({
    filename: 'client.ts',
    schema: parse(printSchema(schema)),
    schemaAst: schema,
    documents: [{ location: 'operations.graphql', document: parse(operations) }],
    config: {},
    plugins: [{ operations: {} }],
    pluginMap: { operations: operationsPlugin },
  });
}

/** What the compiler says of the texts, strictly, each mistake with the name of its file. */
function compile(texts: Readonly<Record<string, string>>): string[] {
  const files = Object.fromEntries(Object.entries(texts).map(([name, text]) => [resolve(name), text]));
  const options: ts.CompilerOptions = {
    strict: true,
    noEmit: true,
    target: ts.ScriptTarget.ES2022,
    lib: ['lib.es2022.d.ts'],
    skipDefaultLibCheck: true,
    module: ts.ModuleKind.ESNext,
    types: [],
  };
  const host = ts.createCompilerHost(options);
  const { getSourceFile, fileExists, readFile } = host;
  host.fileExists = (name) => name in files || fileExists(name);
  host.readFile = (name) => files[name] ?? readFile(name);
  host.getSourceFile = (name, target) =>
    name in files ? ts.createSourceFile(name, files[name], target) : getSourceFile(name, target);
  const program = ts.createProgram(Object.keys(files), options, host);
  return ts.getPreEmitDiagnostics(program).map(({ file, messageText }) => {
    return `${basename(file?.fileName ?? '')}: ${ts.flattenDiagnosticMessageText(messageText, '\\n')}`;
  });
}

describe('GraphQL Code Generator', () => {
  it('makes types that compile, and that hold users to the schema', async () => {
    const client = await generate(OPERATIONS);
    const use = (field: string) =>
      `import type { GrownQuery, AddMutationVariables } from './client';
       export const names = (data: GrownQuery): string[] => (data.queryPerson ?? []).map((one) => one?.${field} ?? '');
       export const variables: AddMutationVariables = { people: [{ name: 'Ann', age: 3, home: { at: { longitude: 1, latitude: 2 } } }] };`;
    const mistakes = compile({ 'client.ts': client, 'use.ts': use('name'), 'misuse.ts': use('nme') });
    expect(mistakes).toEqual([expect.stringMatching(/^misuse\.ts: .*nme/)]);
  }, 120_000);

  it('refuses an operation that the API does not have', async () => {
    await expect(generate('{ queryPersn { name } }')).rejects.toThrow();
  });
});
