import type { Batch, Range } from '../contract.js';
import type { Statement } from './link.js';

// How a store lies in a database: one row for each value that a key has had, from the version that wrote it (`since`) to the one
// that ended it (`until`, null while it stands). A snapshot is a version, and needs no transaction of the database: many
// connections read it at once. Versions that nobody reads any more are taken away up to the `horizon`.
//
// Only what PostgreSQL, CockroachDB and YugabyteDB share is used.

/** raised when the tables change their meaning */
export const FORMAT = 1;

export const CREATE = `
  CREATE TABLE IF NOT EXISTS graphstead_meta (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    format integer NOT NULL,
    incarnation text NOT NULL,
    epoch bigint NOT NULL,
    version bigint NOT NULL,
    horizon bigint NOT NULL,
    holder text NOT NULL,
    held_until timestamptz NOT NULL
  );
  CREATE TABLE IF NOT EXISTS graphstead_entry (
    k bytea NOT NULL,
    since bigint NOT NULL,
    until bigint,
    v bytea NOT NULL,
    PRIMARY KEY (k, since)
  );
  CREATE INDEX IF NOT EXISTS graphstead_entry_until ON graphstead_entry (until) WHERE until IS NOT NULL;
  CREATE TABLE IF NOT EXISTS graphstead_reader (
    id text PRIMARY KEY,
    version bigint NOT NULL,
    held_until timestamptz NOT NULL
  );
`;

/** A row of a table, if it has one. */
export function anyOf(table: 'graphstead_meta' | 'graphstead_entry'): string {
  return `SELECT 1 FROM ${table} LIMIT 1`;
}

/** Nothing, where all tables are there. */
export const MADE = 'SELECT 1 FROM graphstead_meta, graphstead_entry, graphstead_reader LIMIT 0';

/** @param incarnation hexadecimal text */
export function createMeta(incarnation: string): string {
  return `INSERT INTO graphstead_meta (format, incarnation, epoch, version, horizon, holder, held_until)
    VALUES (${FORMAT}, ${quoted(incarnation)}, 0, 0, 0, '', now()) ON CONFLICT DO NOTHING`;
}

export const META = `SELECT format, incarnation, epoch, version, horizon, holder, held_until > now() AS held FROM graphstead_meta`;

/** Raises the epoch, which fences whoever wrote before; no row where somebody else has done so since. */
export function takeOver(epoch: number, holder: string, seconds: number): string {
  return `UPDATE graphstead_meta SET epoch = epoch + 1, holder = ${quoted(holder)}, held_until = ${inSeconds(seconds)}
    WHERE epoch = ${whole(epoch)}`;
}

/** No row where somebody else has taken over since, or where the database lacks the version that was written. */
export function holdOn(epoch: number, version: number, seconds: number): string {
  return `UPDATE graphstead_meta SET held_until = ${inSeconds(seconds)}
    WHERE epoch = ${whole(epoch)} AND version >= ${whole(version)} RETURNING epoch`;
}

export function letGo(epoch: number): string {
  return `UPDATE graphstead_meta SET holder = '', held_until = now() WHERE epoch = ${whole(epoch)}`;
}

/** Takes the place of a batch that may be on its way still: where this changes a row, the batch never lands. It waits for one that is under way. */
export function giveUp(version: number, epoch: number, after: number): string {
  return `UPDATE graphstead_meta SET version = ${whole(version)} WHERE epoch = ${whole(epoch)} AND version = ${whole(after)}`;
}

/** keys of a batch that are looked for: rows of them all may be gone only where another process has written them all since */
const SOUGHT = 1_000;

/** Whether something of a batch has landed. */
export function stands(batch: Batch): string {
  const version = whole(batch.version);
  const written = [...lastPuts(batch)].flatMap(([key, value]) => (value === undefined ? [] : [key]));
  const keys = written.slice(0, SOUGHT).join() || 'NULL';
  return `SELECT EXISTS (SELECT 1 FROM graphstead_entry WHERE k IN (${keys}) AND since = ${version})
    OR EXISTS (SELECT 1 FROM graphstead_entry WHERE until = ${version}) AS stands`;
}

