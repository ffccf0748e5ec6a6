import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { GraphsteadError, packageRoot } from '../../base/index.js';
import { type CommonOptions, runCommand } from '../report.js';
import { version } from '../version.js';

interface NewCommand extends CommonOptions {
  readonly git: boolean;
}

interface Created {
  readonly directory: string;
  readonly files: readonly string[];
  readonly git: boolean;
}

const TEMPLATE = fileURLToPath(new URL('templates/app', packageRoot));
/** npm leaves files of these names out of a package, or takes them for its own: the template has them under others. */
const RENAMED: Readonly<Record<string, string>> = {
  gitignore: '.gitignore',
  'env.dev.local': '.env.dev.local',
  'package.json.template': 'package.json',
};

/** `graphstead new`: an app that runs, made from the template without a network. */
export function newCommand(directory: string, options: NewCommand): Promise<void> {
  return runCommand(
    options,
    async () => create(resolve(directory), options),
    ({ directory: path, files }) => {
      const near = relative('', path) || '.';
      const to = near.startsWith('..') ? path : near;
      return [`${to}: ${files.length} files`, '', ...steps(to).map((step) => `  ${step}`)].join('\n');
    },
  );
}

/** A clone is on no registry: apps get what it packs, with its types. */
function steps(to: string): string[] {
  const root = fileURLToPath(packageRoot);
  if (!existsSync(join(root, 'src'))) return [`cd ${to}`, 'npm install', 'npm run dev'];
  const packed = join(root, `graphstead-${version()}.tgz`);
  return [`(cd ${root} && npm pack)`, `cd ${to}`, `npm install ${packed}`, 'npm run dev'];
}

function create(directory: string, { git }: NewCommand): Created {
  const name = checkedName(basename(directory));
  if (existsSync(directory) && readdirSync(directory).length > 0) {
    throw new GraphsteadError('INVALID_REQUEST', `${directory} is not empty`, { fix: 'name a new folder' });
  }
  mkdirSync(directory, { recursive: true });
  cpSync(TEMPLATE, directory, { recursive: true });
  for (const [from, to] of Object.entries(RENAMED)) renameSync(join(directory, from), join(directory, to));
  const words = { name, graphstead: `^${version()}` };
  for (const file of ['package.json', 'README.md', 'app.json']) fill(join(directory, file), words);
  const files = readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(directory, join(entry.parentPath, entry.name)))
    .sort();
  return { directory, files, git: git && initialize(directory) };
}

/** `{{name}}` and its like; placeholders of connections are left alone. */
function fill(path: string, words: Readonly<Record<string, string>>): void {
  const text = readFileSync(path, 'utf8');
  writeFileSync(
    path,
    text.replace(/\{\{(\w+)\}\}/g, (all, word: string) => words[word] ?? all),
  );
}

function checkedName(name: string): string {
  if (/^[a-z0-9][a-z0-9._-]{0,213}$/.test(name)) return name;
  throw new GraphsteadError('INVALID_REQUEST', `"${name}" cannot be the name of a package`, {
    fix: 'use lower-case letters, digits, - and _',
  });
}

/** A repository of its own, unless git is missing or the folder lies in one already. */
function initialize(directory: string): boolean {
  const run = (...args: string[]) => spawnSync('git', args, { cwd: directory, stdio: 'ignore' }).status === 0;
  if (run('rev-parse', '--is-inside-work-tree')) return false;
  const isDone = run('init', '-q', '-b', 'main');
  if (!isDone) rmSync(join(directory, '.git'), { recursive: true, force: true });
  return isDone;
}
