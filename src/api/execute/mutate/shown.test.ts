import { beforeEach, describe, expect, it } from 'vitest';
import { createWorld, type World } from '../../../../test/support/api-world.js';

const SDL = `
  type Person { name: String! @id motto: String @search(by: [regexp]) home: Point @search friends: [Person] boss: Person }`;

describe('a mutation whose payload cannot be asked for', () => {
  let world: World;
  beforeEach(async () => {
    world = await createWorld(SDL);
    await world.data('mutation { addPerson(input: [{name: "ann"}]) { numUids } }');
  });

  const near = 'near: {distance: -1, coordinate: {longitude: 1, latitude: 1}}';
  const outside = 'near: {distance: 1, coordinate: {longitude: 1, latitude: 91}}';
  it.each([
    ['(filter: {motto: {regexp: "a.*"}}) { name }', 'regexp "a.*" is not written between slashes'],
    ['(filter: {motto: {regexp: "/(/"}}) { name }', 'invalid pattern /(/'],
    ['{ friends { friends(filter: {motto: {regexp: "/(/"}}) { name } } }', 'invalid pattern /(/'],
    [
      '{ ...F } } } fragment F on Person { friendsAggregate(filter: {motto: {regexp: "/(/"}}) { count ',
      'invalid pattern',
    ],
    [`(filter: {home: {${near}}}) { name }`, 'a distance that is no less than 0'],
    [`(filter: {friends: {home: {${outside}}}}) { name }`, 'outside the globe'],
    ['(order: {asc: name, desc: motto}) { name }', 'has asc and desc side by side'],
    ['{ friends(order: {asc: name, boss: {asc: name}}) { name } }', 'has asc and boss side by side'],
  ])('changes nothing: %s', async (asked, message) => {
    for (const mutation of [
      'addPerson(input: [{name: "ben"}])',
      'addPerson(input: [{name: "ann", motto: "new"}], upsert: true)',
      'updatePerson(input: {filter: {}, set: {motto: "new"}})',
    ]) {
      const { data, errors } = await world.ask(`mutation { ${mutation} { numUids person ${asked} } }`);
      expect(Object.values(data ?? {})).toEqual([null]);
      expect(errors?.map((error) => error.message)).toEqual([expect.stringContaining(message)]);
    }
    expect(await world.data('{ queryPerson { name motto } }')).toEqual({ queryPerson: [{ name: 'ann', motto: null }] });
  });

  it('and one that can goes through, whatever its arguments', async () => {
    const { addPerson } = await world.data(
      `mutation ($f: PersonFilter) { addPerson(input: [{name: "ben", boss: {name: "ann"}, friends: [{name: "ann"}, {name: "cat"}]}]) {
        person(filter: $f) { name friends(order: {boss: {asc: name}, then: {desc: name}}, filter: {not: {boss: {}}}) { name } } } }`,
      { f: { name: { eq: 'ben' } } },
    );
    expect(addPerson.person).toEqual([{ name: 'ben', friends: [{ name: 'cat' }, { name: 'ann' }] }]);
  });
});
