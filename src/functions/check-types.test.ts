import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { testFolder } from '../../test/folder.js';
import { findSource } from './app-source.js';
import { checkTypes } from './check-types.js';
import { buildApp } from './index.js';

let root: string;
beforeEach(() => {
  root = testFolder();
  mkdirSync(join(root, 'functions'));
});

const write = (name: string, text: string) => writeFileSync(join(root, name), text);

async function check(signal?: AbortSignal) {
  const { mistakes, unchecked } = await checkTypes(findSource(root), { cacheDir: join(root, '.graphstead'), signal });
  expect(unchecked).toBeUndefined();
  return mistakes.map(({ code, message, position }) => ({
    code,
    at: position && `${position.source}:${position.line}:${position.column}`,
    message,
  }));
}

const SOUND = 'export function addUp(a: number): number { return a + 1; }\n';

describe('the check of types', () => {
  it('tells every type error of functions, agents and what they import, with file, line and column', async () => {
    mkdirSync(join(root, 'agents'));
    write(
      'functions/a.ts',
      "import { half } from '../half.js';\nexport function addUp(a: number): number { return half(a).length + nothing; }\n",
    );
    write('half.ts', 'export const half = (n: number): string => n / 2;\n');
    write(
      'agents/b.ts',
      "import { Agent, agents } from 'graphstead/app';\nclass B extends Agent {\n  onSuspend() { this.publishEvnt('x', {}); console.log(process.pid); }\n}\nagents.register(B);\n",
    );
    expect(await check()).toEqual([
      { code: 'TYPE', at: 'agents/b.ts:3:22', message: expect.stringMatching(/^TS2551: .*publishEvnt/) },
      { code: 'TYPE', at: 'functions/a.ts:2:68', message: expect.stringMatching(/^TS2304: .*nothing/) },
      { code: 'TYPE', at: 'half.ts:1:44', message: expect.stringMatching(/^TS2322: /) },
    ]);
  });

  it('takes the types of Node.js from where the app is, not from where the command was called', async () => {
    const types = join(root, 'node_modules', '@types', 'node');
    mkdirSync(types, { recursive: true });
    writeFileSync(join(types, 'package.json'), '{ "name": "@types/node", "version": "20.0.0", "types": "index.d.ts" }');
    writeFileSync(join(types, 'index.d.ts'), 'declare const ofTheApp: number;\n');
    write('functions/a.ts', 'export function addUp(a: number): number { return a + ofTheApp; }\n');
    expect(await check()).toEqual([]);
  });

  it("goes by the app's own tsconfig.json, and tells its mistakes", async () => {
    write('functions/a.ts', 'export function addUp(a: number): number { const unused = 1; return a + 1; }\n');
    write(
      'tsconfig.json',
      '{ "compilerOptions": { "strict": true, "noUnusedLocals": true, "types": ["node"], "targt": "ES2023" } }',
    );
    expect(await check()).toEqual([
      { code: 'TYPE', at: 'functions/a.ts:1:50', message: expect.stringMatching(/^TS6133: /) },
      { code: 'TYPE', at: 'tsconfig.json:1:83', message: expect.stringMatching(/^TS5025: .*targt/) },
    ]);
  });

  it.each([
    ['of Node.js', ['ES2023']],
    ['of browsers', ['ES2023', 'DOM', 'DOM.Iterable']],
  ])('takes and gives what fetch does in types %s', async (_, lib) => {
    write(
      'functions/a.ts',
      `import { connections } from 'graphstead/app';
      export async function sendIt(): Promise<string> {
        const api = connections.http('api');
        const headers = new Headers({ a: 'b' });
        for (const body of [new FormData(), new Blob(['x']), new URLSearchParams('a=b'), new Uint8Array(1)])
          await api.json('x', { method: 'POST', body, headers });
        const reply: Response = await api.fetch('x', { method: 'POST', body: new Blob(['x']).stream(), duplex: 'half' });
        const { signal } = new AbortController();
        return reply.ok ? reply.text() : (await api.fetch('y', { signal, redirect: 'manual' })).headers.get('a') ?? '';
      }`,
    );
    const compilerOptions = { strict: true, target: 'ES2023', module: 'ESNext', moduleResolution: 'Bundler', lib };
    write('tsconfig.json', JSON.stringify({ compilerOptions: { ...compilerOptions, types: ['node'] } }));
    expect(await check()).toEqual([]);
  });

  it('is done again only when something changed', async () => {
    write('functions/a.ts', SOUND);
    expect(await check()).toEqual([]);
    // A check that is ended before it begins answers only what is known already.
    const ended = AbortSignal.abort(new Error('ended'));
    expect(await check(ended)).toEqual([]);
    write('functions/a.ts', SOUND.replace('number {', 'string {'));
    await expect(check(ended)).rejects.toThrow('ended');
    expect(await check()).toMatchObject([{ at: 'functions/a.ts:1:44' }]);
    await expect(check(ended)).rejects.toThrow('ended');
  });
});

describe('build', () => {
  it('tells type errors together with what GraphQL cannot express, and writes nothing', async () => {
    write(
      'functions/a.ts',
      'export function addUp(a: number): number { return String(a); }\nexport function getPair(): [string, string] { return ["a", "b"]; }\n',
    );
    const out = join(root, 'out');
    await expect(buildApp(root, out)).rejects.toMatchObject({
      errors: [
        { code: 'FUNCTION_TYPE', position: { source: 'functions/a.ts', line: 2 } },
        { code: 'TYPE', position: { source: 'functions/a.ts', line: 1, column: 44 } },
      ],
    });
    expect(existsSync(out)).toBe(false);
  });

  it('builds in spite of type errors where that is asked for', async () => {
    write('functions/a.ts', SOUND.replace('number {', 'string {'));
    const out = join(root, 'out');
    const { manifest } = await buildApp(root, out, { types: false });
    expect(manifest.operations.map(({ name }) => name)).toEqual(['addUp']);
    expect(readFileSync(join(out, 'app.mjs'), 'utf8')).toContain('addUp');
  });
});
