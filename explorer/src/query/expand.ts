import { query } from './run';
import { type GraphSchema, isReserved, labelPredicates, type Predicate, written } from './schema';

const NEIGHBOURS = 100;

/** One node with its values, its neighbours along every predicate of its types, and those that point to it. */
export async function expandNode(
  uid: string,
  types: readonly string[],
  schema: GraphSchema,
  typePredicate: string,
): Promise<Readonly<Record<string, unknown>>> {
  const known = predicatesOf(types, schema);
  const below = ['uid', typePredicate, ...labelPredicates(schema).slice(0, 6).map(written)].join(' ');
  const lines = known.flatMap(({ predicate, type, lang }) => {
    if (type === 'password') return [];
    if (type !== 'uid') return [written(predicate) + (lang ? '@.' : '')];
    return [`${written(predicate)} (first: ${NEIGHBOURS}) { ${below} }`];
  });
  const back = schema.predicates
    .filter(({ type, reverse }) => type === 'uid' && reverse)
    .map(({ predicate }) => `${written(`~${predicate}`)} (first: ${NEIGHBOURS}) { ${below} }`);
  const text = `{ node(func: uid(${uid})) { uid ${typePredicate}\n${[...lines, ...back].join('\n')} } }`;
  return (await query(text, {}, '?ro=true')).data;
}

function predicatesOf(types: readonly string[], { predicates, types: stored }: GraphSchema): readonly Predicate[] {
  const own = predicates.filter(({ predicate }) => !isReserved(predicate));
  const fields = new Set(
    stored.filter(({ name }) => types.includes(name)).flatMap(({ fields = [] }) => fields.map((field) => field.name)),
  );
  return fields.size === 0 ? own : own.filter(({ predicate }) => fields.has(predicate));
}
