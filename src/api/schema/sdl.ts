import {
  astFromValue,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInterfaceType,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
  isInterfaceType,
  isIntrospectionType,
  isObjectType,
  isSpecifiedScalarType,
  print,
  printType,
} from 'graphql';
import { type Model, OWN_DIRECTIVES } from '../../sdl/index.js';
import { directiveText, PRIVATE_DIRECTIVES } from './directive.js';
import { rootMeaning } from './meaning.js';
import { WrittenDirectives } from './written-directive.js';

interface SdlOptions {
  /** for a federation's gateway: without what is the gateway's own or concerns this service alone */
  readonly service: boolean;
  /** the peer tells a gateway of no `implements` */
  readonly peer: boolean;
}

const ROOTS = ['Query', 'Mutation', 'Subscription'];
const GATEWAY_TYPES = new Set(['_Entity', '_Service', '_Any', '_FieldSet']);
const NOTHING: ReadonlySet<string> = new Set();

/** A generated schema as text: the user's types with their directives, what is generated for them, the root types. */
export function printSdl(schema: GraphQLSchema, model: Model, options: SdlOptions): string {
  const written = new WrittenDirectives(model, hiddenDirectives(options));
  const texts = inOrder(schema, model, options).map((type) => typeText(type, written, model, options));
  const fieldSet = model.federated && !options.service && !schema.getType('_FieldSet') ? ['scalar _FieldSet'] : [];
  const { lambda, restrict } = written;
  const directives = directiveText({ service: options.service, lambda, restrict, federated: model.federated });
  return `${[...texts.filter((text) => text !== ''), ...fieldSet, directives].join('\n\n')}\n`;
}

function hiddenDirectives({ service, peer }: SdlOptions): ReadonlySet<string> {
  if (service) return PRIVATE_DIRECTIVES;
  return peer ? OWN_DIRECTIVES : NOTHING;
}

function inOrder(schema: GraphQLSchema, model: Model, options: SdlOptions): GraphQLNamedType[] {
  const types = Object.values(schema.getTypeMap()).filter(
    (type) =>
      !isIntrospectionType(type) && !isSpecifiedScalarType(type) && !(options.service && GATEWAY_TYPES.has(type.name)),
  );
  const place = new Map([...model.types.keys()].map((name, index) => [name, index]));
  const rank = (name: string): number => place.get(name) ?? (ROOTS.includes(name) ? 2e9 + ROOTS.indexOf(name) : 1e9);
  return types.sort((a, b) => rank(a.name) - rank(b.name) || (a.name < b.name ? -1 : 1));
}

function typeText(type: GraphQLNamedType, written: WrittenDirectives, model: Model, options: SdlOptions): string {
  if (isObjectType(type) || isInterfaceType(type)) return objectText(type, written, model, options);
  const directives = written.of(type.name);
  return directives === '' ? printType(type) : printType(type).replace(/^(\w+ \w+)/m, `$1${directives}`);
}

function objectText(
  type: GraphQLObjectType | GraphQLInterfaceType,
  written: WrittenDirectives,
  model: Model,
  options: SdlOptions,
): string {
  const fields = Object.values(type.getFields()).filter((field) => !options.service || !isHidden(type, field, model));
  if (fields.length === 0) return '';
  const parents = type.getInterfaces().map((parent) => parent.name);
  const head = [
    `${isInterfaceType(type) ? 'interface' : 'type'} ${type.name}`,
    ...(parents.length > 0 && !(options.service && options.peer) ? [` implements ${parents.join(' & ')}`] : []),
    written.of(type.name),
  ].join('');
  const lines = fields.map((field) => fieldText(type, field, written));
  return `${description(type.description, '')}${head} {\n${lines.join('\n')}\n}`;
}

function fieldText(type: GraphQLNamedType, field: GraphQLField<unknown, unknown>, written: WrittenDirectives): string {
  const args = field.args.length > 0 ? `(${field.args.map(argumentText).join(', ')})` : '';
  const deprecated = field.deprecationReason ? ` @deprecated(reason: ${JSON.stringify(field.deprecationReason)})` : '';
  const text = `  ${field.name}${args}: ${field.type}${deprecated}${written.of(type.name, field.name)}`;
  return description(field.description, '  ') + text;
}

function argumentText(argument: GraphQLArgument): string {
  const value = argument.defaultValue === undefined ? undefined : astFromValue(argument.defaultValue, argument.type);
  return `${argument.name}: ${argument.type}${value ? ` = ${print(value)}` : ''}`;
}

function description(text: string | null | undefined, indent: string): string {
  if (!text) return '';
  const lines = text.replace(/"""/g, '\\"""').split('\n');
  return ['"""', ...lines, '"""'].map((line) => (line === '' ? '\n' : `${indent}${line}\n`)).join('');
}

/** Fields of Query that a gateway does not hear of: its own, and those of types that other services answer for. */
function isHidden(type: GraphQLNamedType, field: GraphQLField<unknown, unknown>, model: Model): boolean {
  if (type.name !== 'Query') return false;
  const meaning = rootMeaning(field);
  if (meaning?.op === 'entities' || meaning?.op === 'service') return true;
  return meaning !== undefined && 'type' in meaning && model.object(meaning.type.name)?.federation.extended === true;
}
