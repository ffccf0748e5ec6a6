import { beforeEach, describe, expect, it } from 'vitest';
import { createWorld, type World } from '../../../test/support/api-world.js';

const SDL = `
  type Owner { name: String! @id pets: [Pet] favourite: Pet }
  union Pet = Dog | Cat | Fish
  type Dog { name: String! @id age: Int @search bones: [Bone] }
  type Cat @auth(update: {rule: "{$ROLE: {eq: \\"VET\\"}}"}, delete: {rule: "{$ROLE: {eq: \\"VET\\"}}"}) { name: String! @id age: Int @search }
  type Fish @generate(mutation: {update: false, delete: false}) { name: String! @id age: Int @search }
  type Bone { name: String! @id chewed: Boolean }
`;
const PETS = '{ queryDog(order: {asc: name}) { name age } queryCat { name age } queryFish { name age } }';

describe('nested updates and cascading deletions through edges to unions', () => {
  let world: World;
  const change = (text: string) => world.data(`mutation { ${text} }`, {}, { claims: { ROLE: 'VET' } });
  const error = async (text: string) => (await world.ask(`mutation { ${text} }`)).errors?.[0];

  beforeEach(async () => {
    world = await createWorld(SDL);
    await change(`addOwner(input: [{name: "ann", pets: [
      {dogRef: {name: "rex", age: 3, bones: [{name: "b"}]}}, {dogRef: {name: "bob", age: 9}},
      {catRef: {name: "tom", age: 3}}, {fishRef: {name: "nemo", age: 3}}], favourite: {dogRef: {name: "rex"}}}]) { numUids }`);
    await change('addDog(input: [{name: "stray", age: 3}]) { numUids }');
  });

  it('changes the nodes of each member that is named, those that its filter matches, and goes on from there', async () => {
    await change(`updateOwner(input: {filter: {}, nested: {pets: {
      dogNested: {filter: {age: {lt: 5}}, set: {age: 4}, nested: {bones: {set: {chewed: true}}}},
      catNested: {remove: {age: null}}}}}) { numUids }`);
    expect(await world.data(PETS)).toEqual({
      queryDog: [
        { name: 'bob', age: 9 },
        { name: 'rex', age: 4 },
        { name: 'stray', age: 3 },
      ],
      queryCat: [{ name: 'tom', age: null }],
      queryFish: [{ name: 'nemo', age: 3 }],
    });
    expect(await world.data('{ queryBone { chewed } }')).toEqual({ queryBone: [{ chewed: true }] });
  });

  it('does so along an edge to one node', async () => {
    await change(
      'updateOwner(input: {filter: {}, nested: {favourite: {dogNested: {set: {age: 5}}, catNested: {set: {age: 7}}}}}) { numUids }',
    );
    const { queryDog, queryCat } = await world.data(PETS);
    expect([queryDog, queryCat]).toEqual([
      [
        { name: 'bob', age: 9 },
        { name: 'rex', age: 5 },
        { name: 'stray', age: 3 },
      ],
      [{ name: 'tom', age: 3 }],
    ]);
  });

  it('deletes the nodes of each member that is named, with the node', async () => {
    const gone = await change(`deleteOwner(filter: {}, cascade: {pets: {
      dogCascade: {filter: {name: {eq: "rex"}}, cascade: {bones: {}}}, catCascade: {}}}) { numUids }`);
    expect(gone).toEqual({ deleteOwner: { numUids: 4 } });
    const { queryDog, queryCat } = await world.data(PETS);
    expect([queryDog, queryCat]).toEqual([
      [
        { name: 'bob', age: 9 },
        { name: 'stray', age: 3 },
      ],
      [],
    ]);
  });

  it('asks the rules of each member', async () => {
    expect(
      await world.data(
        'mutation { updateOwner(input: {filter: {}, nested: {pets: {catNested: {set: {age: 1}}}}}) { numUids } }',
      ),
    ).toEqual({ updateOwner: { numUids: 1 } });
    expect((await world.data(PETS)).queryCat).toEqual([{ name: 'tom', age: 3 }]);
    expect(await error('deleteOwner(filter: {}, cascade: {pets: {catCascade: {}}}) { numUids }')).toMatchObject({
      extensions: { code: 'FORBIDDEN', type: 'Cat', action: 'delete' },
    });
  });

  it('refuses a step that names no member, and has none for what is not generated', async () => {
    expect(await error('deleteOwner(filter: {}, cascade: {pets: {}}) { numUids }')).toMatchObject({
      message: 'the step along pets names no member of Pet',
      extensions: { code: 'INVALID_VALUE', fix: 'Name each that is meant: dogCascade, catCascade.' },
    });
    expect(await error('deleteOwner(filter: {}, cascade: {pets: {fishCascade: {}}}) { numUids }')).toMatchObject({
      extensions: { code: 'INVALID_GRAPHQL' },
    });
  });
});
