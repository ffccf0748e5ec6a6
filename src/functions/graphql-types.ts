import {
  GraphQLBoolean,
  GraphQLEnumType,
  type GraphQLFieldConfigArgumentMap,
  GraphQLID,
  GraphQLInputObjectType,
  GraphQLInt,
  type GraphQLInputType,
  GraphQLList,
  type GraphQLNamedType,
  GraphQLNonNull,
  GraphQLObjectType,
  type GraphQLOutputType,
  GraphQLString,
  GraphQLUnionType,
} from 'graphql';
import { GraphQLDateTime, GraphQLFloat, GraphQLInt64 } from '../api/index.js';
import { assert } from '../base/index.js';
import type { AppManifest, FieldDescription, SharedScalars, TypeDefinition, TypeUse } from './contract.js';
import { jsonScalar } from './scalar.js';

/** GraphQL's own objects of an app's types: one for each name. */
export class GraphQLTypes {
  readonly #types = new Map<string, GraphQLNamedType>();

  constructor(manifest: AppManifest, scalars: SharedScalars = {}) {
    const known = [GraphQLString, GraphQLFloat, GraphQLInt, GraphQLID, GraphQLBoolean];
    const own = [scalars.Int64 ?? GraphQLInt64, scalars.DateTime ?? GraphQLDateTime, scalars.JSON ?? jsonScalar];
    for (const type of [...known, ...own]) this.#types.set(type.name, type);
    for (const definition of manifest.types) this.#types.set(definition.name, this.#make(definition));
  }

  output(use: TypeUse): GraphQLOutputType {
    return this.#use(use) as GraphQLOutputType;
  }

  args(fields: readonly FieldDescription[]): GraphQLFieldConfigArgumentMap {
    return Object.fromEntries(
      fields.map(({ name, type, description, defaultValue }) => [
        name,
        { type: this.#use(type) as GraphQLInputType, description, defaultValue },
      ]),
    );
  }

  #use(use: TypeUse): GraphQLOutputType | GraphQLInputType {
    const nullable = use.kind === 'list' ? new GraphQLList(this.#use(use.of ?? use)) : this.#named(use.name ?? '');
    return (use.nullable ? nullable : new GraphQLNonNull(nullable)) as GraphQLOutputType;
  }

  #named(name: string): GraphQLNamedType {
    const type = this.#types.get(name);
    assert(type, `type ${name} is described`);
    return type;
  }

  #make(definition: TypeDefinition): GraphQLNamedType {
    const { name, description } = definition;
    switch (definition.kind) {
      case 'enum': {
        const values = definition.values.map((one) => [one.name, { value: one.value }] as const);
        return new GraphQLEnumType({ name, description, values: Object.fromEntries(values) });
      }
      case 'union': {
        const types = () => definition.members.map((member) => this.#named(member.type) as GraphQLObjectType);
        return new GraphQLUnionType({ name, description, types, resolveType: (value) => typenameOf(value) });
      }
      case 'input':
        return new GraphQLInputObjectType({ name, description, fields: () => this.args(definition.fields) });
      case 'object': {
        const fields = () =>
          Object.fromEntries(
            definition.fields.map((field) => [
              field.name,
              { type: this.output(field.type), description: field.description },
            ]),
          );
        return new GraphQLObjectType({ name, description, fields });
      }
    }
  }
}

function typenameOf(value: unknown): string | undefined {
  return (value as { __typename?: string }).__typename;
}
