import type { NodeType, Predicate, Schema } from '../contract.js';

/** A schema that tells which predicates were asked for that it does not have. */
export class ToldSchema implements Schema {
  readonly #schema: Schema;
  readonly #absent: (name: string) => void;

  constructor(schema: Schema, absent: (name: string) => void) {
    this.#schema = schema;
    this.#absent = absent;
  }

  get version(): number {
    return this.#schema.version;
  }

  get predicates(): readonly Predicate[] {
    return this.#schema.predicates;
  }

  get types(): readonly NodeType[] {
    return this.#schema.types;
  }

  predicate(name: string): Predicate | undefined {
    const found = this.#schema.predicate(name);
    if (found === undefined) this.#absent(name);
    return found;
  }

  predicateById(id: number): Predicate | undefined {
    return this.#schema.predicateById(id);
  }

  type(name: string): NodeType | undefined {
    return this.#schema.type(name);
  }
}
