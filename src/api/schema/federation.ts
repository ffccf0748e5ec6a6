import {
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  type GraphQLSchema,
  GraphQLString,
  GraphQLUnionType,
} from 'graphql';
import { type Context, nonNull } from './context.js';
import { means } from './meaning.js';
import { objectType } from './object.js';
import type { RootFields } from './query.js';
import { AnyScalar } from './scalar.js';

/** `_service { sdl }`, which a federation's gateway asks; `sdl` is made when it is first asked for. */
function serviceField(sdl: () => string): RootFields[string] {
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
  return { type: new GraphQLNonNull(service), extensions: means({ op: 'service' }) };
}

/**
 * A gateway asks every service for `_service`, those without entities too. There the field is answered, but stands in
 * no introspection and no printed schema: clients see what they saw.
 */
export function answerService(schema: GraphQLSchema, sdl: () => string): void {
  const fields = schema.getQueryType()?.getFields();
  if (!fields || '_service' in fields) return;
  const holder = new GraphQLObjectType({ name: 'Query', fields: { _service: serviceField(sdl) } });
  Object.defineProperty(fields, '_service', { value: holder.getFields()._service, enumerable: false });
}

/** `_service` where the model is part of a federation, and `_entities` where it has entities: objects with a key. */
export function federationFields(context: Context, sdl: () => string): RootFields {
  const { model } = context;
  if (!model.federated) return {};
  const entities = model.objects.filter((type) => type.federation.key && type.kind === 'object');
  if (entities.length === 0) return { _service: serviceField(sdl) };
  const entity = new GraphQLUnionType({
    name: '_Entity',
    types: () => entities.map((type) => objectType(context, type) as GraphQLObjectType),
    extensions: means({ of: 'entity' }),
  });
  return {
    _entities: {
      type: new GraphQLNonNull(new GraphQLList(entity)),
      args: { representations: { type: nonNull(new GraphQLList(nonNull(AnyScalar))) } },
      extensions: means({ op: 'entities' }),
    },
    _service: serviceField(sdl),
  };
}
