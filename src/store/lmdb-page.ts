import { readSync } from 'node:fs';

// How LMDB lays out a page (MDB_page, MDB_node, MDB_db in its mdb.c, on a machine of 64 bits with its low byte first):
//    0..7    number of the page
//   18..19   flags: what kind of page it is
//   20..21   on a branch or a leaf: bytes of the list of its nodes; on an overflow page, in four bytes: its pages
//   24..     that list, two bytes a node: where each stands, from here
// A node: two numbers of two bytes, flags, bytes of its key, the key, then what it holds.
const KIND = 18;
const BRANCH = 1;
const LEAF = 2;
const OVERFLOW = 4;
const LIST = 24;
const NODE_HEADER = 8;
// What a node of a leaf holds instead of a value: the number of an overflow page, or a table of its own.
const IS_LARGE = 1;
const IS_TABLE = 2;
/** where a table's record has its flags, and the number of its root */
export const TABLE_FLAGS = 4;
export const TABLE_ROOT = 40;
/** from a root to a leaf */
export const MOST_DEPTH = 32;
/** flags that say how a table orders and repeats its keys; none: by their bytes, each once */
export const ORDER = 0x7e;
/** the root of a table without entries */
export const NO_PAGE = 2n ** 64n - 1n;

/** A file of pages, of which so many are there whole. */
interface PageFile {
  readonly fd: number;
  readonly pageSize: number;
  readonly pages: number;
}

/** A page that leads on, and between which keys those on it must stand. */
interface Link {
  readonly page: bigint;
  /** false in a table whose keys are numbers of the machine */
  readonly byBytes: boolean;
  /** the least that a key may be; undefined: any */
  readonly from?: Buffer;
  /** what a key must stay below */
  readonly to?: Buffer;
}

/**
 * Whether each page that can be reached from a root is there, says of itself what it is, and holds keys that belong there in
 * their order: a page of another moment holds others.
 * @param roots of the table of free pages, whose keys are numbers, and of the table of tables
 */
export function isWhole(file: PageFile, [free, tables]: readonly bigint[]): boolean {
  const links = [
    { page: free, byBytes: false },
    { page: tables, byBytes: true },
  ];
  const open: Link[] = links.filter(({ page }) => page !== NO_PAGE);
  for (let link = open.pop(); link !== undefined; link = open.pop()) {
    const page = readPage(file, link.page);
    const found = page && linksOf(page, file, link);
    if (found === undefined) return false;
    for (const one of found) open.push(one);
  }
  return true;
}

function readPage({ fd, pageSize, pages }: PageFile, number: bigint): Buffer | undefined {
  if (number >= pages) return undefined;
  const page = Buffer.alloc(pageSize);
  readSync(fd, page, 0, pageSize, Number(number) * pageSize);
  return page.readBigUInt64LE(0) === number ? page : undefined;
}

/** Pages that a branch or a leaf leads to, those of its large values seen to; undefined where it is neither, or something is wrong. */
function linksOf(page: Buffer, file: PageFile, link: Link): readonly Link[] | undefined {
  const kind = page.readUInt16LE(KIND) & (BRANCH | LEAF | OVERFLOW);
  if (kind !== BRANCH && kind !== LEAF) return undefined;
  const nodes = nodesOf(page);
  // the first key of a branch is not kept
  const keys = nodes?.map((node, i) => (kind === BRANCH && i === 0 ? undefined : keyAt(page, node)));
  if (nodes === undefined || keys === undefined || (link.byBytes && !areInOrder(keys, link))) return undefined;
  if (kind === LEAF) return tablesOf(page, nodes, file);
  return nodes.map((node, i) => ({
    page: BigInt(page.readUIntLE(node, 6)),
    byBytes: link.byBytes,
    from: keys[i] ?? link.from,
    to: keys[i + 1] ?? link.to,
  }));
}

/** The value of a key in the table that begins at a page, where it is a short one; undefined where there is no sound way to it. */
export function lookUp(file: PageFile, root: bigint, key: Buffer): Buffer | undefined {
  let number = root;
  for (let depth = 0; depth < MOST_DEPTH; depth++) {
    const page = readPage(file, number);
    const nodes = page && nodesOf(page);
    if (page === undefined || nodes === undefined || nodes.length === 0) return undefined;
    if (page.readUInt16LE(KIND) & LEAF) return valueIn(page, nodes, key);
    const next = nodes.findLastIndex((node, i) => i === 0 || keyAt(page, node).compare(key) <= 0);
    number = BigInt(page.readUIntLE(nodes[next], 6));
  }
  return undefined;
}

function valueIn(page: Buffer, nodes: readonly number[], key: Buffer): Buffer | undefined {
  const node = nodes.find((one) => keyAt(page, one).equals(key));
  if (node === undefined || page.readUInt16LE(node + 4) & IS_LARGE) return undefined;
  const from = valueAt(page, node);
  return page.subarray(from, from + page.readUInt16LE(node) + page.readUInt16LE(node + 2) * 2 ** 16);
}

/** Where each node of a page stands; undefined where one stands behind its end. */
function nodesOf(page: Buffer): readonly number[] | undefined {
  const end = LIST + page.readUInt16LE(KIND + 2);
  if (end > page.length) return undefined;
  const nodes: number[] = [];
  for (let at = LIST; at < end; at += 2) {
    const node = LIST + page.readUInt16LE(at);
    if (node + NODE_HEADER > page.length || valueAt(page, node) > page.length) return undefined;
    nodes.push(node);
  }
  return nodes;
}

function valueAt(page: Buffer, node: number): number {
  return node + NODE_HEADER + page.readUInt16LE(node + 6);
}

function keyAt(page: Buffer, node: number): Buffer {
  return page.subarray(node + NODE_HEADER, valueAt(page, node));
}

function areInOrder(keys: readonly (Buffer | undefined)[], { from, to }: Link): boolean {
  let last: Buffer | undefined;
  for (const key of keys) {
    if (key === undefined) continue;
    if (last ? last.compare(key) >= 0 : from && from.compare(key) > 0) return false;
    last = key;
  }
  return last === undefined || to === undefined || last.compare(to) < 0;
}

/** The tables on a leaf; undefined where a large value is not there. */
function tablesOf(page: Buffer, nodes: readonly number[], file: PageFile): readonly Link[] | undefined {
  const links: Link[] = [];
  for (const node of nodes) {
    const held = valueAt(page, node);
    const flags = page.readUInt16LE(node + 4);
    if (flags & IS_LARGE && !(held + 8 <= page.length && hasOverflow(file, page.readBigUInt64LE(held))))
      return undefined;
    if (!(flags & IS_TABLE)) continue;
    if (held + TABLE_ROOT + 8 > page.length) return undefined;
    const root = page.readBigUInt64LE(held + TABLE_ROOT);
    if (root !== NO_PAGE) links.push({ page: root, byBytes: (page.readUInt16LE(held + TABLE_FLAGS) & ORDER) === 0 });
  }
  return links;
}

function hasOverflow(file: PageFile, number: bigint): boolean {
  const page = readPage(file, number);
  if (page === undefined || (page.readUInt16LE(KIND) & OVERFLOW) === 0) return false;
  return Number(number) + page.readUInt32LE(KIND + 2) <= file.pages;
}
