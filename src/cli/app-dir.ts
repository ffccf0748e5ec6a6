import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { GraphsteadError } from '../base/index.js';
import { isBuilt } from '../functions/index.js';

/** Any of these makes a folder an app. */
const MARKS = ['app.json', 'schema.graphql', 'functions', 'agents', 'index.ts', join('src', 'index.ts')];

/** The folder of an app. Throws NOT_FOUND when it holds none. */
export function checkAppDir(given: string | undefined): string {
  const directory = resolve(given ?? '.');
  if (MARKS.some((name) => existsSync(join(directory, name)))) return directory;
  throw new GraphsteadError('NOT_FOUND', `${directory} holds no app`, { fix: fixOfNoApp(directory) });
}

/** What an app of somebody else's is known by, and what to begin with. */
const PEERS: readonly (readonly [mark: string, fix: string])[] = [
  [
    'modus.json',
    'begin with modus.json: rename it to app.json, and see docs/guides/moving-from-modus.md of the package',
  ],
  [join('convex', 'schema.ts'), moving('an app of Convex', 'convex')],
  ...['wrangler.jsonc', 'wrangler.json', 'wrangler.toml'].map(
    (mark) => [mark, moving("a Worker of Cloudflare's", 'cloudflare-agents')] as const,
  ),
  [join('metadata', 'version.yaml'), moving('a project of Hasura', 'hasura')],
];

function moving(what: string, guide: string): string {
  return `it is ${what}: see docs/guides/moving-from-${guide}.md of the package, or make an app beside it: graphstead new my-app`;
}

function fixOfNoApp(directory: string): string {
  const peer = PEERS.find(([mark]) => existsSync(join(directory, mark)));
  if (peer !== undefined) return peer[1];
  const above = appAbove(directory);
  if (above !== undefined) return `${above} holds one: go there, or name it`;
  return 'name its folder, or make one: graphstead new my-app';
}

/** The app that a folder inside it belongs to. A folder named `functions` says too little that far up. */
function appAbove(directory: string): string | undefined {
  const above = dirname(directory);
  if (above === directory) return undefined;
  return existsSync(join(above, 'app.json')) ? above : appAbove(above);
}

/** What a service that was started without an app says of one that stands in `directory` all the same. */
export function unservedApp(directory: string): readonly string[] {
  const marks = MARKS.filter((name) => existsSync(join(directory, name)));
  if (marks.length > 0)
    return [
      `${marks.join(', ')} of this folder: not served, as it has no app.json; write one ({} will do), or name the folder`,
    ];
  const above = appAbove(directory);
  return above === undefined ? [] : [`the app of ${above} is not served from a folder inside it: go there, or name it`];
}

/**
 * Where data lies. When nobody says: beside the source of an app, else in the current folder. Never in a built folder, which is made of
 * the source and is deleted as lightly.
 */
export function dataFolder(given: string | undefined, appDir?: string): string {
  if (given !== undefined) return resolve(given);
  const folder = appDir === undefined || isBuilt(appDir) ? '.' : appDir;
  return resolve(folder, '.graphstead', 'data');
}
