import type { OperationDefinitionNode } from 'graphql';
import { within } from '../../base/index.js';

/** What an object looks like to one operation, made once however many subscribe to it. Gone with the object. */
export class ByOperation<V> {
  readonly #made = new WeakMap<object, WeakMap<OperationDefinitionNode, Map<string, V>>>();

  /** @param variables as text; what an operation selects may depend on them */
  of(value: unknown, operation: OperationDefinitionNode, variables: string, make: () => V): V {
    if (typeof value !== 'object' || value === null) return make();
    const operations = within(this.#made, value, () => new WeakMap<OperationDefinitionNode, Map<string, V>>());
    return within(
      within(operations, operation, () => new Map<string, V>()),
      variables,
      make,
    );
  }
}
