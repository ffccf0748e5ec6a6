import { asError, GraphsteadError, type Limits, type Names } from '../../base/index.js';
import { parseQuery } from '../../dql/index.js';
import { type Model, placeInString, type RootField } from '../../sdl/index.js';

/**
 * What is wrong with the texts of `@custom(dql: ...)`, each mistake at its place in the definitions: one that cannot be
 * read or means nothing whatever the field's arguments are, and one that has no block for the field's value. Under
 * Dgraph's names nothing is: it takes such definitions, and only what calls these fields fails.
 */
export function checkDql(
  model: Model,
  options: { readonly names: Names; readonly limits: Limits },
): readonly GraphsteadError[] {
  if (options.names.dgraph) return [];
  return model.queries.flatMap((field) => {
    const mistake = mistakeOf(field, options);
    if (!mistake || field.custom?.kind !== 'dql') return [];
    const start = field.custom.position;
    const { message, fix, position } = mistake;
    return new GraphsteadError('INVALID_SDL', `@custom on Query.${field.name}: dql: ${message}`, {
      position: position ? placeInString(model.text, start, position) : start,
      fix: fix ?? 'Correct the query text.',
      details: { rule: 'custom-dql' },
    });
  });
}

function mistakeOf(
  field: RootField,
  { names, limits }: { readonly names: Names; readonly limits: Limits },
): Pick<GraphsteadError, 'message' | 'fix' | 'position'> | undefined {
  if (field.custom?.kind !== 'dql') return undefined;
  const later = field.arguments.map((argument) => argument.name.value);
  try {
    const { blocks } = parseQuery(field.custom.dql, { later, names, limits });
    if (blocks.some((block) => !block.isVar && keyOf(block) === field.name)) return undefined;
  } catch (error) {
    return asError(error);
  }
  return {
    message: `no block is named ${field.name}, so that the field would never have a value`,
    fix: `Name the block with its value ${field.name}.`,
  };
}

/** The key that a block's answer stands under. */
const keyOf = ({ name, shortest }: { readonly name: string; readonly shortest?: unknown }): string =>
  shortest === undefined ? name : '_path_';
