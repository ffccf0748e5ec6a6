import { forEachInSteps, type Steps } from '../../base/index.js';
import type { Schema } from '../../graph/index.js';
import { type Value, valueText } from '../../values/index.js';
import type { MutationBlock, Triple } from '../syntax/index.js';

/** Blocks in which the numbers that JSON lists under a predicate of vectors are the one value that they are meant as. */
export function* withVectors(blocks: readonly MutationBlock[], schema: Schema): Steps<readonly MutationBlock[]> {
  const vectors = new Set(schema.predicates.filter(({ type }) => type === 'float32vector').map(({ name }) => name));
  if (vectors.size === 0) return blocks;
  const joined: MutationBlock[] = [];
  for (const block of blocks) {
    joined.push({ ...block, set: yield* join(block.set, vectors), delete: yield* join(block.delete, vectors) });
  }
  return joined;
}

function* join(triples: readonly Triple[], vectors: ReadonlySet<string>): Steps<readonly Triple[]> {
  const out: Triple[] = [];
  let list: { readonly of: Triple; readonly numbers: string[] } | undefined;
  const end = (): void => {
    if (list !== undefined) out.push({ ...list.of, object: textOf(list.numbers) });
    list = undefined;
  };
  yield* forEachInSteps(triples, (triple) => {
    const number = vectors.has(triple.predicate) ? listedNumber(triple) : undefined;
    // the triples of one list follow each other, and have one object for their subject
    if (number === undefined || list?.of.subject !== triple.subject || list.of.predicate !== triple.predicate) end();
    if (number === undefined) out.push(triple);
    else if (list === undefined) list = { of: triple, numbers: [number] };
    else list.numbers.push(number);
  });
  end();
  return out;
}

function listedNumber({ listed, object }: Triple): string | undefined {
  if (!listed || object.kind !== 'literal') return undefined;
  const { type } = object.value;
  return type === 'int' || type === 'float' ? valueText(object.value) : undefined;
}

function textOf(numbers: readonly string[]): Triple['object'] {
  const value: Value = { type: 'string', value: `[${numbers.join(', ')}]` };
  return { kind: 'literal', value, lang: '' };
}
