import { type DefinitionNode, type FieldDefinitionNode, type InputValueDefinitionNode, parse, print } from 'graphql';

const SHOWN = 12;
const ROOTS = /^(Query|Mutation|Subscription)\./;

/**
 * What a client sees differently in a schema, a line each: `+ Query.getNote(id: ID!): Note` is new, `-` is gone, and
 * `~ Note.text: String -> String!` has another type. Operations come first, then types, then members; of very many the
 * rest is counted.
 */
export function schemaChanges(before: string, after: string): readonly string[] {
  const [old, now] = [members(before), members(after)];
  const lines: { readonly rank: number; readonly line: string }[] = [];
  const tell = (name: string, line: string) => lines.push({ rank: rankOf(name), line });
  for (const [name, shape] of now) {
    const was = old.get(name);
    if (was === undefined && !belongsTo(name, old)) tell(name, `+ ${name}${shape}`);
    else if (was !== undefined && was !== shape) tell(name, `~ ${name}${was} -> ${shape.replace(/^: /, '')}`);
  }
  for (const [name, shape] of old) {
    if (!now.has(name) && !belongsTo(name, now)) tell(name, `- ${name}${shape}`);
  }
  const sorted = lines.sort((a, b) => a.rank - b.rank).map(({ line }) => line);
  const rest = sorted.length - SHOWN;
  return rest > 1 ? [...sorted.slice(0, SHOWN), `and ${rest} more`] : sorted;
}

const rankOf = (name: string) => (ROOTS.test(name) ? 0 : name.includes('.') ? 2 : 1);

/** Members of a type that the other schema does not have are told by the type. */
function belongsTo(name: string, other: ReadonlyMap<string, string>): boolean {
  const dot = name.indexOf('.');
  return dot !== -1 && !ROOTS.test(name) && !other.has(keyword(name.slice(0, dot)));
}

/** Types stand under their bare name, so that an interface that becomes a type is a change of its members. */
const keyword = (name: string) => `type ${name}`;

/** `type Note` -> '', `Note.text` -> ': String', `Query.getNote` -> '(id: ID!): Note'. */
function members(sdl: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  if (sdl.trim() === '') return found;
  for (const definition of parse(sdl, { noLocation: true }).definitions as readonly DefinitionNode[]) {
    if (!('name' in definition) || definition.name === undefined || definition.kind === 'DirectiveDefinition') continue;
    const { value: name } = definition.name;
    if (!ROOTS.test(`${name}.`)) found.set(keyword(name), '');
    for (const field of 'fields' in definition ? (definition.fields ?? []) : []) {
      found.set(`${name}.${field.name.value}`, shapeOf(field));
    }
    for (const { name: value } of 'values' in definition ? (definition.values ?? []) : []) {
      found.set(`${name}.${value.value}`, '');
    }
    for (const { name: member } of 'types' in definition ? (definition.types ?? []) : []) {
      found.set(`${name}.${member.value}`, '');
    }
  }
  return found;
}

function shapeOf(field: FieldDefinitionNode | InputValueDefinitionNode): string {
  const args = 'arguments' in field ? (field.arguments ?? []) : [];
  const listed = args.map((one) => `${one.name.value}: ${print(one.type)}`).join(', ');
  return `${listed === '' ? '' : `(${listed})`}: ${print(field.type)}`;
}
