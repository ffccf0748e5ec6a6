import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sharedFolder } from '../../../test/folder.js';
import { type GraphsteadError, GraphsteadErrors } from '../../base/index.js';
import { findSource } from '../app-source.js';
import type { AppManifest, TypeUse } from '../contract.js';
import { kindOf } from './kind.js';
import { readSource } from './read-operations.js';

const root = sharedFolder();

let count = 0;
function read(code: string): AppManifest {
  const dir = join(root, String(count++));
  mkdirSync(dir);
  writeFileSync(join(dir, 'index.ts'), code);
  return readSource(findSource(dir)).manifest;
}

function mistakes(code: string): readonly GraphsteadError[] {
  try {
    read(code);
  } catch (error) {
    if (error instanceof GraphsteadErrors) return error.errors;
    throw error;
  }
  return [];
}

/** `[String!]` and the like. */
function shown(use: TypeUse): string {
  const inner = use.kind === 'list' ? `[${shown(use.of as TypeUse)}]` : (use.name as string);
  return use.nullable ? inner : `${inner}!`;
}

function signatures(manifest: AppManifest): Record<string, string> {
  const text = manifest.operations.map(({ name, kind, args, result }) => {
    const given = args.map(
      (arg) =>
        `${arg.name}: ${shown(arg.type)}${'defaultValue' in arg ? ` = ${JSON.stringify(arg.defaultValue)}` : ''}`,
    );
    return [name, `${kind} (${given.join(', ')}): ${shown(result)}`];
  });
  return Object.fromEntries(text) as Record<string, string>;
}

