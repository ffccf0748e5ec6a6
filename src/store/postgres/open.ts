import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import {
  bootOfThis,
  codeOf,
  GraphsteadError,
  type Limits,
  makeLimits,
  namedIn,
  nameOfThis,
  tlsAdvice,
} from '../../base/index.js';
import type { Store } from '../contract.js';
import { Hold, HELD_SECONDS } from './hold.js';
import { Link, openingFailure, type Row, type Writer } from './link.js';
import { anyOf, CREATE, createMeta, FORMAT, holdOn, letGo, MADE, META, readFrom, readNoMore, takeOver } from './sql.js';
import { PostgresStore, type PostgresStoreParts } from './store.js';

interface PostgresStoreOptions {
  readonly limits?: Limits;
  /** opens beside a writer, and never writes */
  readonly readOnly?: boolean;
  /** opens although another process writes; that one is fenced from then on */
  readonly takeOver?: boolean;
  /** milliseconds to wait for a writer that may have died; default: as long as it keeps its place without a word */
  readonly waitMs?: number;
  /** told once where that is waited for */
  readonly waits?: (holder: string) => void;
  /** told once, with STORE_FENCED, when another process has taken over, or the database went back: this store is of no use again */
  readonly fenced?: PostgresStoreParts['fenced'];
  /** told once why old versions cannot be taken away, and with nothing once they can again */
  readonly keepsVersions?: PostgresStoreParts['keepsVersions'];
}

const LOOK_AGAIN_MS = 250;
const UNDEFINED_TABLE = '42P01';

/** Whether an address names a database. */
export function isDatabase(address: string): boolean {
  return /^postgres(ql)?:\/\//.test(address);
}

/**
 * Opens the store in a database that speaks PostgreSQL's protocol, in the schema that its user finds first, and makes its tables where
 * they are missing. A writer that has died without a word keeps its place for a while: that is waited for.
 * Throws STORE_LOCKED, STORE_FORMAT, STORE_CORRUPT, NOT_FOUND (read-only, and nothing there), CONFIG, OVERLOADED (no database).
 */
export async function openPostgresStore(address: string, options: PostgresStoreOptions = {}): Promise<Store> {
  const limits = options.limits ?? makeLimits();
  const cacheBytes = limits.storeCacheBytes;
  const link = linkTo(address, limits);
  try {
    await link.assertSessions();
    const open = options.readOnly === true ? openToRead : openToWrite;
    const { fenced, keepsVersions } = options;
    return new PostgresStore({ link, cacheBytes, fenced, keepsVersions, ...(await open(link, options)) });
  } catch (thrown) {
    await link.close().catch(() => undefined);
    throw openingFailure(thrown);
  }
}

function linkTo(address: string, limits: Limits): Link {
  try {
    return new Link(address, limits);
  } catch (thrown) {
    // the library's message may hold the address, and the address a password
    throw new GraphsteadError('CONFIG', 'the address of the database cannot be read', {
      fix: tlsAdvice(thrown) ?? 'write it as postgres://user:password@host:5432/database',
      cause: thrown,
    });
  }
}

/** What `CREATE` makes, only its owner may name in it: others find it made. */
async function create(writer: Writer): Promise<void> {
  if (!(await isMade(writer))) {
    // both are made at once: where one is left, the other is lost, and what they held; unless somebody has just made them
    const kept = [await isMade(writer, anyOf('graphstead_meta')), await isMade(writer, anyOf('graphstead_entry'))];
    if (kept[0] !== kept[1] && !(await isMade(writer))) throw lostTables();
    await make(writer);
  }
  // in this order: whoever writes entries has made the row before
  const entries = await writer.rows(anyOf('graphstead_entry'));
  if ((await writer.rows(META)).length > 0) return;
  if (entries.length > 0) throw lostTables();
  await writer.run(createMeta(randomBytes(8).toString('hex')));
}

async function isMade(writer: Writer, asks = MADE): Promise<boolean> {
  try {
    await writer.rows(asks);
    return true;
  } catch (thrown) {
    if (codeOf(thrown) !== UNDEFINED_TABLE) throw thrown;
    return false;
  }
}

