import { addTo, forEachInSteps, inSteps, STEP, type Steps, TYPE_PREDICATE } from '../../../base/index.js';
import { type Block, Pace, placeOf, type ResultNode } from '../../../dql/index.js';
import type { GraphReader } from '../../../graph/index.js';
import { decodeValue, valueText } from '../../../values/index.js';
import { runBlocks } from '../query.js';
import type { Request } from '../request.js';
import { block, call, literal, ofUids, plainName, select } from '../syntax.js';
import { valueAt } from '../write.js';
import { type XidValue, xidKey } from './input.js';

/** A node that is there already. */
export interface Existing {
  readonly uid: number;
  /** stored type names */
  readonly types: readonly string[];
}

/** What a mutation refers to, read at its snapshot. */
export interface Known {
  /** by `xidKey`; one value may name nodes of several types */
  readonly byXid: ReadonlyMap<string, readonly Existing[]>;
  readonly byUid: ReadonlyMap<number, Existing>;
}

/** Reads every @id value and every uid that a mutation names, in one plan. */
export async function lookUp(
  request: Request,
  reader: GraphReader,
  xids: readonly XidValue[],
  uids: readonly number[],
): Promise<Known> {
  const pace = new Pace(request.run);
  const byPredicate = new Map<string, Map<string, XidValue>>();
  const sorting = forEachInSteps(xids, (xid) => {
    const values = byPredicate.get(xid.predicate) ?? new Map<string, XidValue>();
    values.set(xid.text, xid);
    byPredicate.set(xid.predicate, values);
  });
  await inSteps(sorting, () => pace.pause());
  const types = select(plainName(TYPE_PREDICATE));
  const blocks: Block[] = [];
  for (const [predicate, values] of byPredicate) {
    const name = plainName(predicate);
    const args = [...values.values()].map((xid) => literal(argumentOf(xid)));
    blocks.push(block({ name: `x${blocks.length}`, root: call('eq', name, args), children: [types, select(name)] }));
  }
  if (uids.length > 0) {
    const distinct = [...new Set(uids)].sort((a, b) => a - b);
    blocks.push(block({ name: 'uids', root: ofUids(distinct), children: [types] }));
  }
  const byXid = new Map<string, Existing[]>();
  const byUid = new Map<number, Existing>();
  if (blocks.length === 0) return { byXid, byUid };
  const { roots } = await runBlocks(request, blocks, reader);
  for (const [i, predicate] of [...byPredicate.keys()].entries()) {
    await inSteps(noteXids(roots[i], predicate, byXid), () => pace.pause());
  }
  if (uids.length > 0) for (const existing of nodesOf(roots[roots.length - 1])) byUid.set(existing.uid, existing);
  return { byXid, byUid };
}

/** Numbers go as numbers: the text of an Int @id is its decimal form. */
function argumentOf(xid: XidValue): string | bigint {
  const { name } = xid.field.type;
  return name === 'Int' || name === 'Int64' ? BigInt(xid.text) : xid.text;
}

function* noteXids(root: ResultNode, predicate: string, byXid: Map<string, Existing[]>): Steps<void> {
  let count = 0;
  for (const existing of nodesOf(root)) {
    if (++count % STEP === 0) yield;
    const bytes = valueAt(root.children[1], existing.uid);
    if (!bytes) continue;
    const key = xidKey({ predicate, text: valueText(decodeValue(bytes)) } as XidValue);
    addTo(byXid, key, existing);
  }
}

function* nodesOf(root: ResultNode): Generator<Existing> {
  const column = root.children[0];
  for (const uid of root.rows?.[0] ?? []) {
    const at = placeOf(column.source, uid);
    const stored = at === -1 ? [] : (column.valueLists?.[at] ?? []);
    yield { uid, types: stored.map((bytes) => valueText(decodeValue(bytes))) };
  }
}
