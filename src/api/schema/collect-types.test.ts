import { GraphQLObjectType, GraphQLSchema, GraphQLString } from 'graphql';
import { describe, expect, it } from 'vitest';
import { atOnce, defaultNames } from '../../base/index.js';
import { loadModel } from '../../sdl/index.js';
import { collectTypes } from './collect-types.js';
import { generateSchema } from './generate.js';

const SDL = `
  enum Size { S L }
  interface Named { name: String! @id }
  type Shop implements Named @withSubscription { id: ID! size: Size @search town: Town at: Point }
  type Town implements Named { shops: [Shop] @hasInverse(field: town) old: [Place] }
  type Offer @remote { price(in: Wish): Int64 }
  union Place = Shop | Town
  input Wish { currency: String other: Wish }
  type Query { offers(wish: Wish): [Offer] @custom(http: { url: "http://a.example", method: POST }) }
`;

describe('the types of a schema', () => {
  it('are found in the order in which the library finds them by itself', () => {
    const model = loadModel(SDL, { names: defaultNames });
    const { schema } = generateSchema(model, { names: defaultNames });
    const { query, mutation, subscription, directives } = schema.toConfig();
    const defined = ['Named', 'Shop', 'Town', 'Offer', 'Place', 'Size', 'Wish', 'DateTime', 'Int64'];
    const types = defined.flatMap((name) => schema.getType(name) ?? []);
    const alone = new GraphQLSchema({ query, mutation, subscription, directives, types });
    expect(types).toHaveLength(defined.length);
    expect(Object.keys(schema.getTypeMap())).toEqual(Object.keys(alone.getTypeMap()));
  });

  it('may lead from one to the next as often as they like', () => {
    const typeAt = (i: number): GraphQLObjectType =>
      new GraphQLObjectType({
        name: `T${i}`,
        fields: () => ({ next: { type: i < 30_000 ? typeAt(i + 1) : GraphQLString } }),
      });
    const query = typeAt(0);
    expect(() => new GraphQLSchema({ query })).toThrow(RangeError);
    const types = atOnce(collectTypes([], [query], []));
    expect(types).toHaveLength(30_002);
    expect(new GraphQLSchema({ query, types }).getType('T30000')).toBe(types[30_000]);
  });
});
