import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const src = join(root, 'src');

/** Which rooms a room may import, through their doors. `base` is open to all. */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  base: [],
  store: [],
  values: [],
  outbound: [],
  sdl: ['values'],
  commit: ['store', 'values'],
  graph: ['commit', 'store', 'values'],
  dql: ['graph', 'values'],
  api: ['sdl', 'dql', 'graph', 'commit', 'values', 'outbound'],
  mcp: ['api'],
  connections: ['outbound'],
  agents: ['commit', 'graph', 'dql', 'api', 'connections'],
  functions: ['sdl', 'api', 'agents', 'connections', 'values'],
  server: [
    'store',
    'values',
    'outbound',
    'sdl',
    'commit',
    'graph',
    'dql',
    'api',
    'mcp',
    'connections',
    'agents',
    'functions',
  ],
  cli: [
    'store',
    'values',
    'outbound',
    'sdl',
    'commit',
    'graph',
    'dql',
    'api',
    'connections',
    'agents',
    'functions',
    'server',
  ],
  // files that stand in src/ itself
  'app.ts': ['agents', 'connections', 'functions'],
  'testing.ts': ['server', 'store', 'connections'],
};
const HOST_DOOR_ROOMS = ['agents', 'connections', 'functions'];

interface Import {
  readonly file: string;
  readonly room: string;
  readonly target: string;
  readonly typeOnly: boolean;
}

function files(dir: string, kind = /\.ts$/): string[] {
  return readdirSync(dir, { withFileTypes: true }).flatMap((entry) => {
    const path = join(dir, entry.name);
    // what a service of another test builds in a folder of its own comes and goes
    if (entry.isDirectory()) return /^(node_modules|\..*)$/.test(entry.name) ? [] : files(path, kind);
    return kind.test(entry.name) ? [path] : [];
  });
}

function roomOf(path: string): string {
  return relative(src, path).split(sep)[0];
}

const IMPORT =
  /(?:^|\n)\s*(?:import|export)\s+(type\s)?[^'";]*?from\s+['"](\.[^'"]+)['"]|import\(\s*['"](\.[^'"]+)['"]\s*\)/g;

function importsOf(file: string): Import[] {
  const text = readFileSync(file, 'utf8');
  return [...text.matchAll(IMPORT)].map((match) => ({
    file,
    room: roomOf(file),
    target: resolve(dirname(file), (match[2] ?? match[3]).replace(/\.js$/, '.ts')),
    typeOnly: match[1] !== undefined,
  }));
}

const PASSED_ON = /^export (?:type )?\{[^}]*\} from .*$/gm;
const EXPORTED = /^export (?:async |abstract )*(?:function\*?|class|const|interface|type) (\w+)/gm;
/** What apps import by name. */
const PUBLIC = new Set(
  ['app.ts', 'testing.ts'].flatMap((file) => readFileSync(join(src, file), 'utf8').match(/\w+/g) ?? []),
);

const all = files(src);
const imports = all.filter((file) => !file.endsWith('.test.ts')).flatMap(importsOf);

