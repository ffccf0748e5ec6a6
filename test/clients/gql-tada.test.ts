// What `graphstead types` writes is what gql.tada infers types from: a client of a whole app, compiled by tsc.
import { execFile } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runJson, scratch } from '../cli/command.js';

const modules = join(import.meta.dirname, '../../node_modules');
const folder = scratch();

const FILES = {
  'app.json': '{}',
  'schema.graphql': `
    enum Mood { GOOD BAD }
    type Person { name: String! @id @search(by: [exact]) age: Int @search born: DateTime mood: Mood @search friends: [Person] home: Place }
    type Place { id: ID! at: Point @search people: [Person] @hasInverse(field: home) }`,
  'functions/greet.ts': 'export function getGreeting(name: string): string { return "Hello, " + name; }',
  'tsconfig.json': JSON.stringify({
    compilerOptions: {
      strict: true,
      noEmit: true,
      module: 'esnext',
      moduleResolution: 'bundler',
      target: 'es2022',
      lib: ['es2022'],
      skipDefaultLibCheck: true,
      types: [],
      plugins: [
        { name: 'gql.tada/ts-plugin', schema: './api.graphql', tadaOutputLocation: './client/graphql-env.d.ts' },
      ],
    },
    include: ['client'],
  }),
};

const client = (field: string) => `
import { initGraphQLTada, type ResultOf, type VariablesOf } from 'gql.tada';
import type { introspection } from './graphql-env.js';

const graphql = initGraphQLTada<{ introspection: introspection; scalars: { DateTime: string; Int64: number; JSON: unknown } }>();

const Grown = graphql(\`
  query Grown($min: Int!) {
    queryPerson(filter: { age: { ge: $min }, friends: { mood: { eq: GOOD } } }, order: { asc: name }, first: 3) {
      ${field} age born mood friends { name } home { at { longitude latitude } peopleAggregate { count } }
    }
    getGreeting(name: "Ann")
  }
\`);
const Add = graphql(\`
  mutation Add($people: [AddPersonInput!]!) { addPerson(input: $people) { numUids person { name } } }
\`);

type Row = NonNullable<NonNullable<ResultOf<typeof Grown>['queryPerson']>[number]>;
export const told = (data: ResultOf<typeof Grown>): string => data.getGreeting ?? '';
export const row = (row: Row): [string, number | null, 'GOOD' | 'BAD' | null] => [row.name, row.age, row.mood];
export const added: VariablesOf<typeof Add> = { people: [{ name: 'Ann', age: 3, home: { at: { longitude: 1, latitude: 2 } } }] };
`;

function run(program: string, ...args: string[]): Promise<string> {
  return new Promise((resolve) => {
    const options = { cwd: folder.dir, env: { ...process.env, NO_COLOR: '1' } };
    execFile(process.execPath, [join(modules, program), ...args], options, (error, stdout, stderr) =>
      resolve(error ? `${stdout}${stderr}` : ''),
    );
  });
}

function write(name: string, text: string): void {
  mkdirSync(dirname(folder.path(name)), { recursive: true });
  writeFileSync(folder.path(name), text);
}

let mistakes: string[];

beforeAll(async () => {
  for (const [name, text] of Object.entries(FILES)) write(name, text);
  write('client/people.ts', client('name'));
  symlinkSync(modules, folder.path('node_modules'));
  await runJson(['types', folder.dir, '--out', folder.path('api.graphql')]);
  expect(await run('gql.tada/bin/cli.js', 'generate-output')).toBe('');
  write('client/misled.ts', client('nme').replace('age: 3', "age: '3'"));
  mistakes = (await run('typescript/bin/tsc')).split(/\n(?=\S)/).filter(Boolean);
});
afterAll(() => folder.remove());

describe('gql.tada', () => {
  it('knows results and variables of every operation, functions included', () => {
    expect(mistakes.filter((one) => !one.startsWith('client/misled.ts('))).toEqual([]);
  });

  it('holds clients to the API', () => {
    expect(mistakes).toContainEqual(expect.stringContaining("Property 'name' does not exist"));
    expect(mistakes).toContainEqual(expect.stringContaining("Type 'string' is not assignable to type 'number"));
  });
});
