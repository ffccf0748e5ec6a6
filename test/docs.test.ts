// Every fenced block of the guides and the README is run or checked, and every link leads somewhere.
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
// @ts-expect-error plain scripts without types
import { referencePages } from '../scripts/reference.mjs';
import { ERROR_STATUS } from '../src/base/index.js';
import { readConfig } from '../src/connections/index.js';
import { FIGURES } from '../src/server/figures.js';
import { writeApp } from './docs/app.js';
import { sharedFolder } from './folder.js';
import { type Block, blocksOf, serviceOf } from './docs/block.js';
import { commandMistakes } from './docs/command.js';
import { callOf, commandLines, words } from './docs/curl.js';
import { typeMistakes } from './docs/types.js';
import { startService, type TestService } from './service.js';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const guides = readdirSync(join(root, 'docs/guides')).map((name) => `docs/guides/${name}`);
/** pages of the reference that show requests, and their answers */
const shown = ['docs/reference/graph-language.md', 'docs/reference/graphql-api.md'];
const pages = [...guides, ...shown, 'README.md'];
const read = (path: string) => readFileSync(join(root, path), 'utf8');
/** Where the service of a page's commands answers. */
const SHOWN = 'http://127.0.0.1:8686';
const temporary = sharedFolder();

describe('the TypeScript of the guides, and of the app that `new` makes', () => {
  it('has no type mistakes', () => {
    const modules = pages.flatMap((page) =>
      blocksOf(read(page))
        .filter((block) => block.language === 'ts' && block.reason === undefined)
        .map((block) => ({ page, line: block.line, text: block.text, file: block.file })),
    );
    expect(modules.length).toBeGreaterThan(3);
    const made = 'templates/app';
    const files = readdirSync(join(root, made), { recursive: true, encoding: 'utf8' });
    const sources = files.filter((file) => file.endsWith('.ts'));
    expect(sources).toContain('test/app.test.ts');
    modules.push(...sources.map((file) => ({ page: made, line: 1, text: read(`${made}/${file}`), file })));
    expect(typeMistakes(root, modules)).toEqual([]);
  });
});

describe.each([...guides, ...shown])('%s', (page) => {
  const text = read(page);
  const blocks = blocksOf(text);
  let service: TestService | undefined;
  afterAll(() => service?.close());

  it('is answered as it says', async () => {
    const folder = join(temporary, page.replaceAll('/', '-'));
    const appDir = writeApp(root, folder, blocks);
    service = await startService({ ...serviceOf(text), ...(appDir ? { appDir } : {}) });
    for (const [index, block] of blocks.entries()) {
      const next = blocks[index + 1];
      const answer = next?.language === 'json' && next.follows ? next : undefined;
      await check(service, page, block, answer, folder);
    }
  });
});

describe('README.md', () => {
  it.each(blocksOf(read('README.md')))('$language, line $line', (block) => {
    // questions and answers are asked of the example by readme.test.ts
    if (block.language === 'json') JSON.parse(block.text);
    else if (block.language === '') expect(block.text.split('\n').flatMap(commandMistakes)).toEqual([]);
    else expect(block.language).toMatch(/^(graphql|dql|ts)$/);
  });
});

async function check(service: TestService, page: string, block: Block, answer: Block | undefined, folder: string) {
  const where = `${page}:${block.line}`;
  if (block.reason !== undefined) return expect(block.reason.length, `${where}: say why`).toBeGreaterThan(10);
  switch (block.language) {
    case 'graphql':
      return checkAnswer(where, await graphql(service, block, where), answer);
    case 'dql':
      return checkAnswer(where, await graphLanguage(service, block.text), answer);
    case 'sh':
    case 'bash':
      return shell(service, block, where, answer, folder);
    case 'json':
      return checkJson(block, where);
    case 'ts':
      return;
    case 'js':
    case 'jsonl':
    case 'sql':
      return expect(block.file, `${where}: name its file, or say why it is not run`).toBeDefined();
    default:
      throw new Error(`${where}: a block of "${block.language}" needs <!-- not run: reason --> above it`);
  }
}

type Body = Readonly<Record<string, unknown>>;

function checkJson(block: Block, where: string): void {
  const value = JSON.parse(block.text) as Body;
  if ('connections' in value) expect(() => readConfig(block.text), where).not.toThrow();
}

/** An answer that the page prints holds; one that it does not print has no errors. */
function checkAnswer(where: string, body: Body, answer: Block | undefined): void {
  if (answer === undefined) {
    expect(body['errors'], where).toBeUndefined();
    return;
  }
  const printed = JSON.parse(answer.text) as Body;
  const shown = 'data' in printed || 'errors' in printed || !('data' in body) ? body : body['data'];
  expect(shown, where).toMatchObject(printed);
}