describe('reading functions', () => {
  it('knows where an argument that is left out is null, as its type has no undefined', () => {
    const manifest = read(`
      interface In { a: string | null; b?: string | null; c: string | null | undefined }
      export function getA(d: string | null, e: string | null | undefined, i: In, f: string | null = 'f'): string { return ''; }
    `);
    const fields = manifest.types.flatMap((type) => (type.kind === 'input' ? type.fields : []));
    const known = [...manifest.operations[0].args, ...fields];
    expect(known.filter(({ type }) => type.present).map(({ name }) => name)).toEqual(['d', 'a']);
  });

  it('reads a type with a brand as what it is when it runs', () => {
    const manifest = read(`
      declare const brand: unique symbol;
      type Brand<T, B extends string> = T & { readonly [brand]: B };
      type UserId = Brand<string, 'UserId'>;
      type Hint = 'small' | 'large' | (string & {});
      export function getA(a: UserId, b: UserId[], c: number & { __unit: 'cm' }, d: bigint & { __big: true }): UserId | null { return a; }
      export function getB(a: Hint, b?: boolean & { __yes: 1 }): string { return a; }
    `);
    expect(signatures(manifest)).toEqual({
      getA: 'query (a: String!, b: [String!]!, c: Float!, d: Int64!): String',
      getB: 'query (a: String!, b: Boolean): String!',
    });
  });

  it('maps scalars, optional and nullable ones, lists, dates and defaults', () => {
    const manifest = read(`
      import type { ID, Int, Int64, Json } from 'graphstead/app';
      export function getA(a: string, b: number, c: boolean, d: Date, e: bigint): string { return a; }
      export function setB(a?: string, b?: number | null, c: Int = 5, d = 'x', e?: Int | null): Int { return 1; }
      export const listC = async (a: ID, b: Int64, c: string[], d?: (number | null)[]): Promise<string[] | null> => null;
      export function doNothing(a: Json): void {}
      export function doList(a: Json = ['x', 1], b: Json = 'x', c: Int[] = [1, 2]): void {}
      export async function Describe(on: boolean | undefined, l: readonly Int[]): Promise<Date | undefined> { return undefined; }
      export async function* watchD(): AsyncGenerator<number> { yield 1; }
      export async function watchE(): Promise<AsyncIterable<number>> { return watchD(); }
      export const constant = 5;
      export class NotAFunction {}
    `);
    expect(signatures(manifest)).toEqual({
      getA: 'query (a: String!, b: Float!, c: Boolean!, d: DateTime!, e: Int64!): String!',
      setB: 'mutation (a: String, b: Float, c: Int = 5, d: String = "x", e: Int): Int!',
      listC: 'query (a: ID!, b: Int64!, c: [String!]!, d: [Float]): [String!]',
      doNothing: 'mutation (a: JSON): Boolean!',
      doList: 'mutation (a: JSON, b: JSON = "x", c: [Int!] = [1,2]): Boolean!',
      describe: 'query (on: Boolean, l: [Int!]!): DateTime',
      watchD: 'subscription (): Float!',
      watchE: 'subscription (): Float!',
    });
  });

  it('maps objects, inputs, enums, generics and unions told apart by a literal', () => {
    const manifest = read(`
      /** A person. */
      export interface Person { /** shown */ name: string; age?: number; friends: Person[]; mood: Mood }
      export type Mood = 'happy' | 'sad';
      enum Color { Red = 'red', Blue = 'blue' }
      interface Page<T> { items: T[]; next: string | null }
      type Shape = { kind: 'circle'; radius: number } | { kind: 'square'; side: number };
      export function getPeople(filter: { name: string; mood?: Mood }, color: Color): Page<Person> { throw 0; }
      export function addPerson(person: Person): { id: string } { throw 0; }
      export function getShape(): Shape | null { throw 0; }
    `);
    expect(signatures(manifest)).toEqual({
      getPeople: 'query (filter: GetPeopleFilterInput!, color: Color!): PersonPage!',
      addPerson: 'mutation (person: PersonInput!): AddPersonResult!',
      getShape: 'query (): Shape',
    });
    const types = Object.fromEntries(manifest.types.map((type) => [type.name, type]));
    expect(Object.keys(types).sort()).toEqual([
      'AddPersonResult',
      'Color',
      'GetPeopleFilterInput',
      'Mood',
      'Person',
      'PersonInput',
      'PersonPage',
      'Shape',
      'ShapeCircle',
      'ShapeSquare',
    ]);
    expect(types['Person']).toMatchObject({ kind: 'object', description: 'A person.' });
    const fields = (types['PersonInput'] as unknown as { fields: { name: string; type: TypeUse }[] }).fields;
    expect(fields.map((field) => `${field.name}: ${shown(field.type)}`)).toEqual([
      'name: String!',
      'age: Float',
      'friends: [PersonInput!]!',
      'mood: Mood!',
    ]);
    expect(types['Shape']).toMatchObject({
      discriminant: 'kind',
      members: [
        { type: 'ShapeCircle', values: ['circle'] },
        { type: 'ShapeSquare', values: ['square'] },
      ],
    });
  });

  it('tells objects apart by a literal that is a boolean or a number', () => {
    const manifest = read(`
      type Reply = { ok: true; value: string } | { ok: false; error: string };
      type Step = { at: 1; x: string } | { at: 2 | 3; y: string };
      export function getReply(): Reply { throw 0; }
      export function getStep(): Step { throw 0; }
    `);
    const types = Object.fromEntries(manifest.types.map((type) => [type.name, type]));
    expect(types['Reply']).toMatchObject({
      discriminant: 'ok',
      members: [
        { type: 'ReplyTrue', values: ['true'] },
        { type: 'ReplyFalse', values: ['false'] },
      ],
    });
    expect(types['Step']).toMatchObject({ discriminant: 'at', members: [{ values: ['1'] }, { values: ['2', '3'] }] });
  });

  it('takes an argument that may hold its own kind, and a generic inside another', () => {
    const manifest = read(`
      interface Tree { name: string; parent?: Tree; children: Tree[] }
      interface Page<T> { items: T[] }
      interface Edge<T> { node: T }
      export function addTree(tree: Tree): void {}
      export function getPage(): Page<Edge<Edge<Tree>>> { throw 0; }
    `);
    expect(signatures(manifest)).toMatchObject({ getPage: 'query (): TreeEdgeEdgePage!' });
  });

  it('names a generic that holds a type without a name after its place, also where it holds itself', () => {
    const { types, operations } = read(`
      interface Page<T> { items: T[] }
      interface Tree<T> { value: T; children: Tree<T>[] }
      export function getPage(): Page<{ id: string; name: string }> { throw 0; }
      export function getLists(): Page<{ id: string }[]> { throw 0; }
      export function getTree(): Tree<{ a: string }> { throw 0; }
      export function getPick(from: Pick<{ a: string; b: number }, 'a'>): string { throw 0; }
    `);
    const results = operations.map(({ result }) => shown(result));
    expect(results).toEqual(['GetPageResult!', 'GetListsResult!', 'GetTreeResult!', 'String!']);
    expect(types.map(({ name }) => name).sort()).toEqual([
      'GetListsResult',
      'GetListsResultItem',
      'GetPageResult',
      'GetPageResultItem',
      'GetPickFromInput',
      'GetTreeResult',
      'GetTreeResultValue',
    ]);
  });

  it('gives the fields of a class without its methods, which an argument would lack', () => {
    const code = `
      class Base { id = ''; save(): Promise<this> { throw 0; } }
      class User extends Base { constructor(readonly name: string) { super(); } greet(): string { return this.name; } }
    `;
    const { types } = read(`${code} export function getUser(): User { throw 0; }`);
    expect(types).toMatchObject([{ name: 'User', fields: [{ name: 'name' }, { name: 'id' }] }]);
    const [refused] = mistakes(`${code} export function addUser(user: User): void {}`);
    expect(refused).toMatchObject({ message: 'GraphQL cannot express a function' });
    const [own] = mistakes(`export function getIt(): { name: string; greet: () => string } { throw 0; }`);
    expect(own).toMatchObject({ message: 'GraphQL cannot express a function' });
  });

  it.each([
    'export function page<T>(all: T[]): T[] { return all; }',
    'export function retry(work: () => Promise<string>): Promise<string> { return work(); }',
    'export function join(...parts: string[]): string { return parts.join(); }',
    'export function one(a: string): string; export function one(a: number): string; export function one() { return ""; }',
  ])('says where helpers belong: %s', (code) => {
    expect(mistakes(code)[0]?.fix).toContain('a helper that no client calls belongs in a folder beside functions/');
  });

  it('names a generic union after what it holds, as a generic object', () => {
    const { types, operations } = read(`
      interface User { id: string }
      type Result<T> = { ok: true; value: T } | { ok: false; error: string };
      export function getUser(): Result<User> { throw 0; }
      export function getUsers(): Result<User[]> | null { throw 0; }
      export function getPlace(): Result<{ city: string }> { throw 0; }
      export function getAgain(): Promise<Result<User>> { throw 0; }
    `);
    const results = operations.map(({ result }) => shown(result));
    expect(results).toEqual(['UserResult!', 'UserArrayResult', 'GetPlaceResult!', 'UserResult!']);
    const unions = Object.fromEntries(types.flatMap((type) => (type.kind === 'union' ? [[type.name, type]] : [])));
    const members = unions['UserArrayResult'].members.map(({ type }) => type);
    expect(members.sort()).toEqual(['UserArrayResultFalse', 'UserArrayResultTrue']);
  });

  it('names an enum after its place where only an alias of TypeScript names it', () => {
    const { operations } = read(`
      type Role = 'admin' | 'user';
      export function getRole(role: NonNullable<Role | null>): NonNullable<Role | null> { return role; }
    `);
    expect(operations.map(({ args, result }) => [shown(args[0].type), shown(result)])).toEqual([
      ['GetRoleRole!', 'GetRoleResult!'],
    ]);
  });

  it('refuses a generic union that grows without end', () => {
    const [mistake] = mistakes(`
      type Nest<T> = { end: true; value: T } | { end: false; below: Nest<T[]> };
      export function getNest(): Nest<string> { throw 0; }
    `);
    expect(mistake).toMatchObject({ code: 'FUNCTION_TYPE', message: expect.stringContaining('grows without end') });
  });

  it('keeps the numbers of a union of them, which GraphQL has no type for', () => {
    const { operations } = read(`
      export function getLevel(level: 1 | 2, from?: 10 | 20 | null, open: number = 1): (1 | 2)[] { return [level]; }
    `);
    const [{ args, result }] = operations;
    expect(args.map(({ type }) => type.oneOf)).toEqual([[1, 2], [10, 20], undefined]);
    expect([shown(result), result.of?.oneOf]).toEqual(['[Float!]!', [1, 2]]);
  });

  it('keeps the one value of a literal type', () => {
    const { operations } = read(`
      export function addIt(kind: 'circle', sure?: true | null, off: false = false, any?: boolean): 'done' { return 'done'; }
    `);
    const [{ args, result }] = operations;
    expect(args.map(({ type }) => [type.name, type.oneOf])).toEqual([
      ['String', ['circle']],
      ['Boolean', [true]],
      ['Boolean', [false]],
      ['Boolean', undefined],
    ]);
    expect([shown(result), result.oneOf]).toEqual(['String!', ['done']]);
  });

  it('names what Pick and Record make after its place, and describes it by nothing of theirs', () => {
    const manifest = read(`
      /** Who asks. */
      interface User {
        id: string;
        /** as it is written */
        name: string;
        age: number;
      }
      export function getUser(like: Partial<User>): Pick<User, 'id' | 'name'> { throw 0; }
      export function getSum(): Record<'yes' | 'no', number> { throw 0; }
      export function getBrief(): Pick<User, 'id' | 'name'> { throw 0; }
    `);
    const types = manifest.types.map((type) => [type.name, type.description]);
    expect(types).toEqual([
      ['GetSumResult', undefined],
      ['GetUserResult', undefined],
      ['UserPartialInput', undefined],
    ]);
    expect(signatures(manifest)).toMatchObject({ getBrief: 'query (): GetUserResult!' });
    expect(JSON.stringify(manifest.types)).toContain('as it is written');
  });

  it('counts a function once that one file exports on from another', () => {
    const dir = join(root, String(count++));
    mkdirSync(join(dir, 'functions'), { recursive: true });
    const files = {
      'all.ts':
        "export * from './notes.js';\nexport { getNote as findNote } from './notes.js';\nexport { default as getText } from './text.js';",
      'notes.ts': "export function getNote(): string { return ''; }",
      'text.ts': "export default function (): string { return ''; }",
    };
    for (const [name, text] of Object.entries(files)) writeFileSync(join(dir, 'functions', name), text);
    const { operations } = readSource(findSource(dir)).manifest;
    expect(operations.map(({ name }) => name).sort()).toEqual(['findNote', 'getNote', 'getText']);
  });

  it('takes descriptions and @query or @mutation from doc comments', () => {
    const manifest = read(`
      /**
       * Sets it.
       * @param a the value
       * @param b - another, -1 for none
       * @query
       */
      export function setIt(a: string, b: number): void {}
      /** @mutation */
      export function getIt(): string { return ''; }
    `);
    expect(manifest.operations).toMatchObject([
      {
        name: 'setIt',
        kind: 'query',
        description: 'Sets it.',
        args: [{ description: 'the value' }, { description: 'another, -1 for none' }],
      },
      { name: 'getIt', kind: 'mutation' },
    ]);
  });

  it.each([
    ['export function f(a: unknown): void {}', 1, 19, 'unknown'],
    ['export function f(a: Missing): void {}', 1, 19, 'Missing'],
    ['export function f<T>(a: T): void {}', 1, 17, 'generic'],
    ['export function f({ a }: { a: string }): void {}', 1, 19, 'name'],
    ['export function f(...a: string[]): void {}', 1, 19, 'rest'],
    ['export function f(): Map<string, number> { throw 0; }', 1, 22, 'Map'],
    ['export function f(): Record<string, number> { throw 0; }', 1, 22, 'arbitrary keys'],
    [
      'class A { a = 1;\n  get b(): string { return "b"; } }\nexport function f(): A { throw 0; }',
      2,
      3,
      '"b" is a getter',
    ],
    ['export function f(): string | number { throw 0; }', 1, 22, 'union'],
    ['export function f(a: () => void): void {}', 1, 19, 'function'],
    ['export function f(): [string, number] { throw 0; }', 1, 22, 'tuple'],
    ['interface A {\n  b: symbol;\n}\nexport function f(): A { throw 0; }', 2, 3, 'symbol'],
    ['export function f(): { kind: "a-b" | "c" } { throw 0; }', 1, 24, 'a-b'],
    ['export function Say(): void {}\nexport function say(): void {}', 2, 17, 'same operation'],
    ['export function f(a: { b: 1 } | { c: 2 }): void {}', 1, 19, 'union of objects as an argument'],
    ['type Größe = "a" | "b";\nexport function f(a: Größe): void {}', 2, 19, 'no GraphQL name'],
    ['import type { Int } from "graphstead/app";\nexport function f(a: Int | "all"): void {}', 2, 19, 'the union'],
    [
      'interface BInput {\n  c: string;\n}\nexport function f(a: BInput): BInput { return a; }',
      4,
      31,
      'and as a result',
    ],
    ['interface A {\n  a: A;\n}\nexport function f(a: A): void {}', 2, 3, 'AInput'],
    [
      'interface A {\n  b: B;\n}\ninterface B {\n  a: A | null;\n  c: C;\n}\ninterface C {\n  b: B;\n}\nexport function f(a: A): void {}',
      6,
      3,
      'BInput',
    ],
    ['interface A<T> {\n  v: T;\n  a?: A<A<T>>;\n}\nexport function f(): A<string> { throw 0; }', 3, 3, 'without end'],
    ['type A<T> = {\n  v: T;\n  a?: A<T[]>;\n};\nexport function f(a: A<string>): void {}', 3, 3, 'without end'],
    ['type Rows = Rows[];\nexport function f(): Rows { return []; }', 2, 22, 'a list of lists without end'],
    ['interface A {\n  rows: Rows;\n}\ntype Rows = Rows[];\nexport function f(a: A): void {}', 2, 3, 'without end'],
    ['export function f($a: string): void {}', 1, 19, 'no GraphQL name'],
    ['import type { Int } from "graphstead/app";\nexport function f(a: Int = 2.5): void {}', 2, 19, 'no Int'],
    ['import type { Int } from "graphstead/app";\nexport function f(a: Int[] = [1, 2.5]): void {}', 2, 19, 'no Int'],
    ['export function f(a: number[][] = [[1e999]]): void {}', 1, 19, 'no Float'],
  ])('refuses %s', (code, line, column, text) => {
    const [mistake] = mistakes(code);
    expect(mistake).toMatchObject({ code: 'FUNCTION_TYPE', position: { line, column, source: 'index.ts' } });
    expect(mistake.message).toContain(text);
    expect(mistake.fix).toBeTruthy();
  });

  it.each([
    ['export function f(a: i32): void {}', 'the type i32', 'write Int of'],
    ['export function f(a: u64): void {}', 'the type u64', 'write Int64 of'],
    ['export function f(a: bool[]): void {}', 'the type bool', 'write boolean'],
    ['export function f(a: Float): void {}', 'the type Float', 'write number'],
    ['export function f(a: Int): void {}', 'the type Int', 'import type { Int } from "graphstead/app"'],
    ['export function f(): Json[] { return []; }', 'the type Json', 'import type { Json } from "graphstead/app"'],
    ['export function f(a: Order): void {}', 'the type Order', 'import it or declare it'],
    ['export function f(a: any): void {}', 'the type any', 'name the fields'],
    [
      'enum Level { Low = 1, High = 2 }\nexport function f(a: Level): void {}',
      'Level, an enum with numbers',
      "Low = 'Low'",
    ],
    ['enum One { Only }\nexport function f(a: One): void {}', 'One, an enum with numbers', 'union of texts'],
    ['export function f(): Map<string, number> { throw 0; }', 'Map', 'Json from "graphstead/app"'],
  ])('says what to write in place of %s', (code, message, fix) => {
    const [mistake] = mistakes(code);
    expect(mistake.message).toContain(message);
    expect(mistake.fix).toContain(fix);
  });

  it('refuses a function that has no name but "default", and no other default', () => {
    const texts = [
      'export default function getIt(): string { return ""; }',
      'export default (): string => "";',
      'function getIt(): string { return ""; }\nexport default getIt;',
    ];
    for (const text of texts) expect(mistakes(text)).toMatchObject([{ code: 'FUNCTION_TYPE', fix: /give it one/ }]);
    const both = read('export function getIt(): string { return ""; }\nexport default getIt;');
    expect(both.operations.map(({ name }) => name)).toEqual(['getIt']);
    expect(read('export default { port: 80 };').operations).toEqual([]);
    expect(read('export default class A {}').operations).toEqual([]);
  });

  it('goes by path names from where the tsconfig.json stands that has them', () => {
    const dir = join(root, 'paths');
    mkdirSync(join(dir, 'apps/chat'), { recursive: true });
    mkdirSync(join(dir, 'packages/shared'), { recursive: true });
    const compilerOptions = { paths: { '@acme/*': ['./packages/*/index.ts'] } };
    writeFileSync(join(dir, 'tsconfig.base.json'), JSON.stringify({ compilerOptions }));
    writeFileSync(join(dir, 'apps/chat/tsconfig.json'), '{ "extends": "../../tsconfig.base.json" }');
    writeFileSync(join(dir, 'packages/shared/index.ts'), 'export interface Shared { name: string }');
    const code = "import type { Shared } from '@acme/shared';\nexport function getIt(): Shared { throw 0; }";
    writeFileSync(join(dir, 'apps/chat/index.ts'), code);
    expect(readSource(findSource(join(dir, 'apps/chat'))).manifest.types).toMatchObject([{ name: 'Shared' }]);
  });

  it('leaves out what a class keeps to itself', () => {
    const manifest = read(`
      class User { name = ''; private hash = ''; protected salt = ''; #pepper = ''; }
      export function getUser(): User { return new User(); }
    `);
    expect(manifest.types).toMatchObject([{ name: 'User', fields: [{ name: 'name' }] }]);
  });

  it('reads the arguments of wrapped functions', () => {
    const manifest = read(`
      function timed<A extends unknown[], R>(work: (...args: A) => R): (...args: A) => R { return work; }
      function cached<A, R>(work: (from: A) => R): (from: A) => R { return work; }
      export const getName = timed(async (id: string, upper?: boolean) => id);
      export const getSum = cached((list: number[]) => 1);
      export const getNow = timed(() => new Date());
    `);
    expect(signatures(manifest)).toEqual({
      getName: 'query (id: String!, upper: Boolean): String!',
      getSum: 'query (from: [Float!]!): Float!',
      getNow: 'query (): DateTime!',
    });
  });

  it('knows the types of Node.js where a signature needs them', () => {
    const manifest = read("export const getHome = () => process.env['HOME'] ?? '';");
    expect(signatures(manifest)).toEqual({ getHome: 'query (): String!' });
  });

  it('tells all mistakes at once, and files that do not parse', () => {
    expect(mistakes('export function a(x: symbol): void {}\nexport function b(y: symbol): void {}')).toHaveLength(2);
    expect(mistakes('export function a( {')[0]).toMatchObject({ code: 'SYNTAX', position: { line: 1 } });
  });
});

describe('query or mutation', () => {
  it.each([
    ['getUser', 'query'],
    ['GetUser', 'query'],
    ['listAll', 'query'],
    ['isReady', 'query'],
    ['issueRefund', 'mutation'],
    ['hasten', 'mutation'],
    ['testConnection', 'query'],
    ['checkMissionProgress', 'query'],
    ['deployAgent', 'mutation'],
    ['importActivity', 'mutation'],
    ['get_user', 'query'],
    ['getter', 'mutation'],
    ['check2FA', 'query'],
    ['GET2', 'query'],
    ['s3Upload', 'mutation'],
  ])('%s is a %s', (name, kind) => {
    expect(kindOf(name, [])).toBe(kind);
  });
});
