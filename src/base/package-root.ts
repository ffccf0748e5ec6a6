import { existsSync } from 'node:fs';

/** This package's own folder, with / at its end: found upwards, since a file lies at another depth once it is bundled. */
export const packageRoot: URL = findUpwards(new URL('.', import.meta.url));

function findUpwards(folder: URL): URL {
  if (existsSync(new URL('package.json', folder))) return folder;
  const parent = new URL('..', folder);
  if (parent.href === folder.href) throw new Error('the package.json of graphstead is missing');
  return findUpwards(parent);
}

/** What runs as a process or a thread of its own, by its path in src/ without `.ts`: always the compiled one. */
export function compiled(program: string): URL {
  return new URL(`dist/${program}.js`, packageRoot);
}
