import { GraphsteadError, type Limits, type Position } from '../../base/index.js';
import type { Block, Selection } from '../syntax/index.js';
import { invalid } from './invalid.js';
import type { Spread } from './selection.js';

/**
 * Puts fragments in the place of their spreads: `...a ...a` in each of 30 fragments would make a billion fields.
 * Throws INVALID_QUERY on an unknown one or a circle, LIMIT_EXCEEDED past limits.queryFields or twice limits.nestingDepth.
 */
export class FragmentExpansion {
  readonly #fragments: ReadonlyMap<string, readonly Selection[]>;
  readonly #maxDepth: number;
  readonly #maxFields: number;
  readonly #open = new Set<string>();
  #depth = 0;
  #count = 0;

  constructor(fragments: ReadonlyMap<string, readonly Selection[]>, { nestingDepth, queryFields }: Limits) {
    this.#fragments = fragments;
    // fragments count as levels of their own
    this.#maxDepth = nestingDepth * 2;
    this.#maxFields = queryFields;
  }

  block(block: Block): Block {
    return { ...block, children: this.#expand(block.children) };
  }

  /** Each spread gets nodes of its own: what runs a query may tell nodes apart by identity. */
  #expand(selections: readonly Selection[]): readonly Selection[] {
    const [first] = selections;
    if (first && ++this.#depth > this.#maxDepth) {
      throw new GraphsteadError('LIMIT_EXCEEDED', `fields nest deeper than ${this.#maxDepth} (limit nestingDepth)`, {
        position: first.position,
        fix: 'Flatten them, or raise limits.nestingDepth.',
      });
    }
    const out: Selection[] = [];
    for (const selection of selections as readonly (Selection | Spread)[]) {
      if (++this.#count > this.#maxFields) throw tooManyFields(this.#maxFields, selection.position);
      if (selection.kind === 'spread') for (const inner of this.#fragment(selection)) out.push(inner);
      else if ('children' in selection) out.push({ ...selection, children: this.#expand(selection.children) });
      else out.push({ ...selection });
    }
    if (first) this.#depth--;
    return withOneUid(out);
  }

  #fragment({ name, position }: Spread): readonly Selection[] {
    const fragment = this.#fragments.get(name);
    if (fragment === undefined) {
      throw invalid(`the fragment ${name} is not defined`, position, `Add: fragment ${name} { ... }.`);
    }
    if (this.#open.has(name)) {
      const open = [...this.#open];
      const circle = [...open.slice(open.indexOf(name)), name].join(' -> ');
      throw invalid(`fragments spread each other in a circle: ${circle}`, position, 'Break the circle.');
    }
    this.#open.add(name);
    const selections = this.#expand(fragment);
    this.#open.delete(name);
    return selections;
  }
}

function tooManyFields(limit: number, position: Position): GraphsteadError {
  const message = `the text asks for more than ${limit} fields, fragments put in their places (limit queryFields)`;
  return new GraphsteadError('LIMIT_EXCEEDED', message, {
    position,
    fix: 'Spread fewer fragments into each other, split it into several requests, or raise limits.queryFields.',
  });
}

/** `uid` once in each block: a fragment brings its own, and a key of the answer stands once. */
function withOneUid(selections: readonly Selection[]): readonly Selection[] {
  let plain = false;
  return selections.filter((selection) => {
    if (selection.kind !== 'uid' || selection.alias !== undefined || selection.variable !== undefined) return true;
    const repeated = plain;
    plain = true;
    return !repeated;
  });
}
