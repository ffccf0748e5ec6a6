import { expect, it } from 'vitest';
import { createWorld } from '../../test/support/api-world.js';

it('says that there is no schema before the first upload', async () => {
  const world = await createWorld();
  const answer = await world.ask('{ queryThing { id } }');
  expect(answer.errors?.[0].message).toMatch(/no GraphQL schema/);
  expect(world.api.current()).toBeUndefined();
});
