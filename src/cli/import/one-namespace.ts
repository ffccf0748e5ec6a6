import { GraphsteadError, type Position } from '../../base/index.js';

/** Hears of each namespace that the files of one import name. */
export type TakeNamespace = (namespace: number, position?: Position) => void;

/** There is one namespace here, and it may have been any there. Throws INVALID_REQUEST on a second: tenants would be mixed. */
export function oneNamespace(): TakeNamespace {
  let first: number | undefined;
  return (namespace, position) => {
    first ??= namespace;
    if (namespace === first) return;
    throw new GraphsteadError('INVALID_REQUEST', `the files hold the namespaces ${hex(first)} and ${hex(namespace)}`, {
      position,
      fix: 'export one namespace at a time, and import each into a service of its own',
    });
  };
}

const hex = (namespace: number): string => `0x${namespace.toString(16)}`;
