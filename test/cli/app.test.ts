import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { run, runJson, scratch, serve } from './command.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = scratch();
const refusing = new URL('./refuse-compilers.mjs', import.meta.url).href;
/** Who loads typescript or esbuild fails. */
const withoutCompilers = { environment: { NODE_OPTIONS: `--import ${refusing}` } };
const app = folder.path('my-app');
beforeAll(async () => {
  await runJson(['new', app]);
  // as npm install would, without a network
  mkdirSync(join(app, 'node_modules'));
  symlinkSync(root, join(app, 'node_modules', 'graphstead'));
});
afterAll(() => folder.remove());

/** The app, to be changed by one test. */
function copyNamed(name: string): string {
  const copy = folder.path(name);
  cpSync(app, copy, { recursive: true, verbatimSymlinks: true });
  return copy;
}

describe('an app from new to start', () => {
  it('is made whole, hides its secrets from git and refuses a folder in use', async () => {
    const { name, dependencies, overrides } = JSON.parse(readFileSync(join(app, 'package.json'), 'utf8'));
    const ours = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    expect(overrides).toEqual({ cookie: ours.overrides.cookie });
    expect([name, Object.keys(dependencies)]).toEqual(['my-app', ['graphstead']]);
    expect(readFileSync(join(app, 'app.json'), 'utf8')).toContain('Bearer {{API_KEY}}');
    if (existsSync(join(app, '.git'))) {
      const { stdout } = spawnSync('git', ['status', '--short', '-uall'], { cwd: app, encoding: 'utf8' });
      expect(stdout).toContain('functions/note.ts');
      expect(stdout).not.toMatch(/env\.dev\.local|node_modules/);
    }
    const again = await run(['new', app]);
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('is not empty')]);
    expect((await run(['new', folder.path('My App')])).stderr).toContain('fix:');
    const outside = await run(['build', folder.dir]);
    expect([outside.code, outside.stderr]).toEqual([1, expect.stringContaining('holds no app')]);
    const inside = await run(['build', join(app, 'test')]);
    expect(inside.stderr).toContain(`fix: ${app} holds one: go there, or name it`);
  });

  it.each([
    ['modus.json', 'rename it to app.json, and see docs/guides/moving-from-modus.md'],
    ['convex/schema.ts', 'an app of Convex: see docs/guides/moving-from-convex.md'],
    ['wrangler.jsonc', "a Worker of Cloudflare's: see docs/guides/moving-from-cloudflare-agents.md"],
    ['metadata/version.yaml', 'a project of Hasura: see docs/guides/moving-from-hasura.md'],
  ])('is missing where %s is, which has a guide', async (mark, fix) => {
    const other = folder.path('other');
    mkdirSync(dirname(join(other, mark)), { recursive: true });
    writeFileSync(join(other, mark), '');
    const { stderr } = await run(['build', other]);
    rmSync(other, { recursive: true });
    expect(stderr).toContain('holds no app');
    expect(stderr).toContain(fix);
    expect(existsSync(join(root, /docs\S+md/.exec(fix)?.[0] ?? 'nothing'))).toBe(true);
  });

  it('passes its own test, and a failing one is told, although it leaves its app open', async () => {
    const passed = await run(['test', app]);
    expect([passed.code, passed.stdout]).toEqual([0, expect.stringMatching(/^\S pass 2$/m)]);
    const copy = copyNamed('failing');
    writeFileSync(
      join(copy, 'test', 'app.test.ts'),
      `import { test } from 'node:test';
import { startApp } from 'graphstead/testing';
test('no', async () => {
  await startApp({ models: { writer: [] } });
  throw new Error('as written');
});
`,
    );
    const failed = await run(['test', copy]);
    expect([failed.code, failed.stdout]).toEqual([1, expect.stringContaining('as written')]);
    // other runners look through the folder for tests: they must find the sources alone
    expect(existsSync(join(copy, '.graphstead', 'test'))).toBe(false);
  });

  it('is built, started without its sources, and shows its types', async () => {
    const built = await runJson(['build', app]);
    expect(built['operations']).toEqual(['mutation startReminder', 'query getSummary', 'query reminderCount']);
    const service = await serve([join(app, 'build'), '--data', folder.path('data')], withoutCompilers);
    try {
      const add = 'mutation { addNote(input: [{ text: "a", done: false, topic: { name: "t" } }]) { numUids } }';
      await service.graphql(add);
      expect((await service.graphql('{ getSummary(topic: "t") }'))['data']).toEqual({ getSummary: 'a' });
    } finally {
      expect(await service.stop()).toBe(0);
    }
    const { file } = (await runJson(['types', join(app, 'build'), '--out', folder.path('api.graphql')])) as {
      file: string;
    };
    const sdl = readFileSync(file, 'utf8');
    for (const part of ['type Note', 'startReminder(noteId: String!, minutes: Float!): String!', 'agentEvent(']) {
      expect(sdl).toContain(part);
    }
  });

  it('is built anew without what is gone from it, and its data stays beside it', async () => {
    const copy = copyNamed('rebuilt');
    writeFileSync(join(copy, 'functions', 'late.mjs'), '');
    const build = () => runJson(['build', copy, '--no-type-check']);
    const { warnings } = await build();
    expect(warnings).toEqual([expect.stringMatching(/^functions\/late\.mjs is not read: /)]);
    rmSync(join(copy, 'schema.graphql'));
    writeFileSync(join(copy, 'index.ts'), 'export const getOne = () => "one";\n');
    await build();
    expect(readdirSync(join(copy, 'build')).sort()).toEqual([
      'app.json',
      'app.manifest.json',
      'app.mjs',
      'app.mjs.map',
    ]);
    const service = await serve([join(copy, 'build')], { cwd: copy });
    expect(await service.stop()).toBe(0);
    expect(existsSync(join(copy, 'build', '.graphstead', 'data'))).toBe(false);
    expect(existsSync(join(copy, '.graphstead', 'data', 'data.mdb'))).toBe(true);
  });

  it('is served from the folder that was built, with an app.json or without', async () => {
    const source = folder.path('plain');
    mkdirSync(source);
    writeFileSync(join(source, 'index.ts'), 'export const getOne = () => "one";\n');
    await runJson(['build', source, '--no-type-check']);
    const service = await serve(['--data', folder.path('plain-data')], { cwd: join(source, 'build') });
    try {
      expect(await service.graphql('{ getOne }')).toMatchObject({ data: { getOne: 'one' } });
    } finally {
      await service.stop();
    }
  });

  it('has its tests found wherever they lie in it, but for those of a package in it', async () => {
    const source = folder.path('tested');
    const passing = "import { test } from 'node:test';\ntest('passes', () => undefined);\n";
    for (const place of ['.', 'src/lib', 'test/deep', 'client/src', 'node_modules/other', '.cache']) {
      mkdirSync(join(source, place), { recursive: true });
      writeFileSync(join(source, place, `${place.replace(/\W/g, '') || 'top'}.test.ts`), passing);
    }
    writeFileSync(join(source, 'src', 'index.ts'), 'export const getOne = () => "one";\n');
    writeFileSync(join(source, 'client', 'package.json'), '{}');
    const { files } = (await runJson(['test', source])) as { files: string[] };
    expect([...files].sort()).toEqual(['srclib.test.ts', 'testdeep.test.ts', 'top.test.ts']);
  });

  it('tells where a test cannot be bundled', async () => {
    const copy = copyNamed('unbundled');
    writeFileSync(join(copy, 'test', 'broken.test.ts'), "import './nowhere.js';\n");
    const { code, stderr } = await run(['test', copy, '--json']);
    expect(code).toBe(1);
    const position = { source: 'test/broken.test.ts', line: 1, column: 8 };
    expect(JSON.parse(stderr)).toMatchObject({ error: { code: 'APP_LOAD', position } });
  });

  it('shows its types where its secrets are not', async () => {
    const copy = copyNamed('secretive');
    writeFileSync(
      join(copy, 'app.json'),
      '{ "connections": { "shop": { "type": "relational", "connStr": "{{DATABASE_URL}}" } } }',
    );
    const types = readFileSync(join(copy, 'schema.graphql'), 'utf8');
    const key = '{"Header":"X-Auth","Namespace":"https://a.example/claims","Algo":"HS256","VerificationKey":"{{KEY}}"}';
    writeFileSync(join(copy, 'schema.graphql'), `# Service.Authorization ${key}\n${types}`);
    const { sdl } = await runJson(['types', copy]);
    expect(sdl).toContain('startReminder(');
    const refused = await run(['start', copy, '--data', folder.path('none'), '--port', '0', '--grpc-port', '0']);
    expect(refused.stderr).toMatch(/APP_SHOP_DATABASE_URL[\s\S]*APP_AUTHORIZATION_KEY/);
  });

  it('tells that its types cannot be written', async () => {
    const { code, stderr } = await run(['types', app, '--out', folder.path('nowhere/api.graphql'), '--json']);
    expect(code).toBe(1);
    expect(JSON.parse(stderr)).toMatchObject({ error: { code: 'INVALID_REQUEST', fix: expect.any(String) } });
  });

  it('is not looked for in a folder that is not there, and nothing is made', async () => {
    for (const command of ['start', 'dev']) {
      const { code, stderr } = await run([command, `${app}-mistyped`, '--port', '0', '--grpc-port', '0', '--json']);
      expect([code, JSON.parse(stderr).error.code]).toEqual([1, 'NOT_FOUND']);
    }
    expect(existsSync(`${app}-mistyped`)).toBe(false);
  });

  it('needs no compiler to start what was built, nor to import', async () => {
    // that the build is refused shows that whoever loads one is caught; the test above starts under the same
    const refused = await run(['build', app], withoutCompilers);
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringMatching(/loads (typescript|esbuild)/)]);
    writeFileSync(folder.path('a.rdf'), '_:a <name> "imported" .\n');
    const imported = await run(
      ['import', folder.path('a.rdf'), '--data', folder.path('imported'), '--json'],
      withoutCompilers,
    );
    expect([imported.code, JSON.parse(imported.stdout).statements]).toEqual([0, 1]);
  });

  it('tells mistakes of an app with file, line and fix', async () => {
    const copy = copyNamed('broken');
    writeFileSync(
      join(copy, 'functions', 'note.ts'),
      'export function broken(x: Map<string, string>): string { return ""; }',
    );
    const { code, stderr } = await run(['build', copy, '--json']);
    const { error } = JSON.parse(stderr.split('\n')[0]);
    expect([code, error.code, error.position.line]).toEqual([1, 'FUNCTION_TYPE', 1]);
    expect(error.position.source).toContain('functions/note.ts');
    expect(error.fix).toBeTruthy();
  });
});

describe('completion', () => {
  it.each(['bash', 'zsh', 'fish'])('prints a script for %s', async (shell) => {
    const { code, stdout } = await run(['completion', shell]);
    expect(code).toBe(0);
    for (const word of ['import', 'doctor', 'data']) expect(stdout).toContain(word);
    if (shell === 'bash') {
      const script = `${stdout}\nCOMP_WORDS=(graphstead ex) COMP_CWORD=1; _graphstead; echo "\${COMPREPLY[@]}"`;
      expect(spawnSync('bash', ['-c', script], { encoding: 'utf8' }).stdout.trim()).toBe('export');
    }
  });
});
