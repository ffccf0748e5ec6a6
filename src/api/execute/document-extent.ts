import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  getNamedType,
  type GraphQLNamedType,
  type GraphQLSchema,
  isAbstractType,
  isInterfaceType,
  isObjectType,
  Kind,
  type SelectionSetNode,
} from 'graphql';
import { GraphsteadError, type Limits } from '../../base/index.js';

/** What a selection set asks for once its fragments stand in their places. */
interface Extent {
  readonly depth: number;
  /** each as often as it is compiled: below an interface or a union once for every type that may stand there */
  readonly fields: number;
}

type Type = GraphQLNamedType | null | undefined;

const NOTHING: Extent = { depth: 0, fields: 0 };

/**
 * Fields of all operations of a document. A kilobyte of fragments that spread each other twice can ask for millions: they
 * are counted here and never made. Circles, and what the schema does not know, are left to validation.
 * Throws LIMIT_EXCEEDED past limits.nestingDepth and limits.documentFields.
 */
export function extentOf(
  document: DocumentNode,
  fragments: Readonly<Record<string, FragmentDefinitionNode>>,
  schema: GraphQLSchema,
  limits: Limits,
): number {
  const extents = new Extents(fragments, schema, limits);
  let fields = 0;
  for (const node of document.definitions) {
    if (node.kind !== Kind.OPERATION_DEFINITION) continue;
    fields += extents.ofSet(node.selectionSet, schema.getRootType(node.operation), 0).fields;
  }
  return fields;
}

class Extents {
  readonly #fragments: Readonly<Record<string, FragmentDefinitionNode>>;
  readonly #schema: GraphQLSchema;
  readonly #limits: Limits;
  /** each fragment is looked at once, wherever it is spread */
  readonly #known = new Map<string, Extent>();
  readonly #open = new Set<string>();

  constructor(fragments: Readonly<Record<string, FragmentDefinitionNode>>, schema: GraphQLSchema, limits: Limits) {
    this.#fragments = fragments;
    this.#schema = schema;
    this.#limits = limits;
  }

  ofSet({ selections }: SelectionSetNode, type: Type, above: number): Extent {
    const { nestingDepth, documentFields } = this.#limits;
    if (above > nestingDepth) throw tooDeep(this.#limits);
    let depth = 0;
    let fields = 0;
    for (const node of selections) {
      const own = this.#of(node, type, above);
      if (above + own.depth > nestingDepth) throw tooDeep(this.#limits);
      depth = Math.max(depth, own.depth);
      fields += own.fields;
    }
    if (fields > documentFields) throw tooManyFields(this.#limits);
    return { depth, fields };
  }

  #of(node: SelectionSetNode['selections'][number], type: Type, above: number): Extent {
    if (node.kind === Kind.FRAGMENT_SPREAD) return this.#ofFragment(node.name.value);
    if (node.kind === Kind.INLINE_FRAGMENT) {
      const name = node.typeCondition?.name.value;
      return this.ofSet(node.selectionSet, name === undefined ? type : this.#schema.getType(name), above + 1);
    }
    const below = node.selectionSet ? this.ofSet(node.selectionSet, typeOf(type, node), above + 1) : NOTHING;
    return { depth: 1 + below.depth, fields: this.#times(type) + below.fields };
  }

  #ofFragment(name: string): Extent {
    const known = this.#known.get(name);
    if (known) return known;
    const fragment = this.#fragments[name];
    if (!fragment || this.#open.has(name)) return NOTHING;
    this.#open.add(name);
    const extent = this.ofSet(fragment.selectionSet, this.#schema.getType(fragment.typeCondition.name.value), 0);
    this.#open.delete(name);
    this.#known.set(name, extent);
    return extent;
  }

  #times(type: Type): number {
    return isAbstractType(type) ? this.#schema.getPossibleTypes(type).length + 1 : 1;
  }
}

function typeOf(type: Type, { name }: FieldNode): Type {
  return isObjectType(type) || isInterfaceType(type) ? getNamedType(type.getFields()[name.value]?.type) : undefined;
}

export function tooDeep({ nestingDepth }: Limits): GraphsteadError {
  return new GraphsteadError('LIMIT_EXCEEDED', `the document nests deeper than nestingDepth (${nestingDepth})`, {
    fix: 'Ask for fewer levels in one request.',
  });
}

function tooManyFields({ documentFields }: Limits): GraphsteadError {
  const message = `the document asks for more fields than documentFields (${documentFields}), fragments put in their places`;
  return new GraphsteadError('LIMIT_EXCEEDED', message, {
    fix: 'Spread fewer fragments into each other, ask for less in one request, or raise limits.documentFields.',
  });
}
