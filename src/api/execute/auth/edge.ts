import {
  type ASTNode,
  type GraphQLSchema,
  getNamedType,
  isInputObjectType,
  Kind,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import type { Field, Model, ObjectType } from '../../../sdl/index.js';
import { fieldMeaning, inputMeaning, typeMeaning } from '../../schema/meaning.js';
import { type GraphRule, graphRules } from '../../schema/rule-check.js';

const known = new WeakMap<Model, ReadonlySet<string>>();

/**
 * Some rule of @auth looks through the edge. Who writes it from its other end may get what the rule gives by it, and so
 * must be allowed to update the node that it belongs to.
 */
export function isLookedThrough(model: Model, schema: GraphQLSchema, field: Field): boolean {
  let edges = known.get(model);
  if (!edges) known.set(model, (edges = edgesOfRules(model, schema)));
  return edges.has(keyOf(field));
}

/** Fields of several types may be one stored edge. */
const keyOf = ({ storage }: Field): string => `${storage?.reverse ? '~' : ''}${storage?.predicate}`;

function edgesOfRules(model: Model, schema: GraphQLSchema): ReadonlySet<string> {
  const edges = new Set<string>();
  for (const type of model.objects) {
    for (const rule of Object.values(type.auth ?? {}).flatMap(graphRules)) {
      for (const field of fieldsOf(type, rule, schema)) if (field.role === 'edge') edges.add(keyOf(field));
    }
  }
  return edges;
}

/** Every field that a rule selects, filters by or asks to be there, at whatever level. */
function fieldsOf(type: ObjectType, { document }: GraphRule, schema: GraphQLSchema): readonly Field[] {
  const fields: Field[] = [];
  for (const definition of document.definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) collect(definition, new TypeInfo(schema), fields);
    if (definition.kind !== Kind.OPERATION_DEFINITION) continue;
    // the type's query may be kept from clients, and so be none of the schema's
    for (const root of definition.selectionSet.selections) {
      if (root.kind !== Kind.FIELD) continue;
      if (root.selectionSet) collect(root.selectionSet, new TypeInfo(schema, schema.getType(type.name)), fields);
      for (const { value } of root.arguments ?? []) {
        collect(value, new TypeInfo(schema, schema.getType(`${type.name}Filter`)), fields);
      }
    }
  }
  return fields;
}

function collect(node: ASTNode, info: TypeInfo, fields: Field[]): void {
  visit(
    node,
    visitWithTypeInfo(info, {
      Field() {
        const definition = info.getFieldDef();
        const meaning = definition && fieldMeaning(definition);
        if (meaning?.op === 'field') fields.push(meaning.field);
      },
      ObjectField({ name }) {
        const input = getNamedType(info.getParentInputType() ?? undefined);
        const field = isInputObjectType(input) ? input.getFields()[name.value] : undefined;
        const meaning = field && inputMeaning(field);
        if (meaning?.op === 'edgeFilter') fields.push(meaning.field);
      },
      EnumValue({ value }) {
        const type = getNamedType(info.getInputType() ?? undefined);
        const asked = type && typeMeaning(type);
        const field = asked?.of === 'has' ? asked.type.field(value) : undefined;
        if (field) fields.push(field);
      },
    }),
  );
}
