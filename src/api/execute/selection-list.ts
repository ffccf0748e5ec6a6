import { assert } from '../../base/index.js';
import type { Selection } from '../../dql/index.js';
import type { Field } from '../../sdl/index.js';
import { select, storedName } from './syntax.js';

/** Selections of one level, each once, with the place of its column. */
export class SelectionList {
  readonly selections: Selection[] = [];
  readonly #slots = new Map<string, number>();
  /** read for the executor's own sake; @cascade does not ask for these */
  readonly #unasked = new Set<number>();

  slot(key: string, make: () => Selection, asked = true): number {
    const known = this.#slots.get(key);
    const slot = known ?? this.selections.push(make()) - 1;
    if (known === undefined) {
      this.#slots.set(key, slot);
      if (!asked) this.#unasked.add(slot);
    } else if (asked) this.#unasked.delete(slot);
    return slot;
  }

  /** What the client asked for, where that is not everything. */
  get asked(): readonly Selection[] | undefined {
    return this.#unasked.size === 0 ? undefined : this.selections.filter((_, slot) => !this.#unasked.has(slot));
  }
}

/** The column of a stored scalar. */
export function valueSlot(field: Field, list: SelectionList, asked = true): number {
  assert(field.storage, `${field.name} is stored`);
  const name = storedName(field.storage);
  return list.slot(`${name.name}@${name.langs.join(':')}`, () => select(name), asked);
}
