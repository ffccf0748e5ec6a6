import { assert, GraphsteadError, inSteps, type Position, STEP, type Steps } from '../../base/index.js';
import type { Predicate, StoredColumn, UidList } from '../../graph/index.js';
import { decodeValue } from '../../values/index.js';
import type { ResultGroup } from '../contract.js';
import type { GroupBy } from '../syntax/index.js';
import { readColumn } from './batch.js';
import type { Execution } from './execution.js';
import { chooseValues } from './language.js';
import { pairOrder } from './number-order.js';
import { storedColumn } from './sort-column.js';
import { sortPlaces } from './sort-many.js';

/** What stands for one group: a value or a node for each key. */
export type GroupKeys = ResultGroup['keys'];

/** Which groups each uid belongs to; groups go by number. */
export interface Grouping {
  /** how many groups there are */
  readonly size: number;
  /** What a number stands for: made when it is asked for, since there may be millions. */
  keysOf(group: number): GroupKeys;
  /** numbers in whose order the keys of all groups stand */
  readonly ranks: Float64Array;
  /** numbers of all uids, one uid after the other: those of the uid at i begin at starts[i] and end at starts[i + 1] */
  readonly numbers: Uint32Array;
  readonly starts: Uint32Array;
}

/** The groups that one key makes of the uids: none for who lacks it, several for who has several edges. */
export async function readGrouping(
  key: GroupBy['keys'][number],
  uids: UidList,
  execution: Execution,
): Promise<Grouping> {
  const pause = () => execution.checkpoint();
  await pause();
  // no predicate, and yet a key: each node is a group of its own
  if (key.name === 'uid' && !key.reverse) {
    return await inSteps(byNode(Array.from(uids, (uid) => Float64Array.of(uid))), pause);
  }
  execution.countUids(key.reverse ? `~${key.name}` : key.name, uids.length);
  const predicate = execution.predicate(key.name);
  if (!predicate) return await inSteps(byNode(Array.from(uids, () => new Float64Array(0))), pause);
  if (predicate.type === 'uid') {
    const rows = await readColumn(uids, execution, async (batch) => {
      const matrix = await execution.reader.edges(predicate, batch, { reverse: key.reverse });
      return matrix.rows;
    });
    return await inSteps(byNode(rows), pause);
  }
  if (predicate.list) {
    throw new GraphsteadError('INVALID_QUERY', `cannot group by ${key.name}: it holds lists of values`, {
      position: key.position,
      fix: 'Group by predicates with one value, or by edges.',
    });
  }
  const values = await groupedValues(predicate, uids, key, execution);
  return await ranked(values, await inSteps(byValue(values), pause), execution);
}

/** The values that groups are made of, or aggregated from: both are shown. Throws INVALID_QUERY for passwords, which never are. */
export async function groupedValues(
  predicate: Predicate,
  uids: UidList,
  { langs, position }: { readonly langs: readonly string[]; readonly position: Position },
  execution: Execution,
): Promise<StoredColumn> {
  if (predicate.type === 'password') {
    throw new GraphsteadError('INVALID_QUERY', `${predicate.name} is a password: no group shows it`, {
      position,
      fix: 'Use checkpwd.',
    });
  }
  return (await chooseValues(execution, predicate, uids, langs)).values;
}

function* byNode(rows: readonly UidList[]): Steps<Grouping> {
  const starts = new Uint32Array(rows.length + 1);
  for (let i = 0; i < rows.length; i++) starts[i + 1] = starts[i] + rows[i].length;
  const numbers = new Uint32Array(starts[rows.length]);
  const numberOf = new Map<number, number>();
  const nodes: number[] = [];
  for (let i = 0, at = 0; i < rows.length; i++) {
    if (i % STEP === 0) yield;
    for (const uid of rows[i]) {
      let number = numberOf.get(uid);
      if (number === undefined) {
        number = nodes.push(uid) - 1;
        numberOf.set(uid, number);
      }
      numbers[at++] = number;
    }
  }
  const keysOf = (group: number): GroupKeys => [{ type: 'uid', value: nodes[group] }];
  return { size: nodes.length, keysOf, ranks: Float64Array.from(nodes), numbers, starts };
}

