import {
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLUnionType,
  getNamedType,
  isObjectType,
  isUnionType,
} from 'graphql';

/** How often a type that holds itself is gone into, at most. */
const LEVELS = 8;
/** Fields that one document asks for at most; where they would be more, types that hold themselves are gone into less often. */
const FIELDS = 1_000;

interface Selection {
  /** a selection set with a space before it; "" for scalars and enums */
  readonly text: string;
  /** how many levels of a type that holds itself are in it; undefined where none does */
  readonly levels?: number;
  /** how many fields are in it, where the result has more */
  readonly fields?: number;
}

/** Everything that a function's result has: a tool answers its whole result, not parts of it. */
export function selectionOf(type: GraphQLOutputType): Selection {
  for (let levels = LEVELS; ; levels--) {
    const writer = new SelectionWriter(levels);
    const text = writer.of(getNamedType(type));
    const isFull = writer.fields > FIELDS;
    if (levels === 1 || !isFull)
      return { text, ...(writer.isCut ? { levels } : {}), ...(isFull ? { fields: FIELDS } : {}) };
  }
}

class SelectionWriter {
  fields = 0;
  isCut = false;
  readonly #open = new Map<string, number>();

  constructor(readonly levels: number) {}

  of(type: GraphQLNamedType): string {
    if (!isObjectType(type) && !isUnionType(type)) return '';
    const depth = this.#open.get(type.name) ?? 0;
    if (depth >= this.levels) {
      this.isCut = true;
      return ' { __typename }';
    }
    this.#open.set(type.name, depth + 1);
    const text = isUnionType(type) ? this.#members(type) : this.#fields(type, () => false);
    this.#open.set(type.name, depth);
    return ` { ${text} }`;
  }

  #members(type: GraphQLUnionType): string {
    const members = type.getTypes();
    const differs = differing(members);
    return ['__typename', ...members.map((one) => `... on ${one.name} { ${this.#fields(one, differs)} }`)].join(' ');
  }

  #fields(type: GraphQLObjectType, differs: (name: string) => boolean): string {
    const fields = Object.values(type.getFields()).map((field) =>
      this.#field(field, differs(field.name) ? `${field.name}_${type.name}: ` : ''),
    );
    // a selection set may not be empty
    return fields.filter((field) => field !== '').join(' ') || '__typename';
  }

  #field({ name, type }: GraphQLField<unknown, unknown>, alias: string): string {
    this.fields++;
    // once there are too many, the rest would only take time
    return this.fields > FIELDS ? '' : `${alias}${name}${this.of(getNamedType(type))}`;
  }
}

/** Fields that have different types in different members: under one name a document may not ask for both. */
function differing(members: readonly GraphQLObjectType[]): (name: string) => boolean {
  const types = new Map<string, string>();
  const found = new Set<string>();
  for (const field of members.flatMap((member) => Object.values(member.getFields()))) {
    const type = String(field.type);
    if ((types.get(field.name) ?? type) !== type) found.add(field.name);
    types.set(field.name, type);
  }
  return (name) => found.has(name);
}
