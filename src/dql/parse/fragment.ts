import { GraphsteadError, type Position } from '../../base/index.js';
import type { Block, Selection } from '../syntax/index.js';
import { invalid } from './context.js';
import type { Spread } from './selection.js';

export interface Fragment {
  readonly name: string;
  readonly selections: readonly Selection[];
  readonly position: Position;
}

/** selections that fragments may grow one text into: `...a ...a` in each of 30 fragments would be a billion */
const MAX_EXPANDED = 1_000_000;

/** Puts fragments in the place of their spreads. Throws INVALID_QUERY on an unknown one or a circle. */
export class FragmentExpansion {
  readonly #fragments: ReadonlyMap<string, Fragment>;
  readonly #maxDepth: number;
  readonly #open = new Set<string>();
  #depth = 0;
  #count = 0;

  /** @param maxDepth of the expanded fields, fragments counted */
  constructor(fragments: ReadonlyMap<string, Fragment>, maxDepth: number) {
    this.#fragments = fragments;
    this.#maxDepth = maxDepth;
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
      if (++this.#count > MAX_EXPANDED) {
        throw new GraphsteadError('LIMIT_EXCEEDED', `fragments make more than ${MAX_EXPANDED} fields of this text`, {
          position: selection.position,
          fix: 'Spread fewer fragments into each other.',
        });
      }
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
    const selections = this.#expand(fragment.selections);
    this.#open.delete(name);
    return selections;
  }
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
