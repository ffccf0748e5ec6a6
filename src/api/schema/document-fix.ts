import {
  type ASTNode,
  type DirectiveNode,
  type DocumentNode,
  type FieldNode,
  type GraphQLArgument,
  type GraphQLField,
  GraphQLError,
  type GraphQLInputObjectType,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isRequiredArgument,
  isUnionType,
  Kind,
  OperationTypeNode,
  print,
  TypeInfo,
  type ValueNode,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { isStored } from './fact.js';
import { rootMeaning, typeMeaning } from './meaning.js';
import { searchesOfText } from './value-filter.js';

/** names that one fix lists */
const LISTED = 20;
/** characters of a value that a fix repeats */
const SHOWN = 40;
/** where directives stand in requests */
const REQUESTS: ReadonlySet<string> = new Set(['QUERY', 'MUTATION', 'SUBSCRIPTION', 'FIELD', 'FRAGMENT_SPREAD']);

/** The mistakes of a document with what to write instead, in `extensions.fix`. graphql-js tells no more than names that are much alike. */
export function withFixes(
  errors: readonly GraphQLError[],
  document: DocumentNode,
  schema: GraphQLSchema,
): readonly GraphQLError[] {
  const wrong = new Set(errors.map(placeOf));
  const fixes = new Map<ASTNode | undefined, string>();
  const info = new TypeInfo(schema);
  const visitor = {
    enter(node: ASTNode) {
      const fix = wrong.has(node) && fixOf(node, info, schema);
      if (fix) fixes.set(node, fix);
    },
  };
  visit(document, visitWithTypeInfo(info, visitor));
  return errors.map((error) => {
    const fix = fixes.get(placeOf(error));
    if (fix === undefined) return error;
    const { message, nodes, extensions } = error;
    return new GraphQLError(message, { nodes, extensions: { ...extensions, fix } });
  });
}

/** A variable stands where it is used, not where it is declared: there its type is known. */
function placeOf({ nodes }: GraphQLError): ASTNode | undefined {
  return nodes?.find(({ kind }) => kind === Kind.VARIABLE) ?? nodes?.[0];
}

function fixOf(node: ASTNode, info: TypeInfo, schema: GraphQLSchema): string | undefined {
  switch (node.kind) {
    case Kind.FIELD: {
      const field = info.getFieldDef();
      return field
        ? lacks(node, field)
        : (elsewhere(node, info, schema) ?? addedAs(node, info, schema) ?? fieldsOf(node, info));
    }
    case Kind.ARGUMENT: {
      if (info.getArgument()) return undefined;
      const directive = info.getDirective();
      const field = info.getFieldDef();
      return directive ? takes(`@${directive.name}`, directive) : field ? takes(field.name, field) : undefined;
    }
    case Kind.DIRECTIVE: {
      const directive = info.getDirective();
      if (directive) return lacks(node, { name: `@${directive.name}`, args: directive.args });
      const known = schema.getDirectives().filter(({ locations }) => locations.some((each) => REQUESTS.has(each)));
      return `There are ${listed(known.map(({ name }) => `@${name}`))}.`;
    }
    case Kind.OBJECT_FIELD: {
      const type = getNamedType(info.getParentInputType());
      return isInputObjectType(type) ? inPlaceOfField(node.name.value, type) : undefined;
    }
    case Kind.SELECTION_SET:
      return 'Take what stands in braces behind it away.';
    case Kind.VARIABLE: {
      const type = info.getInputType();
      return type ? `Declare it behind the name of the operation, as $${node.name.value}: ${type}.` : undefined;
    }
    case Kind.VARIABLE_DEFINITION:
      return 'Use it, or take its declaration away.';
    case Kind.STRING:
    case Kind.INT:
    case Kind.FLOAT:
    case Kind.BOOLEAN:
    case Kind.ENUM:
    case Kind.LIST:
      return inPlaceOf(node, info);
    case Kind.FRAGMENT_DEFINITION:
      return `Spread it with ...${node.name.value}, or take it away.`;
    default:
      return undefined;
  }
}

/** What is an operation, though of another kind: a function whose name makes it a mutation is soon asked as a query. */
function elsewhere({ name }: FieldNode, info: TypeInfo, schema: GraphQLSchema): string | undefined {
  const roots = operationKinds.map((kind) => [kind, schema.getRootType(kind)] as const);
  const parent = info.getParentType();
  if (!roots.some(([, type]) => type && type === parent)) return undefined;
  const [kind, root] = roots.find(([, type]) => type && Object.hasOwn(type.getFields(), name.value)) ?? [];
  const field = root?.getFields()[name.value];
  if (kind === undefined || field === undefined) return undefined;
  const live = parent === schema.getSubscriptionType() ? liveType(field) : undefined;
  if (live)
    return `${name.value} is a query: give ${live} @withSubscription in the type definitions to subscribe to it.`;
  return `${name.value} is a ${kind}: write ${kind} { ${name.value} ... }.`;
}

/** Interfaces have no addT: a node is of a type. */
function addedAs({ name: { value } }: FieldNode, info: TypeInfo, schema: GraphQLSchema): string | undefined {
  const mutations = schema.getMutationType();
  const type = value.startsWith('add') ? schema.getType(value.slice('add'.length)) : undefined;
  if (!mutations || info.getParentType() !== mutations || !isInterfaceType(type)) return undefined;
  const adds = schema.getPossibleTypes(type).map(({ name }) => `add${name}`);
  const there = adds.filter((name) => Object.hasOwn(mutations.getFields(), name));
  return there.length > 0 ? `${type.name} is an interface: a node of it is made by ${listed(there)}.` : undefined;
}

/** The stored type whose directive makes a live query of this one too. */
function liveType(field: GraphQLField<unknown, unknown>): string | undefined {
  const meaning = rootMeaning(field);
  return meaning?.op === 'get' || meaning?.op === 'query' || meaning?.op === 'aggregate'
    ? meaning.type.name
    : undefined;
}

const operationKinds = [OperationTypeNode.QUERY, OperationTypeNode.MUTATION, OperationTypeNode.SUBSCRIPTION];

function fieldsOf({ name }: FieldNode, info: TypeInfo): string | undefined {
  const type = info.getParentType();
  if (!type) return undefined;
  if (isUnionType(type)) {
    const members = type.getTypes();
    const member = members.find((each) => Object.hasOwn(each.getFields(), name.value)) ?? members[0];
    return `Ask for it by type, as in ... on ${member} { ... }.`;
  }
  return has(type.name, Object.keys(type.getFields()), 'fields');
}

function inPlaceOf(value: ValueNode, info: TypeInfo): string | undefined {
  return inPlaceOfValue(getNamedType(info.getInputType()), { text: print(value), isList: value.kind === Kind.LIST });
}

/** A value as the client wrote it. */
interface Written {
  readonly text: string;
  readonly isList: boolean;
}

/** What to write where a value does not fit the type. */
export function inPlaceOfValue(type: GraphQLNamedType | undefined, value: Written): string | undefined {
  if (isInputObjectType(type)) return inObject(value, type);
  if (!isEnumType(type)) return undefined;
  const names = type.getValues().map(({ name }) => name);
  return has(type.name, names, 'enumValues');
}

/** A value where an object of some fields belongs: a filter names what it asks of the value. */
function inObject({ text, isList }: Written, type: GraphQLInputObjectType): string {
  const names = Object.keys(type.getFields());
  const compares = isList ? 'in' : 'eq';
  const isShort = text.length <= SHOWN && !text.includes('\n');
  const example = isShort && names.includes(compares) ? `Write { ${compares}: ${text} }. ` : '';
  return example + has(type.name, names, 'inputFields');
}

/** What to write where an input has no field of the name. */
export function inPlaceOfField(name: string, type: GraphQLInputObjectType): string {
  const meant = orderBy(name, type) ?? searchFor(name, type);
  return (meant ? `${meant} ` : '') + has(type.name, Object.keys(type.getFields()), 'inputFields');
}

/** Other APIs name the field first: `{ name: asc }`. */
function orderBy(name: string, order: GraphQLInputObjectType): string | undefined {
  if (typeMeaning(order)?.of !== 'order') return undefined;
  const orderable = getNamedType(order.getFields().asc?.type);
  return isEnumType(orderable) && orderable.getValue(name) ? `Write { asc: ${name} } or { desc: ${name} }.` : undefined;
}

/** What the type definitions lack for a filter. */
function searchFor(name: string, filter: GraphQLInputObjectType): string | undefined {
  const meaning = typeMeaning(filter);
  if (meaning?.of === 'filter') {
    const { fields, name: type } = meaning.type;
    const field = fields.find((each) => each.name === name);
    const canBeSearched = field?.role === 'scalar' && isStored(field) && !field.embedding;
    return canBeSearched ? `Give ${type}.${name} @search in the type definitions.` : undefined;
  }
  const kinds = meaning?.of === 'valueFilter' ? searchesOfText(name) : [];
  return kinds.length > 0 ? `Texts and enums have it by @search(by: [${kinds.join(' or ')}]).` : undefined;
}

function has(type: string, names: readonly string[], kind: 'fields' | 'inputFields' | 'enumValues'): string {
  if (names.length <= LISTED) return `${type} has ${listed(names)}.`;
  const what = kind === 'enumValues' ? 'values' : 'fields';
  return `${type} has ${names.length} ${what}: { __type(name: "${type}") { ${kind} { name } } } lists them.`;
}

interface Taking {
  readonly name: string;
  readonly args: readonly GraphQLArgument[];
}

/** Other mistakes are told at the place of a field or directive too. */
function lacks({ arguments: given = [] }: FieldNode | DirectiveNode, what: Taking): string | undefined {
  const isGiven = (argument: GraphQLArgument) => given.some(({ name }) => name.value === argument.name);
  return what.args.every((each) => !isRequiredArgument(each) || isGiven(each)) ? undefined : takes(what.name, what);
}

function takes(name: string, { args }: Pick<Taking, 'args'>): string {
  if (args.length === 0) return `${name} takes no arguments.`;
  return `${name} takes ${listed(args.map((each) => `${each.name}: ${each.type}`))}.`;
}

function listed(names: readonly string[]): string {
  const more = names.length - LISTED;
  return names.slice(0, LISTED).join(', ') + (more > 0 ? ` and ${more} more` : '');
}