/** Groups of equal values, before it is known in which order they stand. */
interface ValueGroups extends Pick<Grouping, 'numbers' | 'starts'> {
  /** for each group where in the column its value stands */
  readonly places: readonly number[];
}

async function ranked(
  values: StoredColumn,
  { places, numbers, starts }: ValueGroups,
  execution: Execution,
): Promise<Grouping> {
  const order = await sortPlaces(storedColumn(values, false), Uint32Array.from(places), execution);
  await execution.checkpoint();
  const rankAt = new Uint32Array(values.length);
  for (let rank = 0; rank < order.length; rank++) rankAt[order[rank]] = rank;
  const keysOf = (group: number): GroupKeys => {
    const bytes = values.at(places[group]);
    assert(bytes, 'a group of values has one');
    return [decodeValue(bytes)];
  };
  return { size: places.length, keysOf, ranks: Float64Array.from(places, (place) => rankAt[place]), numbers, starts };
}

function* byValue(values: StoredColumn): Steps<ValueGroups> {
  const starts = new Uint32Array(values.length + 1);
  const numbers = new Uint32Array(values.length);
  const numberOf = new Map<string, number>();
  const places: number[] = [];
  let filled = 0;
  // values lie in few parts, each of which is made a Buffer once
  let part = { bytes: values.bytes, buffer: bufferOf(values.bytes) };
  for (let i = 0; i < values.length; i++) {
    if (i % STEP === 0) yield;
    if (values.seek(i)) {
      if (values.bytes !== part.bytes) part = { bytes: values.bytes, buffer: bufferOf(values.bytes) };
      const name = part.buffer.toString('latin1', values.start, values.end);
      let number = numberOf.get(name);
      if (number === undefined) {
        number = places.push(i) - 1;
        numberOf.set(name, number);
      }
      numbers[filled++] = number;
    }
    starts[i + 1] = filled;
  }
  return { places, numbers: numbers.subarray(0, filled), starts };
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Groups by two keys together: each group of the one with each of the other that the same uid belongs to. */
export async function both(a: Grouping, b: Grouping, execution: Execution): Promise<Grouping> {
  const pause = () => execution.checkpoint();
  const { first, second, numbers, starts } = await inSteps(pairs(a, b), pause);
  const ofFirst = Float64Array.from(first, (group) => a.ranks[group]);
  const ofSecond = Float64Array.from(second, (group) => b.ranks[group]);
  const order = await pairOrder(ofFirst, ofSecond, pause);
  const ranks = new Float64Array(order.length);
  for (let rank = 0; rank < order.length; rank++) ranks[order[rank]] = rank;
  const keysOf = (group: number): GroupKeys => [...a.keysOf(first[group]), ...b.keysOf(second[group])];
  return { size: first.length, keysOf, ranks, numbers, starts };
}

/** Groups that are a pair of two each. */
interface PairGroups extends Pick<Grouping, 'numbers' | 'starts'> {
  readonly first: readonly number[];
  readonly second: readonly number[];
}

function* pairs(a: Grouping, b: Grouping): Steps<PairGroups> {
  const count = a.starts.length - 1;
  const starts = new Uint32Array(count + 1);
  for (let i = 0; i < count; i++) {
    starts[i + 1] = starts[i] + (a.starts[i + 1] - a.starts[i]) * (b.starts[i + 1] - b.starts[i]);
  }
  const numbers = new Uint32Array(starts[count]);
  const numberOf = new Map<number, number>();
  const first: number[] = [];
  const second: number[] = [];
  let filled = 0;
  for (let i = 0; i < count; i++) {
    if (i % STEP === 0) yield;
    for (let x = a.starts[i]; x < a.starts[i + 1]; x++) {
      for (let y = b.starts[i]; y < b.starts[i + 1]; y++) {
        const pair = a.numbers[x] * b.size + b.numbers[y];
        let number = numberOf.get(pair);
        if (number === undefined) {
          number = first.push(a.numbers[x]) - 1;
          second.push(b.numbers[y]);
          numberOf.set(pair, number);
        }
        numbers[filled++] = number;
      }
    }
  }
  return { first, second, numbers, starts };
}
