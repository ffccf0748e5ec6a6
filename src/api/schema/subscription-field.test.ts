import { expect, it } from 'vitest';
import { createWorld } from '../../../test/support/api-world.js';

const SDL = 'type Live @withSubscription { name: String! }';

it.each([
  ['skip', '{ queryLive @skip(if: $no) { name } }'],
  ['include', '{ queryLive @include(if: false) { name } }'],
  ['include', '{ queryLive @include(if: $no) { name } other: aggregateLive @include(if: true) { count } }'],
  ['include', '{ ... @include(if: $no) { queryLive { name } } }'],
  ['skip', '{ ...All @skip(if: $no) } fragment All on Subscription { queryLive { name } }'],
  ['skip', '{ ...All } fragment All on Subscription { ... { queryLive @skip(if: $no) { name } } }'],
])('refuses @%s where it would decide whether a subscription has its field: %s', async (name, text) => {
  const { ask } = await createWorld(SDL);
  const { errors } = await ask(`subscription ($no: Boolean = false) ${text}`, { no: false });
  const told = {
    message: `@${name} may not stand at the field of a subscription`,
    extensions: { code: 'INVALID_GRAPHQL', fix: expect.stringMatching(/^Subscribe when it is wanted/) },
  };
  expect(errors?.[0]).toMatchObject(told);
});

it.each([
  ['two fields', '{ queryLive { name } aggregateLive { count } }', 'must select only one top level field'],
  [
    'a fragment that holds itself',
    '{ ...A } fragment A on Subscription { queryLive { name } ...A }',
    'spread fragment "A" within itself',
  ],
  ['a condition below the field', '{ queryLive { name @skip(if: true) } }', 'a subscription needs a stream'],
])('leaves %s to what follows', async (_, text, message) => {
  const { ask } = await createWorld(SDL);
  const { errors } = await ask(`subscription ${text}`);
  expect(errors?.[0].message).toContain(message);
});
