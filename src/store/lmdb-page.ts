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
/** where a table's record has the number of its root */
export const TABLE_ROOT = 40;
/** the root of a table without entries */
export const NO_PAGE = 2n ** 64n - 1n;

/** A file of pages, of which so many are there whole. */
interface PageFile {
  readonly fd: number;
  readonly pageSize: number;
  readonly pages: number;
}

/** Whether each page that can be reached from a root is there, and says of itself what it is. */
export function isWhole(file: PageFile, roots: readonly bigint[]): boolean {
  const open = roots.filter((root) => root !== NO_PAGE);
  for (let root = open.pop(); root !== undefined; root = open.pop()) {
    const page = readPage(file, root);
    const found = page && linksOf(page, file);
    if (found === undefined) return false;
    for (const link of found) open.push(link);
  }
  return true;
}

function readPage({ fd, pageSize, pages }: PageFile, number: bigint): Buffer | undefined {
  if (number >= pages) return undefined;
  const page = Buffer.alloc(pageSize);
  readSync(fd, page, 0, pageSize, Number(number) * pageSize);
  return page.readBigUInt64LE(0) === number ? page : undefined;
}

/** Pages that a branch or a leaf leads to, those of its large values seen to; undefined where it is neither, or one is missing. */
function linksOf(page: Buffer, file: PageFile): bigint[] | undefined {
  const kind = page.readUInt16LE(KIND) & (BRANCH | LEAF | OVERFLOW);
  const end = LIST + page.readUInt16LE(KIND + 2);
  if ((kind !== BRANCH && kind !== LEAF) || end > page.length) return undefined;
  const links: bigint[] = [];
  for (let at = LIST; at < end; at += 2) {
    const node = LIST + page.readUInt16LE(at);
    if (node + NODE_HEADER > page.length) return undefined;
    if (kind === BRANCH) {
      links.push(BigInt(page.readUIntLE(node, 6)));
      continue;
    }
    const held = node + NODE_HEADER + page.readUInt16LE(node + 6);
    const flags = page.readUInt16LE(node + 4);
    if (flags & IS_LARGE && !(held + 8 <= page.length && hasOverflow(file, page.readBigUInt64LE(held))))
      return undefined;
    if (!(flags & IS_TABLE)) continue;
    if (held + TABLE_ROOT + 8 > page.length) return undefined;
    const root = page.readBigUInt64LE(held + TABLE_ROOT);
    if (root !== NO_PAGE) links.push(root);
  }
  return links;
}

function hasOverflow(file: PageFile, number: bigint): boolean {
  const page = readPage(file, number);
  if (page === undefined || (page.readUInt16LE(KIND) & OVERFLOW) === 0) return false;
  return Number(number) + page.readUInt32LE(KIND + 2) <= file.pages;
}
