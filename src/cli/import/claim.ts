import { GraphsteadError, type Names } from '../../base/index.js';
import type { GraphChange } from '../../graph/index.js';
import { type Value, valueText } from '../../values/index.js';
import { again, type Begun, type Language } from './target.js';

interface ClaimOptions {
  readonly language: Language;
  /** as it is stored */
  readonly predicate: string;
  /** a uid that nobody has, for a node that is made */
  readonly fresh: () => number;
}

/** Blocks of one query. */
const BLOCKS = 500;
/** What a transaction that another one ended, or that made room for others, is refused with: it begins again. */
const AGAIN = ['TXN_ABORTED', 'TXN_EXPIRED', 'TXN_UNKNOWN'] as const;

/**
 * The uid of the node that has each value; one that nobody has makes a node. Whoever claims the same at the same time gets
 * the same node: who looked for a value and sets it is refused where it was set since, and looks again.
 * Throws INVALID_REQUEST where several nodes have one value.
 */
export async function claimNodes(values: readonly Value[], options: ClaimOptions): Promise<readonly number[]> {
  const uids: number[] = [];
  for (let at = 0; at < values.length; at += BLOCKS) {
    uids.push(...(await again(AGAIN, () => claim(values.slice(at, at + BLOCKS), options))));
  }
  return uids;
}

async function claim(values: readonly Value[], options: ClaimOptions): Promise<readonly number[]> {
  const { language, predicate, fresh } = options;
  const { data, txn } = await language.query(lookup(values, predicate, language.names));
  try {
    const found = values.map((value, i) => only(data[`n${i}`] as readonly Found[], value, predicate));
    const made: GraphChange[] = [];
    const uids = found.map((known, i) => {
      if (known !== undefined) return known;
      const uid = fresh();
      made.push({ op: 'setValue', uid, predicate, value: values[i], lang: '' });
      return uid;
    });
    if (made.length > 0) await language.write(made, txn);
    else await forget(language, txn);
    return uids;
  } catch (error) {
    await forget(language, txn);
    throw error;
  }
}

/** What is over, or was never held, is none to give up. */
async function forget(language: Language, txn: Begun): Promise<void> {
  await language.abort(txn).catch(() => undefined);
}

function lookup(values: readonly Value[], predicate: string, names: Names): string {
  const blocks = values.map((value, i) => {
    return `n${i}(func: eq(<${names.shown(predicate)}>, ${JSON.stringify(valueText(value))}), first: 2) { uid }`;
  });
  return `{\n${blocks.join('\n')}\n}`;
}

interface Found {
  readonly uid: string;
}

function only([first, second]: readonly Found[], value: Value, predicate: string): number | undefined {
  if (second === undefined) return first === undefined ? undefined : Number(first.uid);
  const message = `${first.uid} and ${second.uid} both have the ${predicate} ${JSON.stringify(valueText(value))}`;
  throw new GraphsteadError('INVALID_REQUEST', message, { fix: 'take it from all nodes but one, then import again' });
}