/** What stands in a batch twice lands as it stood last. */
function lastPuts({ puts }: Batch): ReadonlyMap<string, Uint8Array | undefined> {
  return new Map(puts.map(({ key, value }) => [hex(key), value]));
}

/**
 * Between two parts of a batch the database keeps the row that all writers share for whoever sends them. Where that one stands still, or
 * its machine is gone without a word, it would for hours, and nobody could take over.
 */
const ALONE_SECONDS = 10;

/** bytes of SQL that go out at once, as far as whole rows allow */
const PART = 1024 * 1024;

/** Who writes a batch, upon which version, and for how long that one keeps its place without another word. */
interface Written {
  readonly epoch: number;
  readonly after: number;
  readonly seconds: number;
}

/** The row that all writers share takes no version of NULL: see `batchParts`. */
export const NOT_OURS = '23502';

/**
 * A batch as SQL, in parts: the first begins a transaction and takes the row that all writers share, the last one commits.
 * The first statement behind BEGIN fails with NOT_OURS where the epoch has passed, or where the version is not `after`, which
 * the batch was made for: nothing behind it is done then, though the version may be its own, as of one that was given up. Where the
 * row is gone it changes none, and nothing else does anything.
 */
export function batchParts(batch: Batch, { epoch, after, seconds }: Written): string[] {
  const version = whole(batch.version);
  const ours = `EXISTS (SELECT 1 FROM graphstead_meta WHERE epoch = ${whole(epoch)} AND version = ${version})`;
  const parts: string[] = [];
  const isOurs = `epoch = ${whole(epoch)} AND version = ${whole(after)}`;
  const row = `version = CASE WHEN ${isOurs} THEN ${version} END, held_until = ${inSeconds(seconds)}`;
  let part = `BEGIN; UPDATE graphstead_meta SET ${row};`;
  const add = (statement: string): void => {
    if (part.length + statement.length > PART) {
      if (parts.length === 0) part += `SET LOCAL idle_in_transaction_session_timeout = '${ALONE_SECONDS}s';`;
      parts.push(part);
      part = '';
    }
    part += statement;
  };
  for (const { start, end } of batch.deleteRanges ?? []) {
    add(
      `UPDATE graphstead_entry SET until = ${version} WHERE k >= ${hex(start)} AND k < ${hex(end)} AND until IS NULL AND ${ours};`,
    );
  }
  const puts = [...lastPuts(batch)];
  for (const keys of grouped(puts.map(([key]) => key))) {
    add(`UPDATE graphstead_entry SET until = ${version} WHERE k IN (${keys.join()}) AND until IS NULL AND ${ours};`);
  }
  const rows = puts.flatMap(([key, value]) => (value === undefined ? [] : [`(${key},${hex(value)})`]));
  for (const some of grouped(rows)) {
    add(
      `INSERT INTO graphstead_entry (k, since, v) SELECT k, ${version}, v FROM (VALUES ${some.join()}) AS put (k, v) WHERE ${ours};`,
    );
  }
  parts.push(`${part}COMMIT`);
  return parts;
}

/** Texts in groups of about a quarter of a part. */
function* grouped(texts: readonly string[]): Generator<readonly string[]> {
  let group: string[] = [];
  let length = 0;
  for (const text of texts) {
    group.push(text);
    length += text.length;
    if (length < PART / 4) continue;
    yield group;
    group = [];
    length = 0;
  }
  if (group.length > 0) yield group;
}

// Each read tells the horizon of its own moment: below it, rows of a version may be gone. Where the server that answers has not got as
// far as the version, there is none that it holds whole: a replica, or one that others have taken for dead.

const HORIZON = `CASE WHEN m.version < $1 THEN 'Infinity' ELSE m.horizon::float8 END AS horizon`;

const AT = '(e.until IS NULL OR e.until > $1) AND e.since <= $1';

/**
 * The values of keys, at their places; a row for every key. Each is looked up by itself, which `LIMIT` holds planners to: one that
 * knows too little of the table would read all of it.
 */
