import { type ConstDirectiveNode, type ConstValueNode, Kind } from 'graphql';
import { argument, baseName, directive, type FieldDefinition, position, text } from '../definition.js';
import { kindOf } from '../lookup.js';
import type { Rule, RuleContext } from '../rule.js';
import { ENUM_SEARCHES, isSearchKind, readSearch, SEARCHES } from '../scalar.js';

/** @search names kinds that the field's type has, and no two that exclude each other. */
export const search: Rule = {
  name: 'search',
  check(context) {
    for (const object of context.definitions.objects.values()) {
      for (const field of object.own) {
        const node = directive(field.node, 'search');
        if (node) new Check(context, `${object.name}.${field.name}`, field, node).run();
      }
    }
  },
};

/** Pairs that stand for the same index, or cannot stand together. */
const EXCLUDE: readonly (readonly [string, string, string])[] = [
  ['hash', 'exact', 'exact does all that hash does'],
  ['trigram', 'regexp', 'they are the same index'],
];

class Check {
  readonly #type: string;

  constructor(
    readonly context: RuleContext,
    readonly where: string,
    readonly field: FieldDefinition,
    readonly node: ConstDirectiveNode,
  ) {
    this.#type = baseName(field.node.type);
  }

  #refuse(message: string, fix: string): void {
    this.context.report({ position: position(this.node), message, fix });
  }

  run(): void {
    const by = argument(this.node, 'by');
    if (by && by.kind !== Kind.LIST) {
      const given = text(by) ?? 'term';
      this.#refuse(`@search on ${this.where} needs a list`, `Write @search(by: [${given}]).`);
      return;
    }
    const entries = by?.kind === Kind.LIST ? by.values : [];
    if (directive(this.field.node, 'embedding')) this.#embedding(entries);
    else this.#scalar(entries);
  }

  #embedding(entries: readonly ConstValueNode[]): void {
    const read = entries.map((entry) => readSearch(text(entry) ?? ''));
    if (read.length !== 1 || read[0].kind !== 'hnsw') {
      this.#refuse(
        `@search on the embedding ${this.where} takes hnsw and nothing else`,
        'Write @search(by: ["hnsw(metric: euclidean, exponent: 4)"]).',
      );
      return;
    }
    const { options, malformed } = read[0];
    const metric = options.metric ?? 'euclidean';
    const wrong = malformed || !/^(euclidean|cosine|dotproduct)$/.test(metric) || !numeric(options);
    if (!wrong) return;
    this.#refuse(
      `the options of hnsw on ${this.where} are malformed`,
      'Write "hnsw(metric: euclidean, exponent: 4)": name, colon, space, value; metric is euclidean, cosine or dotproduct.',
    );
  }

  #scalar(entries: readonly ConstValueNode[]): void {
    const kind = kindOf(this.context.definitions, this.#type);
    if (kind === undefined) return;
    const enumeration = kind === 'enum';
    const allowed: readonly string[] = enumeration ? ENUM_SEARCHES : (SEARCHES[this.#type] ?? []);
    if (allowed.length === 0) {
      this.#refuse(`${this.where} is of type ${this.#type}, which cannot have @search`, 'Remove @search.');
      return;
    }
    const kinds = entries.map((entry) => readSearch(text(entry) ?? '').kind);
    for (const kind of kinds) {
      if (allowed.includes(kind)) continue;
      const known = isSearchKind(kind);
      this.#refuse(
        known
          ? `@search by ${kind} on ${this.where} does not apply to the type ${this.#type}`
          : `@search by "${kind}" on ${this.where}: there is no such kind of search`,
        allowed.length === 1 ? 'Write @search alone.' : `Use ${[...allowed].sort().join(', ')}.`,
      );
    }
    this.#together(kinds);
  }

  #together(kinds: readonly string[]): void {
    for (const kind of new Set(kinds.filter((kind, at) => kinds.indexOf(kind) !== at))) {
      this.#refuse(`@search by ${kind} stands twice on ${this.where}`, 'Keep one of them.');
    }
    for (const [one, other, why] of EXCLUDE) {
      if (!kinds.includes(one) || !kinds.includes(other)) continue;
      this.#refuse(`@search by ${one} and ${other} on ${this.where} exclude each other: ${why}`, `Keep one of them.`);
    }
    if (this.#type === 'DateTime' && new Set(kinds).size > 1) {
      this.#refuse(`${this.where} is a DateTime, which is searched by one of year, month, day and hour`, 'Keep one.');
    }
  }
}

const numeric = (options: Readonly<Record<string, string>>): boolean =>
  Object.entries(options).every(([name, value]) => name === 'metric' || /^\d+$/.test(value));