/** Type definitions are uploaded; anything else is asked. */
async function graphql(service: TestService, { text, file }: Block, where: string): Promise<Body> {
  if (file !== undefined) return {};
  if (!/^\s*(?:#.*\s+)*(?:"""|type|interface|enum|union|input|extend)\b/.test(text)) {
    return (await service.post('/graphql', text, 'application/graphql')).body;
  }
  const { status, body } = await service.schema(text);
  expect([status, body], where).toEqual([200, expect.anything()]);
  return body;
}

async function graphLanguage(service: TestService, text: string): Promise<Body> {
  if (/^\s*(?:upsert\b|\{\s*(?:set|delete)\b)/.test(text)) return (await service.rdf(text)).body;
  if (/^\s*(?:\{|query\b|fragment\b|schema\b)/.test(text)) return (await service.query(text)).body;
  return (await service.alter(text)).body;
}

async function shell(service: TestService, block: Block, where: string, answer: Block | undefined, folder: string) {
  const lines = commandLines(block.text);
  for (const [index, line] of lines.entries()) {
    // what is printed below several calls is the answer to the last
    const printed = index === lines.length - 1 ? answer : undefined;
    if (!line.startsWith('curl ')) {
      if (await runScript(service, line, folder)) continue;
      expect(commandMistakes(line), where).toEqual([]);
      if (line === 'graphstead test') await runTests(folder);
      if (line.startsWith('graphstead import ') && line.includes(SHOWN)) await importInto(service, line, folder);
      continue;
    }
    const call = callOf(line, folder);
    const { origin } = new URL(call.url);
    expect(origin, where).toBe(SHOWN);
    const url = call.url.replace(origin, service.url);
    const stop = new AbortController();
    const response = await fetch(url, { ...call.init, signal: stop.signal });
    const stream = response.headers.get('content-type')?.startsWith('text/event-stream');
    expect(response.status, `${where}: ${line}`).toBeLessThan(printed?.text.includes('"errors"') ? 600 : 400);
    if (stream) {
      stop.abort();
      continue;
    }
    const text = await response.text();
    if (!response.headers.get('content-type')?.startsWith('application/json')) continue;
    const body = JSON.parse(text) as Body;
    checkAnswer(where, body, printed);
  }
}

async function runNode(args: readonly string[], cwd: string): Promise<void> {
  await promisify(execFile)(process.execPath, args, { cwd }).catch((error: { stdout: string; stderr: string }) => {
    throw new Error(`${args.join(' ')}\n${error.stdout}${error.stderr}`);
  });
}

/** A program that stands on the page itself: it runs in the folder where the page's files are. */
async function runScript(service: TestService, line: string, folder: string): Promise<boolean> {
  const [name, script, ...rest] = words(line.replace(SHOWN, service.url));
  if (name !== 'node' || !existsSync(join(folder, script))) return false;
  await runNode([script, ...rest], folder);
  return true;
}

/** The page's own tests of its app, which find this package as one that is installed. */
async function runTests(folder: string): Promise<void> {
  const installed = join(dirname(folder), 'node_modules');
  mkdirSync(installed, { recursive: true });
  if (!existsSync(join(installed, 'graphstead'))) symlinkSync(root, join(installed, 'graphstead'));
  await runNode([join(root, 'bin/graphstead.js'), 'test'], folder);
}

/** What a page loads into the service that runs is loaded. */
async function importInto(service: TestService, line: string, folder: string): Promise<void> {
  const [, ...rest] = words(line.replace(SHOWN, service.url));
  await runNode([join(root, 'bin/graphstead.js'), ...rest], folder);
}

describe('docs/reference', () => {
  const generated = referencePages() as Record<string, string>;

  it.each(Object.keys(generated))('%s is current (node scripts/reference.mjs --write makes it)', (name) => {
    expect(read(`docs/reference/${name}`)).toBe(generated[name]);
  });

  it('tells every metric that a service with an app has, and no other', async () => {
    const appDir = join(root, 'examples/mission-control');
    const service = await startService({ appDir, data: join(temporary, 'metrics') });
    await service.get('/health');
    const text = String((await service.get('/metrics')).body);
    await service.close();
    const names = [...text.matchAll(/^# TYPE (\S+)/gm)].map((match) => match[1]);
    const ofDatabases = ['graphstead_store_sweep_failures_total'];
    expect([...names, ...ofDatabases].sort()).toEqual(Object.keys(FIGURES).sort());
  });

  it('tells every function, directive and argument of the graph language', async () => {
    const service = await startService({ data: join(temporary, 'language') });
    const fixOf = async (query: string): Promise<string> => {
      const { body } = await service.query(query);
      return (body as { errors: { extensions: { fix: string } }[] }).errors[0].extensions.fix;
    };
    const fixes = await Promise.all(
      [
        '{ q(func: nothing(a, 1)) { uid } }',
        '{ q(func: has(a)) @nothing { uid } }',
        '{ q(func: has(a)) { x: math(nothing(a)) } }',
        '{ q(func: has(a), nothing: 1) { uid } }',
        '{ p as shortest(from: 1, nothing: 1) { a } }',
        'query q($a: nothing) { q(func: has(a)) { uid } }',
      ].map(fixOf),
    );
    await service.close();
    const lists = fixes.map((fix) => fix.replace(/^(?:Use one of|It has) |\.$/g, '').split(', '));
    expect(
      lists.every((list) => list.length > 4),
      fixes.join('\n'),
    ).toBe(true);
    const text = read('docs/reference/graph-language.md');
    const told = (name: string) => new RegExp(`(?<!\\w)${name}(?!\\w)`).test(text);
    expect(lists.flat().filter((name) => !told(name))).toEqual([]);
  });

  it('tells every argument and key of the generated API', async () => {
    const text = read('docs/reference/graphql-api.md');
    const service = await startService({ data: join(temporary, 'api') });
    const [definitions] = blocksOf(text);
    expect((await service.schema(definitions.text)).status).toBe(200);
    const { body } = await service.graphql(
      '{ __schema { types { name inputFields { name } fields { name args { name } } } } }',
    );
    await service.close();
    interface Named {
      readonly name: string;
      readonly inputFields: readonly Named[] | null;
      readonly fields: (Named & { readonly args: readonly Named[] })[] | null;
    }
    const { types } = (body as { data: { __schema: { types: readonly Named[] } } }).data.__schema;
    const all = types.filter(({ name }) => !name.startsWith('__'));
    const keys = all.flatMap(({ inputFields, fields }) => [
      ...(inputFields ?? []),
      ...(fields ?? []).flatMap(({ args }) => args),
    ]);
    const names = [...new Set(keys.map(({ name }) => name))];
    expect(names).toContain('between');
    expect(names.filter((name) => !new RegExp(`(?<!\\w)${name}(?!\\w)`).test(text))).toEqual([]);
  });

  it('names no error code that does not exist', () => {
    const known = new Set(Object.keys(ERROR_STATUS));
    for (const page of [...guides, ...shown, 'docs/reference/http.md']) {
      const named = [...read(page).matchAll(/`([A-Z]+(?:_[A-Z]+)+)`/g)].map((match) => match[1]);
      const codes = named.filter((name) => !/^(GRAPHSTEAD|APP|NODE)_/.test(name));
      expect(codes.filter((code) => !known.has(code), page)).toEqual([]);
    }
  });
});

describe('deployment files', () => {
  it('start the service with flags that exist', () => {
    const command = /^CMD (\[.*\])$/m.exec(read('Dockerfile'))?.[1] ?? '[]';
    expect(commandMistakes(['graphstead', ...(JSON.parse(command) as string[])].join(' '))).toEqual([]);
    const start = /^ExecStart=\/usr\/bin\/(.*)$/m.exec(read('deploy/graphstead.service'))?.[1] ?? '';
    expect(commandMistakes(start)).toEqual([]);
  });

  it('copy only what is there, and all that the package needs', () => {
    const text = read('Dockerfile');
    const copied = [...text.matchAll(/^COPY ((?!--from)[^\n]*) \S+$/gm)].flatMap((match) => match[1].split(' '));
    expect(copied.filter((path) => !existsSync(join(root, path)))).toEqual([]);
    expect(text).toMatch(/^USER node$/m);
    expect(text).toMatch(/^VOLUME \/data$/m);
    expect(text).toContain('/health');
  });
});

describe('links', () => {
  const reference = readdirSync(join(root, 'docs/reference')).map((name) => `docs/reference/${name}`);
  const texts = [...guides, 'README.md', 'llms.txt', ...reference];
  it.each(texts)('of %s lead to files', (page) => {
    const links = [...read(page).matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)].map((match) => match[1]);
    const local = links.filter((link) => !/^[a-z]+:/.test(link));
    const missing = local.filter((link) => !existsSync(join(root, dirname(page), link)));
    expect(missing.map((link) => `${relative(root, page)}: ${link}`)).toEqual([]);
  });

  it('of llms.txt reach every guide and every page of the reference', () => {
    const text = read('llms.txt');
    const missing = texts.filter((page) => page.startsWith('docs/') && !text.includes(`(${page})`));
    expect(missing).toEqual([]);
  });
});
