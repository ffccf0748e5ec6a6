import { GraphQLList, GraphQLNonNull, GraphQLObjectType, GraphQLString, GraphQLUnionType } from 'graphql';
import { type Context, nonNull } from './context.js';
import { means } from './meaning.js';
import { objectType } from './object.js';
import type { RootFields } from './query.js';
import { AnyScalar } from './scalar.js';

/** `_entities` and `_service`, which a federation's gateway asks; `sdl` is made when it is first asked for. */
export function federationFields(context: Context, sdl: () => string): RootFields {
  const { model } = context;
  if (!model.federated) return {};
  const service = new GraphQLObjectType({
    name: '_Service',
    fields: {
      sdl: {
        type: GraphQLString,
        extensions: {
          graphstead: {
            op: 'sdl',
            get sdl() {
              return sdl();
            },
          },
        },
      },
    },
  });
  const entity = new GraphQLUnionType({
    name: '_Entity',
    types: () =>
      model.objects
        .filter((type) => type.federation.key && type.kind === 'object')
        .map((type) => objectType(context, type) as GraphQLObjectType),
    extensions: means({ of: 'entity' }),
  });
  return {
    _entities: {
      type: new GraphQLNonNull(new GraphQLList(entity)),
      args: { representations: { type: nonNull(new GraphQLList(nonNull(AnyScalar))) } },
      extensions: means({ op: 'entities' }),
    },
    _service: { type: new GraphQLNonNull(service), extensions: means({ op: 'service' }) },
  };
}
