import type { OperationDefinitionNode } from 'graphql';

/** What an object looks like to one operation, made once however many subscribe to it. Gone with the object. */
export class ByOperation<V> {
  readonly #made = new WeakMap<object, WeakMap<OperationDefinitionNode, Map<string, V>>>();

  /** @param variables as text; what an operation selects may depend on them */
  of(value: unknown, operation: OperationDefinitionNode, variables: string, make: () => V): V {
    if (typeof value !== 'object' || value === null) return make();
    let operations = this.#made.get(value);
    if (operations === undefined) {
      operations = new WeakMap();
      this.#made.set(value, operations);
    }
    let byVariables = operations.get(operation);
    if (byVariables === undefined) {
      byVariables = new Map();
      operations.set(operation, byVariables);
    }
    let made = byVariables.get(variables);
    if (made === undefined) {
      made = make();
      byVariables.set(variables, made);
    }
    return made;
  }
}
