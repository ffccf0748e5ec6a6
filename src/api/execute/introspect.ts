import {
  type FieldNode,
  getNullableType,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  isLeafType,
  isListType,
  isObjectType,
  SchemaMetaFieldDef,
  TypeMetaFieldDef,
} from 'graphql';
import { assert, type JsonWriter, STEP, type Steps } from '../../base/index.js';
import { argumentsOf } from './argument.js';
import { collectFields, selectionSets } from './collect.js';
import { type Request, type RootField, scopeOf, type Written } from './request.js';
import { writtenAhead } from './written-ahead.js';

/** bytes of answers that are kept */
const KEPT = 8 * 1024 * 1024;

/** Answers to introspections without variables, kept with the schema: tools ask the same again and again. */
export class Introspected {
  #kept = new WeakMap<FieldNode, Written>();
  #bytes = 0;

  get(node: FieldNode): Written | undefined {
    return this.#kept.get(node);
  }

  keep(node: FieldNode, answer: Written, bytes: number): void {
    if (bytes > KEPT) return;
    if (this.#bytes + bytes > KEPT) {
      this.#kept = new WeakMap();
      this.#bytes = 0;
    }
    this.#kept.set(node, answer);
    this.#bytes += bytes;
  }
}

/** `__schema` and `__type`. Written in steps and under the bounds of any answer: aliases make much of a short document. */
export async function introspectionField(request: Request, field: RootField, kept: Introspected): Promise<Written> {
  const [node] = field.nodes;
  const known = kept.get(node);
  if (known) return known;
  const definition = node.name.value === '__type' ? TypeMetaFieldDef : SchemaMetaFieldDef;
  let bytes = 0;
  const written = await writtenAhead(request, function* (out) {
    const introspection = new Introspection(request, out);
    yield* introspection.value(definition.type, field.nodes, introspection.read(definition, node, undefined));
    bytes = out.length;
    return true;
  });
  if (Object.keys(request.variables).length === 0 && field.nodes.length === 1) kept.keep(node, written, bytes);
  return written;
}

type Nodes = readonly FieldNode[];
type Definition = GraphQLField<unknown, unknown>;

/** What stands at one key of an introspected object. */
interface Part {
  readonly prefix: string;
  readonly nodes: Nodes;
  /** undefined for `__typename` */
  readonly definition: Definition | undefined;
}

class Introspection {
  readonly #request: Request;
  readonly #out: JsonWriter;
  readonly #scope: ReturnType<typeof scopeOf>;
  /** by the nodes that ask for an object: they stand at one place, and so for one type */
  readonly #parts = new Map<Nodes, readonly Part[]>();
  #written = 0;

  constructor(request: Request, out: JsonWriter) {
    this.#request = request;
    this.#out = out;
    this.#scope = scopeOf(request, { schema: request.engine.graph.schema() });
  }

  /** What graphql-js knows of its own types. They ask of the request nothing but the schema. */
  read(definition: Definition, node: FieldNode, source: unknown): unknown {
    assert(definition.resolve, 'fields of introspection resolve themselves');
    const info = { schema: this.#request.engine.schema } as GraphQLResolveInfo;
    return definition.resolve(source, argumentsOf(this.#scope, { definition, nodes: [node] }), undefined, info);
  }

  *value(type: GraphQLOutputType, nodes: Nodes, value: unknown): Steps<void> {
    const out = this.#out;
    const nullable = getNullableType(type) as GraphQLOutputType;
    if (value === null || value === undefined) out.ascii('null');
    else if (isListType(nullable)) yield* this.#list(nullable.ofType as GraphQLOutputType, nodes, value);
    else if (isLeafType(nullable)) out.raw(JSON.stringify(nullable.serialize(value)));
    else if (isObjectType(nullable)) yield* this.#object(nullable, nodes, value);
  }

  *#list(item: GraphQLOutputType, nodes: Nodes, values: unknown): Steps<void> {
    const out = this.#out;
    let separator = '[';
    for (const value of values as Iterable<unknown>) {
      out.ascii(separator);
      separator = ',';
      yield* this.value(item, nodes, value);
    }
    out.ascii(separator === '[' ? '[]' : ']');
  }

  *#object(type: GraphQLObjectType, nodes: Nodes, value: unknown): Steps<void> {
    const out = this.#out;
    out.ascii('{');
    for (const { prefix, nodes: asked, definition } of this.#partsOf(type, nodes)) {
      if (++this.#written % STEP === 0) yield;
      out.raw(prefix);
      if (definition) yield* this.value(definition.type, asked, this.read(definition, asked[0], value));
      else out.string(type.name);
    }
    out.ascii('}');
  }

  #partsOf(type: GraphQLObjectType, nodes: Nodes): readonly Part[] {
    let parts = this.#parts.get(nodes);
    if (!parts) {
      parts = [...collectFields(this.#scope, type, selectionSets(nodes))].map(([key, asked], i) => ({
        prefix: `${i > 0 ? ',' : ''}${JSON.stringify(key)}:`,
        nodes: asked,
        definition: type.getFields()[asked[0].name.value],
      }));
      this.#parts.set(nodes, parts);
    }
    return parts;
  }
}
