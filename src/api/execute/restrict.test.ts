import { beforeEach, describe, expect, it } from 'vitest';
import { dgraphNames } from '../../base/index.js';
import type { Transaction } from '../../graph/index.js';
import { type Answer, contextOf, createWorld, type World } from '../../../test/support/api-world.js';

const SDL = `
  type Author { name: String! @id books: [Book] @hasInverse(field: author) }
  type Book { title: String! @id author: Author! @restrict notes: [Note] }
  type Note { id: ID! text: String! @id }
  type User { name: String! @id profile: Profile @hasInverse(field: user) }
  type Profile { name: String! @id user: User! @restrict }
  interface Owned { owner: Party! @restrict }
  type Firm { name: String! @id }
  type Person { name: String! @id }
  union Party = Firm | Person
  type Boat implements Owned { name: String! @id }
  type Car implements Owned { name: String! @id }
  type Category { name: String! @id parent: Category! @restrict }
`;

describe('@restrict', () => {
  let world: World;
  const ask = (text: string) => world.ask(`mutation { ${text} }`);
  const data = (text: string) => world.data(`mutation { ${text} }`);
  const refusal = ({ errors }: Answer) => errors?.map(({ message, extensions }) => ({ message, ...extensions }));

  beforeEach(async () => {
    world = await createWorld(SDL);
    await data('addAuthor(input: [{name: "ann", books: [{title: "a"}, {title: "b"}]}, {name: "ben"}]) { numUids }');
    await data('addUser(input: [{name: "u", profile: {name: "p"}}, {name: "v", profile: {name: "q"}}]) { numUids }');
  });

  it('refuses to delete what a node leads to by the edge, and says which, how many and what to do', async () => {
    expect(refusal(await ask('deleteAuthor(filter: {}) { numUids }'))).toEqual([
      {
        code: 'EDGE_RESTRICTED',
        message: 'Author cannot be deleted while Book.author leads to it (2 nodes)',
        fix: 'Delete them too (cascade: { books: {} }), or give each Book another author first.',
        type: 'Book',
        field: 'author',
        count: 2,
      },
    ]);
    expect(await world.data('{ queryAuthor(order: {asc: name}) { name books { title } } }')).toEqual({
      queryAuthor: [
        { name: 'ann', books: [{ title: 'a' }, { title: 'b' }] },
        { name: 'ben', books: [] },
      ],
    });
  });

  it('deletes what nothing leads to, and what goes with those that lead to it', async () => {
    expect(await data('deleteAuthor(filter: {name: {eq: "ben"}}) { numUids }')).toEqual({
      deleteAuthor: { numUids: 1 },
    });
    const part = 'deleteAuthor(filter: {}, cascade: {books: {filter: {title: {eq: "a"}}}}) { numUids }';
    expect(refusal(await ask(part))).toMatchObject([{ code: 'EDGE_RESTRICTED', count: 1 }]);
    const whole = 'deleteAuthor(filter: {}, cascade: {books: {}}) { numUids }';
    expect(await data(whole)).toEqual({ deleteAuthor: { numUids: 3 } });
  });

  it('lets an author go whose books have another one', async () => {
    await data('updateBook(input: {filter: {}, set: {author: {name: "ben"}}}) { numUids }');
    expect(await data('deleteAuthor(filter: {name: {eq: "ann"}}) { numUids }')).toEqual({
      deleteAuthor: { numUids: 1 },
    });
  });

  it.each([
    ['a new node takes it', 'addProfile(input: [{name: "r", user: {name: "u"}}]) { numUids }'],
    [
      'the other end is set to another node',
      'updateUser(input: {filter: {name: {eq: "u"}}, set: {profile: {name: "r", user: null}}}) { numUids }',
    ],
    ['an upsert does so', 'addUser(input: [{name: "u", profile: {name: "r"}}], upsert: true) { numUids }'],
    [
      'the holder of another one takes it',
      'updateProfile(input: {filter: {name: {eq: "q"}}, set: {user: {name: "u"}}}) { numUids }',
    ],
  ])('refuses to leave it empty where %s', async (_, text) => {
    expect(refusal(await ask(text))).toEqual([
      {
        code: 'EDGE_RESTRICTED',
        message: 'Profile.user cannot be taken over: a node would be left without it (1 node)',
        fix: 'Give each such Profile another user in the same mutation, or delete it first.',
        type: 'Profile',
        field: 'user',
        count: 1,
      },
    ]);
    expect(await world.data('{ queryProfile(order: {asc: name}) { name user { name } } }')).toEqual({
      queryProfile: [
        { name: 'p', user: { name: 'u' } },
        { name: 'q', user: { name: 'v' } },
      ],
    });
  });

  it('refuses two new nodes that take one other end from each other', async () => {
    const two = 'addProfile(input: [{name: "r", user: {name: "w"}}, {name: "s", user: {name: "w"}}]) { numUids }';
    expect(refusal(await ask(two))).toMatchObject([{ code: 'EDGE_RESTRICTED', count: 1 }]);
  });

  it('lets nodes swap their other ends, each of which is filled in the end', async () => {
    const swap =
      'addUser(input: [{name: "u", profile: {name: "q"}}, {name: "v", profile: {name: "p"}}], upsert: true) { numUids }';
    await data(swap);
    expect(await world.data('{ queryProfile(order: {asc: name}) { name user { name } } }')).toEqual({
      queryProfile: [
        { name: 'p', user: { name: 'v' } },
        { name: 'q', user: { name: 'u' } },
      ],
    });
  });

  it('holds for edges of an interface, to members of a union, without a field back', async () => {
    await data('addBoat(input: [{name: "tern", owner: {firmRef: {name: "f"}}}]) { numUids }');
    await data('addCar(input: [{name: "kart", owner: {firmRef: {name: "f"}}}]) { numUids }');
    await data('addPerson(input: [{name: "f"}]) { numUids }');
    expect(await data('deletePerson(filter: {}) { numUids }')).toEqual({ deletePerson: { numUids: 1 } });
    expect(refusal(await ask('deleteFirm(filter: {}) { numUids }'))).toMatchObject([
      {
        message: 'Firm cannot be deleted while Owned.owner leads to it (2 nodes)',
        fix: 'Delete each Owned, or give each Owned another owner first.',
      },
    ]);
  });

  it('counts nodes that the same deletion takes as gone, also where they lead to themselves', async () => {
    await data(
      'addCategory(input: [{name: "root", parent: {name: "root"}}, {name: "leaf", parent: {name: "root"}}]) { numUids }',
    );
    const root = 'deleteCategory(filter: {name: {eq: "root"}}) { numUids }';
    expect(refusal(await ask(root))).toMatchObject([{ code: 'EDGE_RESTRICTED', count: 1 }]);
    expect(await data('deleteCategory(filter: {}) { numUids }')).toEqual({ deleteCategory: { numUids: 2 } });
  });

  const DELETE = 'deleteAuthor(filter: {name: {eq: "ben"}}) { numUids }';
  const ADD = 'addBook(input: [{title: "c", author: {name: "ben"}}]) { numUids }';
  const staged = async (text: string, transaction: Transaction): Promise<Answer> => {
    const { body } = await world.api.execute({ query: `mutation { ${text} }` }, contextOf(), { transaction });
    return JSON.parse(body.toString()) as Answer;
  };

  it.each([
    ['the deletion', DELETE, ADD],
    ['the edge', ADD, DELETE],
  ])('aborts one of a deletion and an edge that is set at the same time: %s first', async (_, ...texts) => {
    const transactions = [await world.graph.begin(), await world.graph.begin()];
    for (const [i, text] of texts.entries()) expect((await staged(text, transactions[i])).errors).toBeUndefined();
    await transactions[0].commit();
    await expect(transactions[1].commit()).rejects.toMatchObject({ code: 'TXN_ABORTED' });
  });

  it('sees what the same transaction has changed', async () => {
    const transaction = await world.graph.begin();
    await staged(ADD, transaction);
    expect(refusal(await staged(DELETE, transaction))).toMatchObject([{ code: 'EDGE_RESTRICTED', count: 1 }]);
    transaction.abort();
  });

  it('does not tell how many nodes the rules of their type hide', async () => {
    const ruled = await createWorld(`
      type Author { name: String! @id }
      type Book @auth(query: {rule: "{$ROLE: {eq: \\"ADMIN\\"}}"}) { title: String! @id author: Author! @restrict }
    `);
    await ruled.ask('mutation { addBook(input: [{title: "a", author: {name: "ann"}}]) { numUids } }');
    expect(refusal(await ruled.ask('mutation { deleteAuthor(filter: {}) { numUids } }'))).toEqual([
      {
        code: 'EDGE_RESTRICTED',
        message: 'Author cannot be deleted while Book.author leads to it',
        fix: 'Delete each Book, or give each Book another author first.',
        type: 'Book',
        field: 'author',
      },
    ]);
  });

  it('leaves alone types that share the predicate and do not say it', async () => {
    const shared = await createWorld(`
      type Author { name: String! @id }
      type Book { title: String! @id author: Author! @restrict @dgraph(pred: "by") }
      type Talk { title: String! @id author: Author @dgraph(pred: "by") }
    `);
    await shared.data('mutation { addTalk(input: [{title: "a", author: {name: "ann"}}]) { numUids } }');
    expect(await shared.data('mutation { deleteAuthor(filter: {}) { numUids } }')).toEqual({
      deleteAuthor: { numUids: 1 },
    });
  });

  it('stands in the schema that is served, and says nothing under the names of the peer', async () => {
    expect(world.api.generatedAlone(SDL)).toContain('author(filter: AuthorFilter): Author! @restrict');
    expect(world.api.generatedAlone(SDL)).toContain('directive @restrict on FIELD_DEFINITION');
    const peer = await createWorld(SDL, { names: dgraphNames });
    expect(peer.api.generatedAlone(SDL)).not.toContain('restrict');
    await peer.data('mutation { addAuthor(input: [{name: "ann", books: [{title: "a"}]}]) { numUids } }');
    await peer.data('mutation { addUser(input: [{name: "u", profile: {name: "p"}}]) { numUids } }');
    await peer.data('mutation { deleteAuthor(filter: {}) { numUids } }');
    await peer.data('mutation { addProfile(input: [{name: "r", user: {name: "u"}}]) { numUids } }');
  });
});
