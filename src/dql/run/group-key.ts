import { GraphsteadError, type Position, STEP, type Steps } from '../../base/index.js';
import type { Predicate, StoredColumn, UidList } from '../../graph/index.js';
import { decodeValue } from '../../values/index.js';
import type { ResultGroup } from '../contract.js';
import type { GroupBy } from '../syntax/index.js';
import { readColumn } from './batch.js';
import type { Execution } from './execution.js';
import { chooseValues } from './language.js';

/** What stands for one group: a value or a node for each key. */
export type GroupKeys = ResultGroup['keys'];

/** Which groups each uid belongs to; groups go by number. */
export interface Grouping {
  /** what each number stands for */
  readonly keys: readonly GroupKeys[];
  /** numbers of all uids, one uid after the other: those of the uid at i begin at starts[i] and end at starts[i + 1] */
  readonly numbers: Uint32Array;
  readonly starts: Uint32Array;
}

/** The groups that one key makes of the uids: none for who lacks it, several for who has several edges. */
export async function readGrouping(
  key: GroupBy['keys'][number],
  uids: UidList,
  execution: Execution,
): Promise<Steps<Grouping>> {
  await execution.checkpoint();
  // no predicate, and yet a key: each node is a group of its own
  if (key.name === 'uid' && !key.reverse) return byNode(Array.from(uids, (uid) => Float64Array.of(uid)));
  execution.countUids(key.reverse ? `~${key.name}` : key.name, uids.length);
  const predicate = execution.predicate(key.name);
  if (!predicate) return byNode(Array.from(uids, () => new Float64Array(0)));
  if (predicate.type === 'uid') {
    const rows = await readColumn(uids, execution, async (batch) => {
      const matrix = await execution.reader.edges(predicate, batch, { reverse: key.reverse });
      return matrix.rows;
    });
    return byNode(rows);
  }
  if (predicate.list) {
    throw new GraphsteadError('INVALID_QUERY', `cannot group by ${key.name}: it holds lists of values`, {
      position: key.position,
      fix: 'Group by predicates with one value, or by edges.',
    });
  }
  const values = await groupedValues(predicate, uids, key, execution);
  return byValue(values);
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
  const keys: GroupKeys[] = [];
  for (let i = 0, at = 0; i < rows.length; i++) {
    if (i % STEP === 0) yield;
    for (const uid of rows[i]) {
      let number = numberOf.get(uid);
      if (number === undefined) {
        number = keys.push([{ type: 'uid', value: uid }]) - 1;
        numberOf.set(uid, number);
      }
      numbers[at++] = number;
    }
  }
  return { keys, numbers, starts };
}

function* byValue(values: StoredColumn): Steps<Grouping> {
  const starts = new Uint32Array(values.length + 1);
  const numbers = new Uint32Array(values.length);
  const numberOf = new Map<string, number>();
  const keys: GroupKeys[] = [];
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
        number = keys.push([decodeValue(values.bytes.subarray(values.start, values.end))]) - 1;
        numberOf.set(name, number);
      }
      numbers[filled++] = number;
    }
    starts[i + 1] = filled;
  }
  return { keys, numbers: numbers.subarray(0, filled), starts };
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Groups by two keys together: each group of the one with each of the other that the same uid belongs to. */
export function* both(a: Grouping, b: Grouping): Steps<Grouping> {
  const count = a.starts.length - 1;
  const starts = new Uint32Array(count + 1);
  for (let i = 0; i < count; i++) {
    starts[i + 1] = starts[i] + (a.starts[i + 1] - a.starts[i]) * (b.starts[i + 1] - b.starts[i]);
  }
  const numbers = new Uint32Array(starts[count]);
  const numberOf = new Map<number, number>();
  const keys: GroupKeys[] = [];
  let filled = 0;
  for (let i = 0; i < count; i++) {
    if (i % STEP === 0) yield;
    for (let x = a.starts[i]; x < a.starts[i + 1]; x++) {
      for (let y = b.starts[i]; y < b.starts[i + 1]; y++) {
        const pair = a.numbers[x] * b.keys.length + b.numbers[y];
        let number = numberOf.get(pair);
        if (number === undefined) {
          number = keys.push([...a.keys[a.numbers[x]], ...b.keys[b.numbers[y]]]) - 1;
          numberOf.set(pair, number);
        }
        numbers[filled++] = number;
      }
    }
  }
  return { keys, numbers, starts };
}
