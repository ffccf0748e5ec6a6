import { closeSync, fstatSync, openSync, readSync, writeSync } from 'node:fs';
import { endianness } from 'node:os';
import { codeOf, type GraphsteadError } from '../base/index.js';
import { damaged } from './failure.js';
import { isWhole, lookUp, MOST_DEPTH, NO_PAGE, ORDER, TABLE_FLAGS, TABLE_ROOT } from './lmdb-page.js';

// A file begins with two pages about itself, of which the one of the later transaction counts (MDB_meta in LMDB's mdb.c):
//   18..19     flags of the page
//   24..31     LMDB's mark, and the version of its format
//   48..95     the table of free pages; its first four bytes: bytes of a page
//   96..143    the table of tables
//   144..159   number of the last page, number of the transaction
const HEADS = 2;
const FLAGS = 18;
const IS_HEAD = 8;
const MARK_AT = 24;
const MARK = 0xbeefc0de;
const VERSION = 2;
const PAGE_BYTES = 48;
const TABLES = [48, 96];
/** where a table's record has the depth of its tree */
const TABLE_DEPTH = 6;
/** how each of the two orders its keys */
const ORDERS = [0x08, 0];
const LAST_PAGE = 144;
const TRANSACTION = 152;
const HEAD_BYTES = 160;
const LEAST_PAGE_BYTES = 512;
const MOST_PAGE_BYTES = 65_536;

/** looks at a file that another process changes meanwhile */
const LOOKS = 100;
/** Elsewhere pages look otherwise, and LMDB's own look at them must do. */
export const hasKnownHeads = endianness() === 'LE' && !['arm', 'ia32'].includes(process.arch);

/** One of the two pages. */
interface Head {
  readonly pageSize: number;
  readonly lastPage: bigint;
  readonly transaction: bigint;
  readonly roots: readonly bigint[];
}

/**
 * Looks at what LMDB believes without a look: a head that is none, or pages behind the end of the file, end the process by
 * a signal. Answers whether there is anything in the file; throws STORE_CORRUPT. What a sound head leads to is not read
 * unless the file is shorter than its last page, which is right only where those that are missing are free.
 */
export function hasContent(path: string): boolean {
  const fd = openIt(path);
  if (fd === undefined) return false;
  try {
    if (fstatSync(fd).size === 0) return false;
    if (hasKnownHeads) assertSound(fd, path);
    return true;
  } finally {
    closeSync(fd);
  }
}

function openIt(path: string): number | undefined {
  try {
    return openSync(path, 'r');
  } catch (thrown) {
    if (codeOf(thrown) === 'ENOENT') return undefined;
    throw thrown;
  }
}

function assertSound(fd: number, path: string): void {
  for (let look = 0; look < LOOKS; look++) {
    const before = readHeads(fd);
    const flaw = flawOf(fd, before);
    if (flaw === undefined) return;
    // a writer may have changed what was being looked at
    if (sameHeads(before, readHeads(fd))) throw corrupt(path, flaw);
  }
}

type Heads = readonly (Buffer | undefined)[];

function readHeads(fd: number): Heads {
  const first = readHead(fd, 0);
  return first === undefined ? [] : [first, readHead(fd, first.readUInt32LE(PAGE_BYTES))];
}

/** The bytes of a head; undefined where they are none. */
function readHead(fd: number, at: number): Buffer | undefined {
  const bytes = Buffer.alloc(HEAD_BYTES);
  if (readSync(fd, bytes, 0, HEAD_BYTES, at) < HEAD_BYTES) return undefined;
  const isHead =
    bytes.readUInt16LE(FLAGS) === IS_HEAD &&
    bytes.readUInt32LE(MARK_AT) === MARK &&
    bytes.readUInt16LE(MARK_AT + 4) === VERSION;
  return isHead ? bytes : undefined;
}

function sameHeads(some: Heads, others: Heads): boolean {
  return some.every((one, i) => one === others[i] || (one && others[i] && one.equals(others[i])));
}

/** What is wrong with the file; undefined where nothing is. */
function flawOf(fd: number, bytes: Heads): string | undefined {
  const heads = bytes.map((one) => one && decode(one));
  const [first, second] = heads;
  if (first === undefined || second === undefined || first.pageSize !== second.pageSize) return 'its head is damaged';
  const newest = newestOf(first, second);
  const { size } = fstatSync(fd);
  const pages = Math.floor(size / newest.pageSize);
  if (newest.lastPage < pages || isWhole({ fd, pageSize: newest.pageSize, pages }, newest.roots)) return undefined;
  const whole = (Number(newest.lastPage) + 1) * newest.pageSize;
  return `it was cut short: it has ${size} bytes, and was written up to ${whole}`;
}

