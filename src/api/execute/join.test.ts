import { beforeEach, describe, expect, it } from 'vitest';
import { type Answer, contextOf, createWorld, type Tree, type World } from '../../../test/support/api-world.js';
import type { Transaction } from '../../graph/index.js';

const SDL = `
  type Ship { name: String! @id tons: Int @search crew: [Sailor] @hasInverse(field: ship) }
  type Sailor { code: String! @id age: Int ship: Ship }
  type Note @auth(add: { rule: "query { queryNote(filter: {public: true}) { id } }" }) {
    id: ID! text: String @search(by: [exact]) public: Boolean @search
  }
`;

describe("GraphQL in the caller's transaction", () => {
  let world: World;
  let transaction: Transaction;

  async function ask(query: string, on: Transaction = transaction): Promise<Answer> {
    const { body } = await world.api.execute({ query }, contextOf(), { transaction: on });
    return JSON.parse(body.toString('utf8')) as Answer;
  }
  async function data(query: string, on: Transaction = transaction): Promise<Record<string, Tree>> {
    const answer = await ask(query, on);
    expect(answer.errors).toBeUndefined();
    return answer.data!;
  }

  beforeEach(async () => {
    world = await createWorld(SDL);
    await world.data('mutation { addShip(input: [{name: "Tern", tons: 4, crew: [{code: "a"}]}]) { numUids } }');
    transaction = await world.graph.begin();
  });

  it('stages mutations: queries and payloads there see them, others only once it is committed', async () => {
    const { addShip } = await data(
      'mutation { addShip(input: [{name: "Auk", crew: [{code: "a"}, {code: "b"}]}]) { numUids ship { name crew { code } } } }',
    );
    expect(addShip).toEqual({ numUids: 2, ship: [{ name: 'Auk', crew: [{ code: 'a' }, { code: 'b' }] }] });
    const { updateShip } = await data(
      'mutation { updateShip(input: {filter: {name: {eq: "Auk"}}, set: {tons: 9}}) { ship { tons } } }',
    );
    expect(updateShip).toEqual({ ship: [{ tons: 9 }] });
    const fleet = '{ queryShip(order: {asc: name}) { name tons crew { code } } aggregateShip { count } }';
    const after = {
      queryShip: [
        { name: 'Auk', tons: 9, crew: [{ code: 'a' }, { code: 'b' }] },
        { name: 'Tern', tons: 4, crew: [] },
      ],
      aggregateShip: { count: 2 },
    };
    expect(await data(fleet)).toEqual(after);
    expect(await world.data(fleet)).toMatchObject({ queryShip: [{ name: 'Tern', crew: [{ code: 'a' }] }] });
    const before = world.committer.lastCommitTs;
    await transaction.commit();
    expect(world.committer.lastCommitTs).toBeGreaterThan(before);
    expect(await world.data(fleet)).toEqual(after);
  });

  it('shows what a deletion takes away, and lets go of it', async () => {
    const { deleteShip } = await data(
      'mutation { deleteShip(filter: {name: {eq: "Tern"}}) { numUids ship { name } } }',
    );
    expect(deleteShip).toEqual({ numUids: 1, ship: [{ name: 'Tern' }] });
    const sailors = '{ querySailor { code ship { name } } getShip(name: "Tern") { name } }';
    expect(await data(sailors)).toEqual({ querySailor: [{ code: 'a', ship: null }], getShip: null });
    transaction.abort();
    expect(await world.data(sailors)).toMatchObject({ getShip: { name: 'Tern' } });
  });

  it('keeps @id unique among what is staged, also of mutations at the same time', async () => {
    const add = 'mutation { addShip(input: [{name: "Auk"}]) { numUids } }';
    const answers = await Promise.all([ask(add), ask(add)]);
    expect(answers.map(({ errors }) => errors?.[0].message).filter(Boolean)).toEqual([
      expect.stringContaining('id Auk already exists for field name'),
    ]);
    await transaction.commit();
    expect(await world.data('{ aggregateShip { count } }')).toEqual({ aggregateShip: { count: 2 } });
  });

  it('one of two transactions that take the same @id, or write what both looked up, is aborted', async () => {
    const other = await world.graph.begin();
    const grow = 'mutation { updateShip(input: {filter: {tons: {eq: 4}}, set: {tons: 5}}) { numUids } }';
    await data('mutation { addShip(input: [{name: "Auk"}]) { numUids } }');
    await data('mutation { addShip(input: [{name: "Auk"}]) { numUids } }', other);
    await transaction.commit();
    await expect(other.commit()).rejects.toMatchObject({ code: 'TXN_ABORTED' });
    const [one, two] = [await world.graph.begin(), await world.graph.begin()];
    await data(grow, one);
    await data(grow, two);
    await one.commit();
    await expect(two.commit()).rejects.toMatchObject({ code: 'TXN_ABORTED' });
  });

  it('takes back what the rules refuse, and nothing else', async () => {
    const add = (text: string, shown: boolean) =>
      ask(`mutation { addNote(input: [{text: "${text}", public: ${shown}}]) { numUids } }`);
    expect((await add('first', true)).errors).toBeUndefined();
    expect((await add('secret', false)).errors).toMatchObject([{ extensions: { code: 'FORBIDDEN' } }]);
    expect((await add('second', true)).errors).toBeUndefined();
    const notes = { queryNote: [{ text: 'first' }, { text: 'second' }] };
    expect(await data('{ queryNote(order: {asc: text}) { text } }')).toEqual(notes);
    await transaction.commit();
    expect(await world.data('{ queryNote(order: {asc: text}) { text } }')).toEqual(notes);
  });

  it('throws to its owner once the transaction is over', async () => {
    transaction.abort();
    await expect(ask('{ queryShip { name } }')).rejects.toMatchObject({ code: 'TXN_FINISHED' });
    await expect(ask('mutation { addShip(input: [{name: "Auk"}]) { numUids } }')).rejects.toMatchObject({
      code: 'TXN_FINISHED',
    });
    expect((await ask('{ nonsense }')).errors).toHaveLength(1);
  });
});
