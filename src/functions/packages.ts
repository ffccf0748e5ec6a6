import { existsSync } from 'node:fs';
import { dirname, extname, join, sep } from 'node:path';
import type { OnResolveResult, Plugin } from 'esbuild';

const AS_IS: OnResolveResult = { external: true };
const RESOLVING = Symbol('resolving');
const JAVASCRIPT = new Set(['.js', '.mjs', '.cjs', '.node']);

/**
 * Leaves installed packages outside a bundle: they are found from where it lies. A package of the same workspace that is
 * TypeScript as it stands goes in, since Node.js would not load it; so does what a path name of tsconfig.json means.
 */
export const packagesOutside: Plugin = {
  name: 'graphstead-packages',
  setup(build) {
    build.onResolve({ filter: /^[^./]/ }, async ({ path, pluginData, ...from }) => {
      if (pluginData === RESOLVING || from.kind === 'entry-point') return undefined;
      if (isOwn(path)) return { ...AS_IS, path };
      const { importer, namespace, resolveDir, kind, with: attributes } = from;
      const where = { importer, namespace, resolveDir, kind, with: attributes, pluginData: RESOLVING };
      const to = await build.resolve(path, where);
      const isOutside = to.external || to.errors.length > 0 || isPackage(path, resolveDir, to.path);
      // not `to`: esbuild reads tsconfig.json (decorators, class fields) only for files that it resolves by itself
      return isOutside ? { ...AS_IS, path } : undefined;
    });
  },
};

function isOwn(path: string): boolean {
  return path === 'graphstead' || path.startsWith('graphstead/');
}

function isPackage(name: string, from: string, file: string): boolean {
  if (file.includes(`${sep}node_modules${sep}`)) return true;
  return JAVASCRIPT.has(extname(file)) && isInstalled(name, from);
}

function isInstalled(name: string, from: string): boolean {
  const [first = '', second = ''] = name.split('/');
  const folder = first.startsWith('@') ? join(first, second) : first;
  for (let dir = from; ; dir = dirname(dir)) {
    if (existsSync(join(dir, 'node_modules', folder))) return true;
    if (dirname(dir) === dir) return false;
  }
}
