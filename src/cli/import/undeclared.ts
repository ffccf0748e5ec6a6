import { type Position, TYPE_PREDICATE } from '../../base/index.js';
import type { Triple } from '../../dql/index.js';
import type { Declared } from './target.js';

/** names that are told; the rest is counted */
const TOLD = 10;

/**
 * Names in files that no definition has. Where a target serves type definitions these are mistakes more often than not:
 * what is stored under them GraphQL never shows, and nothing else would tell.
 */
export class Undeclared {
  readonly #declared: Declared | undefined;
  readonly #predicates = new Map<string, Position>();
  readonly #types = new Map<string, Position>();

  /** @param declared undefined where no type definitions are served: any name is good there */
  constructor(declared: Declared | undefined) {
    this.#declared = declared;
  }

  /** Every name is told with the place where it stood first. */
  note({ predicate, object, position }: Triple): void {
    if (this.#declared === undefined) return;
    if (predicate !== TYPE_PREDICATE) {
      if (!this.#declared.predicates.has(predicate)) remember(this.#predicates, predicate, position);
    } else if (object.kind === 'literal') {
      const type = String(object.value.value);
      if (!this.#declared.types.has(type)) remember(this.#types, type, position);
    }
  }

  warnings(): readonly string[] {
    const types = [...this.#types].map(
      ([type, at]) => `${type} (${place(at)}) is no type of the definitions: GraphQL shows none of its nodes`,
    );
    const predicates = [...this.#predicates].map(
      ([predicate, at]) =>
        `${predicate} (${place(at)}) is no field of a type: it is stored, and GraphQL does not show it`,
    );
    const all = [...types, ...predicates];
    const more = all.length - TOLD;
    return more > 0 ? [...all.slice(0, TOLD), `${more} more names are in no definition`] : all;
  }
}

function remember(names: Map<string, Position>, name: string, position: Position): void {
  if (!names.has(name)) names.set(name, position);
}

const place = ({ source, line }: Position): string => (source === undefined ? `line ${line}` : `${source}:${line}`);