/** Another process may be doing the same: one of the two is told that a name is taken. */
async function make(writer: Writer): Promise<void> {
  try {
    await writer.run(CREATE);
  } catch (thrown) {
    if (!/^(23505|42P07|42710|40001)$/.test(codeOf(thrown) ?? '')) throw thrown;
    await writer.run(CREATE);
  }
}

type Opened = Omit<PostgresStoreParts, 'link' | 'cacheBytes' | 'fenced' | 'keepsVersions'>;

async function openToWrite(link: Link, options: PostgresStoreOptions): Promise<Opened> {
  const { takeOver: mayFence = false, waitMs = HELD_SECONDS * 1_000 + LOOK_AGAIN_MS } = options;
  const writer = await link.writer();
  await create(writer);
  const until = performance.now() + waitMs;
  for (let { waits } = options; ; ) {
    const meta = checked(await writer.rows(META));
    const epoch = Number(meta['epoch']);
    if (mayFence || isFree(meta)) {
      const [taken] = await writer.run(takeOver(epoch, nameOfThis(), HELD_SECONDS));
      if (taken === 1) return await openedToWrite(link, epoch + 1);
    } else {
      const holder = nameOf(String(meta['holder']));
      if (performance.now() >= until) throw locked(holder);
      waits?.(holder);
      waits = undefined;
    }
    await pause(LOOK_AGAIN_MS);
  }
}

async function openedToWrite(link: Link, epoch: number): Promise<Opened> {
  const [meta] = await link.read({ text: META });
  const version = Number(meta['version']);
  const keep = (written: number) => holdOn(epoch, written, HELD_SECONDS);
  const hold = new Hold({ link, keep, leave: letGo(epoch) }, version);
  return { epoch, incarnation: String(meta['incarnation']), version, hold, readOnly: false };
}

async function openToRead(link: Link): Promise<Opened> {
  const writer = await link.writer();
  const found = await writer.rows(META).catch((thrown: unknown) => {
    if (codeOf(thrown) === UNDEFINED_TABLE) throw nothingThere();
    throw thrown;
  });
  if (found.length === 0) throw nothingThere();
  const id = randomBytes(8).toString('hex');
  const keep = (version: number) => readFrom(id, version, HELD_SECONDS);
  // first its place, then the version: the writer takes nothing away that comes behind it
  const first = checked(found);
  await writer.run(keep(Number(first['version'])));
  const [meta] = await writer.rows(META);
  const version = Number(meta['version']);
  const hold = new Hold({ link, keep, leave: readNoMore(id) }, version);
  const { incarnation, epoch } = meta as { incarnation: string; epoch: string };
  return { epoch: Number(epoch), incarnation, version, hold, readOnly: true };
}

function checked([meta]: readonly Row[]): Row {
  const format = Number(meta['format']);
  if (format === FORMAT) return meta;
  throw new GraphsteadError(
    'STORE_FORMAT',
    `the database holds a store of format ${format}; this program knows ${FORMAT}`,
    {
      fix: 'Run the program that wrote it, or a newer one.',
    },
  );
}

/** Nobody writes: it has left, was silent for too long, or was a process of this machine that is gone. */
function isFree({ held, holder }: Row): boolean {
  if (held !== true || holder === '') return true;
  const by = namedIn(String(holder));
  // of another machine of the same name nothing is known
  return by?.lives === false && by.boot === bootOfThis();
}

function nameOf(holder: string): string {
  const by = namedIn(holder);
  return by === undefined ? 'another process' : `process ${by.pid} of ${by.host}`;
}

function locked(holder: string): GraphsteadError {
  return new GraphsteadError('STORE_LOCKED', `the database is in use by ${holder}`, {
    fix: 'Stop that one first, or name another database; it is one writer at a time.',
  });
}

function lostTables(): GraphsteadError {
  return new GraphsteadError(
    'STORE_CORRUPT',
    'the database holds only a part of a store: a table of it is gone, or its row',
    {
      fix: 'Restore graphstead_meta and graphstead_entry together, or drop what is left of them to begin anew.',
    },
  );
}

function nothingThere(): GraphsteadError {
  return new GraphsteadError('NOT_FOUND', 'the database holds no store', {
    fix: 'start a service on it once (graphstead start --store ...), or name another database',
  });
}
