import { assert } from '../../base/index.js';
import type { Selection } from '../../dql/index.js';
import type { Field } from '../../sdl/index.js';
import { select, storedName } from './syntax.js';

/** Selections of one level, each once, with the place of its column. */
export class SelectionList {
  readonly selections: Selection[] = [];
  readonly #slots = new Map<string, number>();

  slot(key: string, make: () => Selection): number {
    const known = this.#slots.get(key);
    if (known !== undefined) return known;
    const slot = this.selections.push(make()) - 1;
    this.#slots.set(key, slot);
    return slot;
  }
}

/** The column of a stored scalar. */
export function valueSlot(field: Field, list: SelectionList): number {
  assert(field.storage, `${field.name} is stored`);
  const name = storedName(field.storage);
  return list.slot(`${name.name}@${name.langs.join(':')}`, () => select(name));
}
