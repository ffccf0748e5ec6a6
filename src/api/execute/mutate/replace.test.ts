import { expect, it } from 'vitest';
import { createWorld } from '../../../../test/support/api-world.js';

it('an update that removes and sets a field replaces what it held, whatever of it stays', async () => {
  const world = await createWorld(
    'type Person { name: String! @id age: Int tags: [String!] friends: [Person] @hasInverse(field: friends) boss: Person }',
  );
  await world.data(`mutation { addPerson(input: [
    {name: "ann", age: 1, tags: ["a", "b"], friends: [{name: "ben"}, {name: "cat"}], boss: {name: "ben"}}]) { numUids } }`);
  const update = async (set: string, remove: string) => {
    const { updatePerson } = await world.data(`mutation {
      updatePerson(input: {filter: {name: {eq: "ann"}}, set: {${set}}, remove: {${remove}}}) {
        person { age tags friends(order: {asc: name}) { name } boss { name } } } }`);
    return updatePerson.person[0];
  };
  const held = (age: number, tags: string[], friends: string[], boss: string) => ({
    age,
    tags,
    friends: friends.map((name) => ({ name })),
    boss: { name: boss },
  });
  const set = 'age: 2, tags: ["b", "c"], friends: [{name: "cat"}, {name: "dan"}], boss: {name: "ben"}';
  expect(await update(set, 'age: null, tags: null, friends: null, boss: null')).toEqual(
    held(2, ['b', 'c'], ['cat', 'dan'], 'ben'),
  );
  expect(
    await update('tags: ["b"], friends: [{name: "cat"}]', 'tags: ["b", "c"], friends: [{name: "cat"}, {name: "dan"}]'),
  ).toEqual(held(2, ['b'], ['cat'], 'ben'));
  expect(await world.data('{ queryPerson(order: {asc: name}) { name friends { name } } }')).toEqual({
    queryPerson: [
      { name: 'ann', friends: [{ name: 'cat' }] },
      { name: 'ben', friends: [] },
      { name: 'cat', friends: [{ name: 'ann' }] },
      { name: 'dan', friends: [] },
    ],
  });
});
