import type { OperationDefinitionNode } from 'graphql';

type ByVariables = Map<string, Buffer>;

/** What one event looks like to one operation, made once however many subscribe to it. Gone with the event. */
export class EventBodies {
  readonly #bodies = new WeakMap<object, WeakMap<OperationDefinitionNode, ByVariables>>();

  /** @param variables as text; what an operation selects may depend on them */
  body(value: unknown, operation: OperationDefinitionNode, variables: string, make: () => Buffer): Buffer {
    if (typeof value !== 'object' || value === null) return make();
    let operations = this.#bodies.get(value);
    if (operations === undefined) {
      operations = new WeakMap();
      this.#bodies.set(value, operations);
    }
    let made = operations.get(operation);
    if (made === undefined) {
      made = new Map();
      operations.set(operation, made);
    }
    let body = made.get(variables);
    if (body === undefined) {
      body = make();
      made.set(variables, body);
    }
    return body;
  }
}
