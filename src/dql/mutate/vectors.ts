import { STEP, type Steps } from '../../base/index.js';
import type { Schema } from '../../graph/index.js';
import { type Value, valueText } from '../../values/index.js';
import type { MutationBlock, Triple } from '../syntax/index.js';

/** Blocks in which the numbers that JSON lists under a predicate of vectors are the one value that they are meant as. */
export function* withVectors(blocks: readonly MutationBlock[], schema: Schema): Steps<readonly MutationBlock[]> {
  const joined: MutationBlock[] = [];
  for (const block of blocks) {
    joined.push({ ...block, set: yield* join(block.set, schema), delete: yield* join(block.delete, schema) });
  }
  return joined;
}

function* join(triples: readonly Triple[], schema: Schema): Steps<readonly Triple[]> {
  const first = yield* firstOf(triples, schema);
  if (first < 0) return triples;
  const out: Triple[] = triples.slice(0, first);
  let list: { readonly of: Triple; readonly numbers: string[] } | undefined;
  const end = (): void => {
    if (list !== undefined) out.push({ ...list.of, object: textOf(list.numbers) });
    list = undefined;
  };
  for (let i = first; i < triples.length; i++) {
    if (i % STEP === STEP - 1) yield;
    const triple = triples[i];
    const number = listedNumber(triple, schema);
    // the triples of one list follow each other, and have one object for their subject
    if (number === undefined || list?.of.subject !== triple.subject || list.of.predicate !== triple.predicate) end();
    if (number === undefined) out.push(triple);
    else if (list === undefined) list = { of: triple, numbers: [number] };
    else list.numbers.push(number);
  }
  end();
  return out;
}

/** Where the first of such numbers stands; -1 where none does, as in most mutations. */
function* firstOf(triples: readonly Triple[], schema: Schema): Steps<number> {
  for (let i = 0; i < triples.length; i++) {
    if (i % STEP === STEP - 1) yield;
    if (listedNumber(triples[i], schema) !== undefined) return i;
  }
  return -1;
}

function listedNumber({ listed, object, predicate }: Triple, schema: Schema): string | undefined {
  if (!listed || object.kind !== 'literal') return undefined;
  const { type } = object.value;
  if (type !== 'int' && type !== 'float') return undefined;
  return schema.predicate(predicate)?.type === 'float32vector' ? valueText(object.value) : undefined;
}

function textOf(numbers: readonly string[]): Triple['object'] {
  const value: Value = { type: 'string', value: `[${numbers.join(', ')}]` };
  return { kind: 'literal', value, lang: '' };
}