describe('the house', () => {
  it('has rooms with a known place in the table', () => {
    expect(all.map(roomOf).filter((room) => !(room in ALLOWED))).toEqual([]);
  });

  it('imports go one way, as the table says', () => {
    const wrong = imports
      .map((i) => ({ ...i, to: roomOf(i.target) }))
      .filter((i) => i.to !== i.room && i.to !== 'base' && !ALLOWED[i.room]?.includes(i.to))
      .map((i) => `${relative(src, i.file)} imports ${i.to}`);
    expect(wrong).toEqual([]);
  });

  it('other rooms are entered by their door', () => {
    const wrong = imports
      .filter((i) => roomOf(i.target) !== i.room)
      .filter((i) => {
        const inside = relative(src, i.target).split(sep);
        const door = inside[1] === 'index.ts' || (inside[1] === 'host.ts' && HOST_DOOR_ROOMS.includes(inside[0]));
        return inside.length !== 2 || !door;
      })
      .map((i) => `${relative(src, i.file)} imports ${relative(src, i.target)}`);
    expect(wrong).toEqual([]);
  });

  it('no path leads from a host door to the store', () => {
    const byFile = groupByFile(imports);
    const seen = new Set<string>();
    const reach = (file: string): void => {
      if (seen.has(file)) return;
      seen.add(file);
      for (const i of byFile.get(file) ?? []) if (!i.typeOnly) reach(i.target);
    };
    for (const room of HOST_DOOR_ROOMS) reach(join(src, room, 'host.ts'));
    expect([...seen].filter((file) => roomOf(file) === 'store').map((file) => relative(src, file))).toEqual([]);
  });

  it('exports what another file names', () => {
    const readers = ['src', 'test', 'bench', 'examples', 'explorer', 'scripts', 'bin'];
    const fileOf = new Map<string, string | null>();
    const read = readers.flatMap((dir) => files(join(root, dir), /\.(ts|tsx|mjs|js)$/));
    for (const file of [...read, join(root, 'vitest.config.ts')]) {
      // a door that passes a name on does not use it
      const text = readFileSync(file, 'utf8').replaceAll(PASSED_ON, '');
      // null: in more than one file
      for (const word of new Set(text.match(/\w+/g))) fileOf.set(word, fileOf.has(word) ? null : file);
    }
    const beside = ['test', 'explorer', 'scripts'].flatMap((dir) => files(join(root, dir), /\.(ts|tsx|mjs)$/));
    // tests hold code of apps as texts
    const unused = [...all, ...beside.filter((file) => !file.endsWith('.test.ts'))]
      .filter((file) => roomOf(file) !== 'app.ts' && roomOf(file) !== 'testing.ts')
      .flatMap((file) => [...readFileSync(file, 'utf8').matchAll(EXPORTED)].map(([, name]) => ({ file, name })))
      .filter(({ file, name }) => fileOf.get(name) === file && !PUBLIC.has(name))
      .map(({ file, name }) => `${relative(root, file)} exports ${name}`);
    expect(unused).toEqual([]);
  });

  it('doors pass on what others take', () => {
    const readers = ['src', 'test', 'bench', 'scripts'].flatMap((dir) => files(join(root, dir), /\.(ts|mjs)$/));
    const taken = new Map<string, Set<string>>();
    for (const file of readers) {
      for (const [, named, loaded, target] of readFileSync(file, 'utf8').matchAll(NAMES_TAKEN)) {
        const door = resolve(dirname(file), target.replace(/\.js$/, '.ts'));
        if (roomOf(door) === roomOf(file)) continue;
        const names = taken.get(door) ?? new Set();
        for (const name of namesIn(named ?? loaded)) names.add(name);
        taken.set(door, names);
      }
    }
    const left = Object.keys(ALLOWED)
      .filter((room) => !room.endsWith('.ts'))
      .flatMap((room) => ['index.ts', 'host.ts'].map((name) => join(src, room, name)))
      .filter((door) => all.includes(door))
      .flatMap((door) =>
        [...readFileSync(door, 'utf8').matchAll(NAMES_PASSED_ON)]
          .flatMap(([, list]) => namesIn(list))
          .filter((name) => !taken.get(door)?.has(name) && !PUBLIC.has(name))
          .map((name) => `${relative(src, door)} passes on ${name}`),
      );
    expect(left).toEqual([]);
  });
});

/** What a door passes on by name; all types of a contract go with it, since what it passes on is made of them. */
const NAMES_PASSED_ON = /^export (?:type )?\{([^}]*)\} from/gm;
const NAMES_TAKEN = /(?:\bimport (?:type )?\{([^}]*)\} from|\bconst \{([^}]*)\} = await import\() *'(\.[^']+)'/g;

function namesIn(list: string): string[] {
  return [...list.matchAll(/(?:type )?(\w+)(?:(?: as |: )\w+)?(?:,|\s*$)/g)].map(([, name]) => name);
}

function groupByFile(list: readonly Import[]): Map<string, Import[]> {
  const groups = new Map<string, Import[]>();
  for (const i of list) groups.set(i.file, [...(groups.get(i.file) ?? []), i]);
  return groups;
}