export function valuesAt(version: number, keys: readonly Uint8Array[]): Statement {
  return {
    name: 'graphstead_values',
    text: `SELECT q.i::float8 AS i, e.v, ${HORIZON}
      FROM graphstead_meta m CROSS JOIN unnest($2::bytea[]) WITH ORDINALITY AS q (k, i)
      LEFT JOIN LATERAL (SELECT e.v FROM graphstead_entry e WHERE e.k = q.k AND ${AT} LIMIT 1) e ON true`,
    values: [version, keys],
  };
}

/** Entries of a range in its order, and one row at least. */
export function entriesAt(
  version: number,
  { start, end, reverse = false, keysOnly = false }: Range,
  limit: number,
): Statement {
  const order = reverse ? 'DESC' : 'ASC';
  return {
    name: `graphstead_range_${order}${keysOnly ? '_keys' : ''}`,
    text: `SELECT r.k, ${keysOnly ? '' : 'r.v, '}${HORIZON} FROM graphstead_meta m LEFT JOIN LATERAL (
        SELECT e.k${keysOnly ? '' : ', e.v'} FROM graphstead_entry e
        WHERE e.k >= $2 AND e.k < $3 AND ${AT} ORDER BY e.k ${order} LIMIT $4
      ) r ON true ORDER BY r.k ${order}`,
    values: [version, bytes(start), bytes(end), limit],
  };
}

/**
 * Keys whose values ended after one version and up to another, one more than `most` at most, and one row at least. Where the horizon
 * is past `after`, some may be gone.
 */
export function endedBetween(after: number, upTo: number, most: number): Statement {
  return {
    name: 'graphstead_ended',
    text: `SELECT r.k, m.horizon::float8 AS horizon FROM graphstead_meta m LEFT JOIN LATERAL (
        SELECT e.k FROM graphstead_entry e WHERE e.until > $1 AND e.until <= $2 LIMIT $3
      ) r ON true`,
    values: [after, upTo, most + 1],
  };
}

/** What a writer, or a reader beside it, still needs of old versions; no row as for `holdOn`. */
export function moveHorizon(epoch: number, oldest: number): string {
  return `UPDATE graphstead_meta SET horizon = GREATEST(horizon, LEAST(${whole(oldest)}, COALESCE(
      (SELECT min(version) FROM graphstead_reader WHERE held_until > now()), ${whole(oldest)})))
    WHERE epoch = ${whole(epoch)} AND version >= ${whole(oldest)}`;
}

/** Takes away up to so many rows that ended at the horizon or before. */
export function takeAway(rows: number): string {
  return `DELETE FROM graphstead_entry WHERE (k, since) IN (
    SELECT k, since FROM graphstead_entry WHERE until <= (SELECT horizon FROM graphstead_meta) LIMIT ${whole(rows)})`;
}

/** How many rows `takeAway` has still to take, up to `most`. */
export function overdue(most: number): string {
  return `SELECT count(*)::int AS n FROM (
    SELECT 1 FROM graphstead_entry WHERE until <= (SELECT horizon FROM graphstead_meta) LIMIT ${whole(most)}) AS ended`;
}

export function readFrom(id: string, version: number, seconds: number): string {
  return `INSERT INTO graphstead_reader (id, version, held_until) VALUES (${quoted(id)}, ${whole(version)}, ${inSeconds(seconds)})
    ON CONFLICT (id) DO UPDATE SET version = excluded.version, held_until = excluded.held_until RETURNING id`;
}

export function readNoMore(id: string): string {
  return `DELETE FROM graphstead_reader WHERE id = ${quoted(id)} OR held_until < now() - interval '1 hour'`;
}

function whole(n: number): string {
  if (!Number.isSafeInteger(n)) throw new RangeError(`${n} is no version`);
  return String(n);
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

function inSeconds(seconds: number): string {
  return `now() + interval '${seconds} seconds'`;
}

/** A literal, the same whether the database takes a backslash in a text for an escape (`standard_conforming_strings`) or not. */
function hex(value: Uint8Array): string {
  return `E'\\\\x${bytes(value).toString('hex')}'::bytea`;
}

/** The library takes other arrays of bytes for lists. */
function bytes(value: Uint8Array): Buffer {
  return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
}
