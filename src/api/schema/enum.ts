import { GraphQLEnumType } from 'graphql';
import type { Context } from './context.js';
import { means } from './meaning.js';

/** The enum of this name; undefined where the name is another kind of type. */
export function enumType(context: Context, name: string): GraphQLEnumType | undefined {
  const type = context.model.types.get(name);
  if (type?.kind !== 'enum') return undefined;
  return context.once(
    name,
    () =>
      new GraphQLEnumType({
        name,
        description: type.description,
        values: Object.fromEntries(
          type.values.map((value) => [
            value.name,
            { description: value.description, deprecationReason: value.deprecated },
          ]),
        ),
        extensions: means({ of: 'enum', type }),
      }),
  );
}