function newestOf(first: Head, second: Head): Head {
  return second.transaction > first.transaction ? second : first;
}

/**
 * Walks every page of the data file and looks at the keys on it: 3 ms a MB. A snapshot that is open meanwhile keeps LMDB from using
 * a page again, so a writer may go on. Throws STORE_CORRUPT where a page is missing, or is one of another moment: so is
 * many a file that was copied while it was written to.
 */
export function checkPages(path: string): void {
  const fd = openSync(path, 'r');
  try {
    if (hasKnownHeads) assertWhole(fd, path);
  } finally {
    closeSync(fd);
  }
}

function assertWhole(fd: number, path: string): void {
  for (let look = 0; look < LOOKS; look++) {
    const bytes = readHeads(fd);
    const [first, second] = bytes.map((one) => one && decode(one));
    // one of them may be half written
    if (first === undefined || second === undefined || !sameHeads(bytes, readHeads(fd))) continue;
    const { pageSize, roots } = newestOf(first, second);
    const pages = Math.floor(fstatSync(fd).size / pageSize);
    if (isWhole({ fd, pageSize, pages }, roots)) return;
    throw corrupt(path, 'pages of it are missing, or belong to another moment');
  }
}

function decode(bytes: Buffer): Head | undefined {
  const pageSize = bytes.readUInt32LE(PAGE_BYTES);
  const lastPage = bytes.readBigUInt64LE(LAST_PAGE);
  const roots = TABLES.map((table) => bytes.readBigUInt64LE(table + TABLE_ROOT));
  const isSize = pageSize >= LEAST_PAGE_BYTES && pageSize <= MOST_PAGE_BYTES && Number.isInteger(Math.log2(pageSize));
  const areTables = TABLES.every((table, i) => {
    const depth = bytes.readUInt16LE(table + TABLE_DEPTH);
    const isOrder = (bytes.readUInt16LE(table + TABLE_FLAGS) & ORDER) === ORDERS[i];
    const isRoot = depth === 0 ? roots[i] === NO_PAGE : roots[i] >= HEADS && roots[i] <= lastPage;
    return isOrder && isRoot && depth <= MOST_DEPTH;
  });
  if (!isSize || !areTables || lastPage < HEADS - 1) return undefined;
  return { pageSize, lastPage, transaction: bytes.readBigUInt64LE(TRANSACTION), roots };
}

/** The bytes of the head that counts; undefined where one of the two is none. */
export function newestHead(fd: number): Buffer | undefined {
  const bytes = readHeads(fd);
  const [first, second] = bytes.map((one) => one && decode(one));
  if (first === undefined || second === undefined) return undefined;
  return newestOf(first, second) === first ? bytes[0] : bytes[1];
}

/** The number of the transaction that a head is of. */
export function transactionOf(head: Buffer): bigint {
  return head.readBigUInt64LE(TRANSACTION);
}

/** A value that a file holds in a table, as of a head; undefined where it, or the way to it, is not there. */
export function valueUnder(fd: number, head: Buffer, table: string, key: string): Buffer | undefined {
  const found = decode(head);
  if (found === undefined) return undefined;
  const { pageSize, roots } = found;
  const file = { fd, pageSize, pages: Math.floor(fstatSync(fd).size / pageSize) };
  const record = lookUp(file, roots[1], Buffer.from(`${table}\0`)); // the names of tables end as those of C do
  if (record === undefined || record.length < TABLE_ROOT + 8) return undefined;
  return lookUp(file, record.readBigUInt64LE(TABLE_ROOT), Buffer.from(key));
}

/**
 * Makes a head the one that counts again, whatever both are now: as LMDB would, each transaction has its page, and the other one is
 * that of the transaction before, with the same content.
 */
export function putHeadBack(fd: number, head: Buffer): void {
  const transaction = transactionOf(head);
  for (const number of [transaction, transaction - 1n]) {
    const page = number & 1n;
    const bytes = Buffer.from(head);
    bytes.writeBigUInt64LE(page, 0);
    bytes.writeBigUInt64LE(number, TRANSACTION);
    writeSync(fd, bytes, 0, bytes.length, Number(page) * head.readUInt32LE(PAGE_BYTES));
  }
}

/** STORE_CORRUPT, for a file that cannot be opened. */
export function corrupt(path: string, flaw: string): GraphsteadError {
  return damaged(`the data file ${path} cannot be read: ${flaw}`);
}
