import { GraphsteadError } from '../base/index.js';
import { isDatabase } from '../store/index.js';

/**
 * The database that holds the store in place of the data directory: what --store says, or GRAPHSTEAD_STORE, which no list of
 * processes shows. Throws CONFIG for another kind of address.
 */
export function storeAddress(given: string | undefined): string | undefined {
  const address = given ?? process.env['GRAPHSTEAD_STORE'];
  if (address === undefined || address === '') return undefined;
  if (isDatabase(address)) return address;
  const source = given === undefined ? 'GRAPHSTEAD_STORE' : '--store';
  throw new GraphsteadError('CONFIG', `${source} is no address of a database`, {
    fix: 'write it as postgres://user:password@host:5432/database; a data directory is named with --data',
  });
}

/** An address as it may be shown: without user, password and settings. */
export function shownAddress(address: string): string {
  try {
    const { protocol, host, pathname } = new URL(address);
    return `${protocol}//${host}${pathname}`;
  } catch {
    return 'a database';
  }
}
