import { beforeEach, describe, expect, it, vi } from 'vitest';
import { defaultNames, dgraphNames } from '../../base/index.js';
import { type Answer, contextOf, createWorld, type Tree, type World } from '../../../test/support/api-world.js';

const SDL = `
  interface Member { code: String! @id(interface: true) name: String! }
  type Crew implements Member { boat: Boat @hasInverse(field: crew) role: String }
  type Guest implements Member { seat: Int }
  type Boat {
    id: ID!
    name: String! @id
    nick: String @id
    length: Float @default(add: {value: "9.5"}, update: {value: "10.5"})
    built: DateTime @default(add: {value: "$now"})
    flags: [String]
    crew: [Crew]
    captain: Crew
    berth: Berth @hasInverse(field: boat)
    logs: [Log] @hasInverse(field: boat)
    port: Port
  }
  type Berth { number: Int! @id boat: Boat }
  type Log { id: ID! text: String! @search(by: [term]) boat: Boat! notes: [Note] @hasInverse(field: log) }
  type Note { id: ID! text: String @search(by: [term]) log: Log }
  type Watch { hours: Int! @default(add: {value: "4"}) note: String @default(add: {value: "calm"}) }
  type Port @secret(field: "key") { name: String! @id berths: [Berth] }
  type Book {
    title: String @id
    isbn: String @id
    pages: Int
    next: Book
    tags: [String]
    shelf: String @default(update: {value: "new"})
  }
`;

describe('mutations', () => {
  let world: World;
  const ask = (text: string, variables?: object) => world.ask(text, variables);
  const data = (text: string, variables?: object) => world.data(text, variables);
  const message = async (text: string): Promise<string> => (await ask(text)).errors?.[0].message ?? '';

  beforeEach(async () => {
    world = await createWorld(SDL, { clock: { wall: () => 1_700_000_000_000, monotonic: () => performance.now() } });
  });

  it.each([
    ['a mutation counts what it wrote', 'mutation { addBoat(input: [{name: "a"}, {name: "b"}]) { numUids } }', 2],
    [
      'an update counts what it changed',
      'mutation { updateBoat(input: {filter: {}, set: {length: 2.5}}) { numUids } }',
      1,
    ],
    ['a query counts what it found, though it shows nothing of it', '{ queryBoat { __typename } }', 1],
    ['an aggregate counts what it found', '{ aggregateBoat { count } }', 1],
  ])('%s', async (_, text, least) => {
    await data('mutation { addBoat(input: [{name: "Tern"}]) { numUids } }');
    const { body } = await world.api.execute({ query: text }, contextOf());
    expect(JSON.parse(body.toString()).extensions.touched_uids).toBeGreaterThanOrEqual(least);
  });

  it('adds a tree of nodes with defaults, and keeps both ends of every edge', async () => {
    const { addBoat } = await data(`mutation { addBoat(input: [{name: "Tern", flags: ["a", "b"],
      crew: [{code: "c1", name: "Ida"}], berth: {number: 4}, logs: [{text: "first day"}]}]) {
        numUids boat { name length built flags crew { name boat { name } } berth { number boat { name } } logs { text boat { name } } } } }`);
    expect(addBoat.numUids).toBe(4);
    expect(addBoat.boat).toEqual([
      {
        name: 'Tern',
        length: 9.5,
        built: '2023-11-14T22:13:20Z',
        flags: ['a', 'b'],
        crew: [{ name: 'Ida', boat: { name: 'Tern' } }],
        berth: { number: 4, boat: { name: 'Tern' } },
        logs: [{ text: 'first day', boat: { name: 'Tern' } }],
      },
    ]);
  });

  it('moves a node: single edges let go of what they held, on both sides', async () => {
    await data(
      `mutation { addBoat(input: [{name: "A", berth: {number: 1}, crew: [{code: "x", name: "X"}]}, {name: "B", berth: {number: 2}}]) { numUids } }`,
    );
    await data(
      'mutation { updateBoat(input: {filter: {name: {eq: "B"}}, set: {berth: {number: 1}, crew: [{code: "x"}]}}) { numUids } }',
    );
    const { queryBoat, queryBerth } = await data(
      '{ queryBoat { name berth { number } crew { code } } queryBerth { number boat { name } } }',
    );
    expect(queryBoat).toEqual([
      { name: 'A', berth: null, crew: [] },
      { name: 'B', berth: { number: 1 }, crew: [{ code: 'x' }] },
    ]);
    expect(queryBerth).toEqual([
      { number: 1, boat: { name: 'B' } },
      { number: 2, boat: null },
    ]);
  });

  it('refuses an @id that is taken, on itself and across an interface', async () => {
    await data(
      'mutation { addBoat(input: [{name: "A", nick: "a"}]) { numUids } addGuest(input: [{code: "g", name: "G"}]) { numUids } }',
    );
    expect(await message('mutation { addBoat(input: [{name: "A"}]) { numUids } }')).toMatch(
      /id A already exists for field name/,
    );
    expect(await message('mutation { addBoat(input: [{name: "Z", nick: "a"}]) { numUids } }')).toMatch(
      /id a already exists for field nick/,
    );
    expect(await message('mutation { addCrew(input: [{code: "g", name: "C"}]) { numUids } }')).toMatch(
      /other implementing type of interface Member/,
    );
    expect(await message('mutation { addBoat(input: [{name: ""}]) { numUids } }')).toMatch(/empty value/);
  });

  it('tells what can be done about an @id that is taken, and about one that several nodes have', async () => {
    const town = await createWorld('type Tool { name: String! @search(by: [hash]) weight: Int }');
    const fixOf = async (text: string) => (await town.ask(text)).errors?.map(({ extensions }) => extensions);
    await town.data(
      'mutation { addTool(input: [{name: "axe"}, {name: "axe"}, {name: "saw"}, {name: "awl"}]) { numUids } }',
    );
    await town.api.updateSchema('type Tool { name: String! @id weight: Int }');
    const other = 'Choose another value';
    expect(await fixOf('mutation { addTool(input: [{name: "saw"}]) { numUids } }')).toEqual([
      { code: 'UNIQUE_VIOLATION', fix: `${other}, or send upsert: true to change the node that is there.` },
    ]);
    const rename = 'updateTool(input: {filter: {name: {eq: "awl"}}, set: {name: "saw"}}) { numUids }';
    expect(await fixOf(`mutation { ${rename} }`)).toEqual([{ code: 'UNIQUE_VIOLATION', fix: `${other}.` }]);
    const twice = await fixOf('mutation { addTool(input: [{name: "axe", weight: 1}], upsert: true) { numUids } }');
    const fix =
      'Several nodes of Tool have the name axe: look at them with queryTool, and give each a value of its own.';
    expect(twice).toEqual([{ code: 'UNIQUE_VIOLATION', fix }]);
  });

  it('upserts by @id: what is there is changed, what is not is added', async () => {
    const text =
      'mutation ($in: [AddBoatInput!]!) { addBoat(input: $in, upsert: true) { numUids boat { name length flags } } }';
    await data(text, { in: [{ name: 'A', flags: ['x'] }] });
    const { addBoat } = await data(text, {
      in: [
        { name: 'A', flags: ['y'] },
        { name: 'B', length: 2 },
      ],
    });
    expect(addBoat).toEqual({
      numUids: 2,
      boat: [
        { name: 'A', length: 10.5, flags: ['x', 'y'] },
        { name: 'B', length: 2, flags: [] },
      ],
    });
    expect((await data('{ aggregateBoat { count } }')).aggregateBoat).toEqual({ count: 2 });
  });

  it('upserts an object whose node an object before it refers to', async () => {
    await data('mutation { addBoat(input: [{name: "A"}]) { numUids } }');
    const { addBoat } = await data(`mutation { addBoat(upsert: true, input: [
      {name: "B", port: {name: "P", berths: [{number: 1, boat: {name: "A"}}]}}, {name: "A", length: 3}
    ]) { numUids boat { name length berth { number } } } }`);
    expect(addBoat.numUids).toBe(4);
    expect(addBoat.boat).toEqual([
      { name: 'A', length: 3, berth: { number: 1 } },
      { name: 'B', length: 9.5, berth: null },
    ]);
  });

  it('takes one node that is named several times as one, in any order', async () => {
    await data(`mutation { addBoat(input: [
      {name: "A", captain: {code: "k"}, crew: [{code: "k", name: "Kit"}]}, {name: "B", captain: {code: "k"}}]) { numUids } }`);
    const { queryBoat, queryCrew } = await data('{ queryBoat { captain { name } } queryCrew { name } }');
    expect(queryCrew).toHaveLength(1);
    expect(queryBoat).toEqual([{ captain: { name: 'Kit' } }, { captain: { name: 'Kit' } }]);
    const twice = await message(
      'mutation { addBoat(input: [{name: "C", crew: [{code: "z", name: "1"}]}, {name: "D", crew: [{code: "z", name: "2"}]}]) { numUids } }',
    );
    expect(twice).toMatch(/duplicate XID found: z/);
  });

  it.each([
    ['before', '{name: "A"}', '{name: "A", nick: "a"}'],
    ['behind', '{name: "A", nick: "a"}', '{name: "A"}'],
    ['behind, beside a whole object', '{name: "A", length: 2}', '{name: "A", nick: "a"}'],
    ['before a whole object', '{name: "A", nick: "a"}', '{name: "A", length: 2}'],
  ])('keeps the @id value that only one of two objects of a node gives: %s', async (_, first, second) => {
    await data(`mutation { addPort(input: [{name: "P", key: "secret", berths: [
      {number: 1, boat: {name: "B", port: {name: "Q", berths: [{number: 2, boat: ${first}}]}}},
      {number: 3, boat: {name: "C", port: {name: "R", berths: [{number: 4, boat: ${second}}]}}}
    ]}]) { numUids } }`);
    expect((await data('{ getBoat(nick: "a") { name } }')).getBoat).toEqual({ name: 'A' });
  });

  it('writes upserted objects that name one node by different @ids as one', async () => {
    await data('mutation { addBook(input: [{title: "T", isbn: "I"}]) { numUids } }');
    const { addBook } = await data(`mutation { addBook(upsert: true, input: [
      {title: "T", pages: 3, shelf: "old", tags: ["x"]}, {isbn: "I", pages: 3, tags: ["y"], next: {title: "U"}}
    ]) { numUids book { title isbn pages shelf tags next { title } } } }`);
    expect(addBook).toEqual({
      numUids: 2,
      book: [{ title: 'T', isbn: 'I', pages: 3, shelf: 'old', tags: ['x', 'y'], next: { title: 'U' } }],
    });
  });

  it('refuses upserted objects that give one node two values', async () => {
    await data('mutation { addBook(input: [{title: "T", isbn: "I"}]) { numUids } }');
    for (const [first, second] of [
      ['title: "T", pages: 1', 'isbn: "I", pages: 2'],
      ['title: "T"', 'isbn: "I", title: "U"'],
      ['title: "T", next: {title: "V"}', 'isbn: "I", next: {title: "W"}'],
    ]) {
      const text = `mutation { addBook(upsert: true, input: [{${first}}, {${second}}]) { numUids } }`;
      expect(await message(text)).toMatch(/two objects of the input are one Book/);
    }
    expect((await data('{ queryBook { title isbn pages } }')).queryBook).toEqual([
      { title: 'T', isbn: 'I', pages: null },
    ]);
  });

  it('takes null beside a value of the same node for a second value, or for nothing as the peer does', async () => {
    const ask = async (names: typeof dgraphNames): Promise<unknown> => {
      const library = await createWorld('type Book { title: String @id isbn: String @id pages: Int }', { names });
      await library.data('mutation { addBook(input: [{title: "T", isbn: "I"}]) { numUids } }');
      const text = `mutation { addBook(upsert: true, input: [{title: "T", pages: null}, {isbn: "I", pages: 2}]) {
        book { pages } } }`;
      const { data, errors } = await library.ask(text);
      return errors?.[0].extensions?.code ?? data;
    };
    expect(await ask(defaultNames)).toBe('INVALID_VALUE');
    expect(await ask(dgraphNames)).toEqual({ addBook: { book: [{ pages: 2 }] } });
  });

  it('refers to nodes by id, and says what a new one lacks', async () => {
    expect(await message('mutation { addBoat(input: [{name: "A", captain: {code: "new"}}]) { numUids } }')).toMatch(
      /type Crew requires a value for field name/,
    );
    expect(await message('mutation { addNote(input: [{log: {id: "0x999"}}]) { numUids } }')).toMatch(
      /ID "0x999" isn't a Log/,
    );
    expect(await message('mutation { addNote(input: [{log: {id: "soon"}}]) { numUids } }')).toMatch(/\(soon\)/);
    expect(await data('{ aggregateBoat { count } aggregateNote { count } }')).toEqual({
      aggregateBoat: { count: 0 },
      aggregateNote: { count: 0 },
    });
  });

  it('sets and removes values, members of lists, and edges', async () => {
    await data(
      'mutation { addBoat(input: [{name: "A", nick: "a", flags: ["x", "y"], crew: [{code: "1", name: "I"}, {code: "2", name: "II"}]}]) { numUids } }',
    );
    const { updateBoat } = await data(`mutation { updateBoat(input: {filter: {name: {eq: "A"}},
      set: {length: 3, flags: ["z"]}, remove: {nick: null, flags: ["x", "other"], crew: [{code: "2"}]}}) {
        numUids boat { nick length flags crew { code } } } }`);
    expect(updateBoat).toEqual({
      numUids: 1,
      boat: [{ nick: null, length: 3, flags: ['y', 'z'], crew: [{ code: '1' }] }],
    });
    expect((await data('{ getCrew(code: "2") { boat { name } } }')).getCrew).toEqual({ boat: null });
    const stays = await data(
      'mutation { updateBoat(input: {filter: {name: {eq: "A"}}, remove: {length: 4}}) { boat { length } } }',
    );
    expect(stays.updateBoat).toEqual({ boat: [{ length: 3 }] });
  });

  it('counts what an empty update matches, where the peer leaves all alone', async () => {
    const sdl = 'type Town { code: String! @id name: String touched: String @default(update: {value: "yes"}) }';
    const ask = async (given: string, names?: typeof dgraphNames): Promise<unknown> => {
      const town = await createWorld(sdl, names ? { names } : {});
      await town.data('mutation { addTown(input: [{code: "x"}]) { numUids } }');
      const { updateTown } = await town.data(
        `mutation { updateTown(input: {filter: {}${given}}) { numUids town { code touched } } }`,
      );
      return updateTown;
    };
    for (const given of ['', ', set: {}', ', remove: {}', ', set: null, remove: {}']) {
      expect(await ask(given)).toMatchObject({ numUids: 1 });
      expect(await ask(given, dgraphNames)).toEqual({ numUids: 0, town: [] });
    }
    const set = await ask(', set: {name: null}', dgraphNames);
    expect(set).toEqual({ numUids: 1, town: [{ code: 'x', touched: 'yes' }] });
  });

  it('fills in what an update fills in where it only removes, but for what is removed', async () => {
    const sdl = `type Town { code: String! @id name: String touched: String @default(update: {value: "yes"}) }`;
    const ask = async (remove: string, names?: typeof dgraphNames): Promise<unknown> => {
      const town = await createWorld(sdl, names ? { names } : {});
      await town.data('mutation { addTown(input: [{code: "x", name: "n", touched: "no"}]) { numUids } }');
      await town.data(`mutation { updateTown(input: {filter: {}, remove: {${remove}}}) { numUids } }`);
      return (await town.data('{ getTown(code: "x") { name touched } }')).getTown;
    };
    expect(await ask('name: "n"')).toEqual({ name: null, touched: 'yes' });
    expect(await ask('name: "n"', dgraphNames)).toEqual({ name: null, touched: 'no' });
    expect(await ask('name: "n", touched: null')).toEqual({ name: null, touched: null });
  });

  it.each([
    [
      'an object of two values between two others',
      'addBook(input: [{title: "T"}, {isbn: "I"}, {title: "T", isbn: "I", pages: 9}])',
    ],
    [
      'a node made under the one that takes it',
      'updateBook(input: {filter: {title: {eq: "A"}}, set: {title: "T", next: {title: "T", pages: 9}}})',
    ],
    [
      'nodes of two levels of an update',
      'updateBook(input: {filter: {title: {eq: "A"}}, set: {isbn: "I"}, nested: {next: {set: {isbn: "I"}}}})',
    ],
  ])('gives one @id value to one node of a mutation: %s', async (_, mutation) => {
    await data('mutation { addBook(input: [{title: "A", next: {title: "B"}}]) { numUids } }');
    expect(await message(`mutation { ${mutation} { numUids } }`)).toMatch(/duplicate XID found: [TI]$/);
    expect((await data('{ queryBook(order: {asc: title}) { title isbn } }')).queryBook).toEqual([
      { title: 'A', isbn: null },
      { title: 'B', isbn: null },
    ]);
  });

  it('changes an @id of one node only, and only to one that is free', async () => {
    await data('mutation { addBoat(input: [{name: "A"}, {name: "B"}]) { numUids } }');
    expect(
      await message('mutation { updateBoat(input: {filter: {name: {in: ["A", "B"]}}, set: {nick: "n"}}) { numUids } }'),
    ).toMatch(/only one node/);
    expect(
      await message('mutation { updateBoat(input: {filter: {name: {eq: "A"}}, set: {name: "B"}}) { numUids } }'),
    ).toMatch(/id B already exists/);
    expect(
      (await data('mutation { updateBoat(input: {filter: {name: {eq: "A"}}, set: {name: "C"}}) { boat { name } } }'))
        .updateBoat,
    ).toEqual({ boat: [{ name: 'C' }] });
  });

  it('updates nodes behind edges in the same mutation', async () => {
    await data(
      'mutation { addBoat(input: [{name: "A", logs: [{text: "fair wind"}, {text: "no wind"}]}]) { numUids } }',
    );
    await data(`mutation { updateBoat(input: {filter: {name: {eq: "A"}},
      nested: {logs: {filter: {text: {anyofterms: "fair"}}, set: {text: "strong wind"}}}}) { numUids } }`);
    const { queryLog } = await data('{ queryLog { text } }');
    expect(queryLog.map((log: Tree) => String(log.text))).toEqual(['strong wind', 'no wind']);
  });

  it('deletes nodes with every edge to them, and what cascade names', async () => {
    await data(
      'mutation { addBoat(input: [{name: "A", port: {name: "P"}, berth: {number: 1}, crew: [{code: "1", name: "I"}], logs: [{text: "t", notes: [{text: "n"}, {text: "keep"}]}]}]) { numUids } }',
    );
    const { deleteBoat } = await data(`mutation { deleteBoat(filter: {name: {eq: "A"}},
      cascade: {logs: {cascade: {notes: {filter: {text: {anyofterms: "n"}}}}}}) { msg numUids boat { name logs { text } } } }`);
    expect(deleteBoat).toEqual({ msg: 'Deleted', numUids: 3, boat: [{ name: 'A', logs: [{ text: 't' }] }] });
    expect(
      await data(
        '{ queryBoat { name } queryLog { text } queryNote { text log { id } } queryCrew { boat { name } } queryBerth { boat { name } } }',
      ),
    ).toEqual({
      queryBoat: [],
      queryLog: [],
      queryNote: [{ text: 'keep', log: null }],
      queryCrew: [{ boat: null }],
      queryBerth: [{ boat: null }],
    });
    expect((await data('mutation { deleteBoat(filter: {name: {eq: "A"}}) { msg numUids } }')).deleteBoat).toEqual({
      msg: 'No nodes were deleted',
      numUids: 0,
    });
  });

  it('removes no value that its type requires, where the peer does', async () => {
    const add = 'mutation { addBoat(input: [{name: "A", logs: [{text: "t"}]}]) { numUids } }';
    const removals = ['name: null', 'name: "A"'].map(
      (gone) => `mutation { updateBoat(input: {filter: {}, remove: {${gone}}}) { numUids } }`,
    );
    const nested = 'mutation { updateBoat(input: {filter: {}, nested: {logs: {remove: {text: null}}}}) { numUids } }';
    await data(add);
    for (const removal of [...removals, nested]) {
      expect((await ask(removal)).errors).toMatchObject([
        { message: expect.stringMatching(/^remove cannot take (name|text) away: type (Boat|Log) requires it$/) },
      ]);
    }
    expect((await data('{ queryBoat { name logs { text } } }')).queryBoat).toEqual([
      { name: 'A', logs: [{ text: 't' }] },
    ]);
    const peer = await createWorld(SDL, { names: dgraphNames });
    await peer.data(add);
    for (const removal of removals) expect((await peer.ask(removal)).errors).toBeUndefined();
  });

  it('takes no edge away that the node at its other end requires', async () => {
    const sdl = `
      type Author { name: String! @id posts: [Post] @hasInverse(field: author) drafts: [Post] @hasInverse(field: editor) }
      type Post { title: String! @id author: Author! editor: Author }`;
    const town = await createWorld(sdl);
    const post = '{title: "t", author: {name: "a"}, editor: {name: "a"}}';
    await town.data(`mutation { addPost(input: [${post}]) { numUids } }`);
    const remove = (edges: string) =>
      town.ask(`mutation { updateAuthor(input: {filter: {}, remove: {${edges}}}) { numUids } }`);
    for (const edges of ['posts: [{title: "t"}]', 'posts: null']) {
      expect((await remove(edges)).errors).toMatchObject([
        { message: 'remove cannot take posts away: type Post requires author', extensions: { code: 'INVALID_VALUE' } },
      ]);
    }
    for (const edges of ['posts: []', 'drafts: [{title: "t"}]']) expect((await remove(edges)).errors).toBeUndefined();
    const posts = await town.data('{ queryPost { author { name } editor { name } } }');
    expect(posts.queryPost).toEqual([{ author: { name: 'a' }, editor: null }]);
  });

  it('holds nodes of a type to what it requires of its interface, also where they are reached by the interface', async () => {
    const town = await createWorld(`
      interface Work { code: String! @id(interface: true) text: String by: Author }
      type Novel implements Work { text: String! by: Author! }
      type Note implements Work { size: Int }
      type Author { name: String! @id works: [Work] @hasInverse(field: by) }`);
    const lacking = await town.ask('mutation { addNovel(input: [{code: "x", by: {name: "ann"}}]) { numUids } }');
    expect(lacking.errors?.[0].message).toMatch(/AddNovelInput.text" of required type "String!" was not provided/);
    await town.data(`mutation {
      addNovel(input: [{code: "novel", text: "long", by: {name: "ann"}}]) { numUids }
      addNote(input: [{code: "note", text: "short", by: {name: "ann"}}]) { numUids } }`);
    const update = (type: string, where: string, what: string) =>
      town.ask(`mutation { update${type}(input: {filter: ${where}, ${what}}) { numUids } }`);
    const works = 'nested: {works: {filter: {code: {eq: "novel"}}, remove: {text: null}}}';
    for (const [type, where, what, requiring] of [
      ['Novel', '{}', 'remove: {text: null}', 'Novel requires it'],
      ['Work', '{}', 'remove: {text: null}', 'Novel requires it'],
      ['Work', '{code: {eq: "novel"}}', 'remove: {by: {name: "ann"}}', 'Novel requires it'],
      ['Author', '{}', works, 'Novel requires it'],
      ['Author', '{}', 'remove: {works: null}', 'Novel requires by'],
      ['Author', '{}', 'remove: {works: [{code: "note"}, {code: "novel"}]}', 'Novel requires by'],
    ]) {
      const { errors } = await update(type, where, what);
      expect(errors?.[0].message).toMatch(new RegExp(`^remove cannot take (text|by|works) away: type ${requiring}$`));
    }
    expect(await town.data('{ queryWork(order: {asc: code}) { text by { name } } }')).toEqual({
      queryWork: [
        { text: 'short', by: { name: 'ann' } },
        { text: 'long', by: { name: 'ann' } },
      ],
    });
    for (const [type, where, what] of [
      ['Author', '{}', 'remove: {works: [{code: "note"}]}'],
      ['Work', '{code: {eq: "note"}}', 'remove: {text: null}'],
    ]) {
      expect((await update(type, where, what)).errors).toBeUndefined();
    }
    expect(await town.data('{ queryWork(order: {asc: code}) { text by { name } } }')).toEqual({
      queryWork: [
        { text: null, by: null },
        { text: 'long', by: { name: 'ann' } },
      ],
    });
  });

  it('gives fields of its own type their defaults where a node is updated by its interface, which the peer does not', async () => {
    const sdl = `
      interface Work { code: String! @id(interface: true) text: String seen: String @default(update: {value: "seen"}) }
      type Novel implements Work { changed: DateTime @default(update: {value: "$now"}) note: String @default(add: {value: "new"}) }
      type Poem implements Work { lines: Int }
      type Shelf { name: String! @id works: [Work] }`;
    const shown: unknown[] = [];
    for (const names of [defaultNames, dgraphNames]) {
      const town = await createWorld(sdl, { names, clock: { wall: () => 1_700_000_000_000, monotonic: () => 0 } });
      await town.data(`mutation {
        addNovel(input: [{code: "a"}, {code: "b", seen: "no"}]) { numUids } addPoem(input: [{code: "c"}]) { numUids }
        addShelf(input: [{name: "s", works: [{code: "b"}]}]) { numUids } }`);
      await town.data(
        'mutation { updateWork(input: {filter: {code: {in: ["a", "c"]}}, set: {text: "t"}}) { numUids } }',
      );
      if (names === defaultNames) {
        await town.data(
          'mutation { updateShelf(input: {filter: {}, nested: {works: {remove: {seen: "no"}}}}) { numUids } }',
        );
      }
      const query =
        '{ queryWork(order: {asc: code}) { text seen ... on Novel { changed note } ... on Poem { lines } } }';
      shown.push((await town.data(query)).queryWork);
    }
    const changed = '2023-11-14T22:13:20Z';
    expect(shown).toEqual([
      [
        { text: 't', seen: 'seen', changed, note: 'new' },
        { text: null, seen: null, changed, note: 'new' },
        { text: 't', seen: 'seen', lines: null },
      ],
      [
        { text: 't', seen: 'seen', changed: null, note: 'new' },
        { text: null, seen: 'no', changed: null, note: 'new' },
        { text: 't', seen: 'seen', lines: null },
      ],
    ]);
  });

  it('takes away a value without a tag, and leaves those in the languages of other fields, where the peer does not', async () => {
    const sdl = `type Word { key: String! @id plain: String @dgraph(pred: "text") en: String @dgraph(pred: "text@en") @search(by: [exact]) de: String @dgraph(pred: "text@de") }`;
    const shown: unknown[] = [];
    for (const names of [defaultNames, dgraphNames]) {
      const town = await createWorld(sdl, { names });
      await town.data('mutation { addWord(input: [{key: "a", plain: "x", en: "one", de: "eins"}]) { numUids } }');
      await town.data('mutation { updateWord(input: {filter: {}, remove: {plain: null, de: null}}) { numUids } }');
      shown.push((await town.data('{ queryWord { plain en de } }')).queryWord);
      shown.push((await town.data('{ queryWord(filter: {en: {eq: "one"}}) { key } }')).queryWord);
    }
    const gone = { plain: null, en: null, de: null };
    expect(shown).toEqual([[{ ...gone, en: 'one' }], [{ key: 'a' }], [gone], []]);
  });

  it('names a node of an interface by any of its @id values, where the peer takes the first alone', async () => {
    const sdl = `
      interface Work { code: String! @id(interface: true) isbn: String @id(interface: true) tag: String @id }
      type Novel implements Work { pages: Int }
      type Comic implements Work { issue: Int }
      type Shelf { name: String! @id works: [Work] }`;
    const add = `mutation {
      addNovel(input: [{code: "n", isbn: "1", tag: "t"}, {code: "m", isbn: "2", tag: "u"}]) { numUids }
      addComic(input: [{code: "c", isbn: "3", tag: "t"}]) { numUids } }`;
    const shelve = (works: string) =>
      `mutation { addShelf(input: [{name: "s", works: [${works}]}]) { shelf { works(order: {asc: code}) { code } } } }`;
    const shop = await createWorld(sdl);
    await shop.data(add);
    const { addShelf } = await shop.data(shelve('{code: "n"}, {isbn: "3"}, {tag: "u"}').replace('"s"', '"first"'));
    expect(addShelf.shelf).toEqual([{ works: [{ code: 'c' }, { code: 'm' }, { code: 'n' }] }]);
    const refusals = ['{tag: "t"}', '{isbn: "9"}', '{}', '{code: "n", isbn: "3"}'];
    const codes = [];
    for (const works of refusals) codes.push((await shop.ask(shelve(works))).errors?.[0].extensions.code);
    expect(codes).toEqual(['UNIQUE_VIOLATION', 'INVALID_VALUE', 'INVALID_VALUE', 'UNIQUE_VIOLATION']);
    const peer = await createWorld(sdl, { names: dgraphNames });
    await peer.data(add);
    expect((await peer.ask(shelve('{isbn: "3"}'))).errors?.[0].message).toMatch(/required type "String!"/);
  });

  it.each([
    ['deletion', 0],
    ['edge', 1],
  ])('sets no edge to a node that is deleted at the same time: %s first', async (_, first) => {
    await data(
      'mutation { addCrew(input: [{code: "1", name: "I"}]) { numUids } addBoat(input: [{name: "A"}, {name: "B"}, {name: "C"}]) { numUids } }',
    );
    const link = (boat: string) =>
      `mutation { updateBoat(input: {filter: {name: {eq: "${boat}"}}, set: {captain: {code: "1"}}}) { numUids } }`;
    const begun = async (query: string) => {
      const transaction = await world.graph.begin();
      await world.api.execute({ query }, contextOf(), { transaction });
      return transaction;
    };
    // two that lead to one node do not meet
    const [one, other] = [await begun(link('A')), await begun(link('B'))];
    await one.commit();
    await other.commit();
    const both = [await begun('mutation { deleteCrew(filter: {}) { numUids } }'), await begun(link('C'))];
    await both[first].commit();
    await expect(both[1 - first].commit()).rejects.toMatchObject({ code: 'TXN_ABORTED' });
  });

  it('checks passwords without ever showing them', async () => {
    await data('mutation { addPort(input: [{name: "P", key: "open sesame"}]) { numUids } }');
    expect(
      await data(
        '{ yes: checkPortPassword(name: "P", key: "open sesame") { name } no: checkPortPassword(name: "P", key: "closed") { name } }',
      ),
    ).toEqual({ yes: { name: 'P' }, no: null });
  });

  it('refuses a number that is larger than any, wherever it stands', async () => {
    const far = await createWorld('type Star { size: Float at: Point sizes: [Float] }');
    for (const input of ['{size: 1e309}', '{sizes: [1, -1e309]}', '{at: {latitude: 1e400, longitude: 0}}']) {
      const answer = await far.ask(`mutation { addStar(input: [${input}]) { numUids } }`);
      expect(answer.errors?.[0].extensions.code).toBe('INVALID_GRAPHQL');
    }
    expect(await far.data('{ aggregateStar { count } }')).toEqual({ aggregateStar: { count: 0 } });
  });

  it('takes a password away by null', async () => {
    await data('mutation { addPort(input: [{name: "P", key: "open sesame"}]) { numUids } }');
    await data('mutation { updatePort(input: {filter: {name: {eq: "P"}}, remove: {key: null}}) { numUids } }');
    expect(await data('{ checkPortPassword(name: "P", key: "open sesame") { name } }')).toEqual({
      checkPortPassword: null,
    });
  });

  it('counts a node once that two objects of an upsert name, each by another @id', async () => {
    await data('mutation { addBook(input: [{title: "t", isbn: "i"}]) { numUids } }');
    const two = '{title: "t", pages: 5}, {isbn: "i", next: {title: "u"}}';
    expect(
      await data(`mutation { addBook(input: [${two}], upsert: true) { numUids book { pages next { title } } } }`),
    ).toEqual({ addBook: { numUids: 2, book: [{ pages: 5, next: { title: 'u' } }] } });
  });

  it('takes null for no value where a new node must have one, and its default stands ready', async () => {
    const { addWatch } = await data(
      'mutation { addWatch(input: [{hours: null, note: null}]) { watch { hours note } } }',
    );
    expect(addWatch.watch).toEqual([{ hours: 4, note: null }]);
    expect(await message('mutation { updateWatch(input: {filter: {}, set: {hours: null}}) { numUids } }')).toBe(
      'null in set cannot take hours away: type Watch requires it',
    );
  });

  it('takes away what a patch or an upsert sets to null, where the peer passes over it', async () => {
    const sdl = `
      type Card { code: String! @id nick: String @id note: String @default(update: {value: "changed"}) tags: [String]
        at: Point level: Int! @default(add: {value: "1"}) deck: Deck @hasInverse(field: cards) }
      type Deck @secret(field: "pin") { name: String! @id cards: [Card] lead: Card stamps: [Stamp] @hasInverse(field: deck) }
      type Stamp { code: String! @id deck: Deck! }`;
    const add = `mutation { addCard(input: [{code: "a", nick: "n", note: "o", tags: ["x"], at: {longitude: 1, latitude: 2}, level: 7,
      deck: {name: "d", pin: "123456", lead: {code: "a"}}}]) { numUids } }`;
    const full = { nick: 'n', note: 'o', tags: ['x'], at: { longitude: 1 }, level: 7, deck: { name: 'd' } };
    const empty = { nick: null, note: null, tags: [], at: null, level: 7, deck: null };
    const nulls = 'nick: null, note: null, tags: null, at: null, deck: null';
    const query =
      '{ queryCard { nick note tags at { longitude } level deck { name } } queryDeck { cards { code } lead { code } } }';
    const upsert = `mutation { addCard(input: [{code: "a", ${nulls}, level: null}], upsert: true) { numUids } }`;
    const patch = `mutation ($gone: [String]) { updateCard(input: {filter: {}, set: {${nulls.replace('tags: null', 'tags: $gone')}}}) { numUids } }`;
    for (const text of [patch, upsert]) {
      const town = await createWorld(sdl);
      const peer = await createWorld(sdl, { names: dgraphNames });
      for (const world of [town, peer]) {
        await world.data(add);
        await world.data(text, { gone: null });
      }
      expect(await town.data(query)).toEqual({ queryCard: [empty], queryDeck: [{ cards: [], lead: { code: 'a' } }] });
      expect((await peer.data(query)).queryCard).toEqual([full]);
    }
    const town = await createWorld(sdl);
    await town.data(add);
    // a variable that is not given is no null
    await town.data(patch.replace(nulls.replace('tags: null', 'tags: $gone'), 'tags: $gone'), {});
    expect((await town.data(query)).queryCard).toEqual([{ ...full, note: 'changed' }]);
    await town.data('mutation { addStamp(input: [{code: "s", deck: {name: "d"}}]) { numUids } }');
    const refused = [
      'updateDeck(input: {filter: {}, set: {stamps: null}})',
      'addDeck(input: [{name: "d", pin: "123456", stamps: null}], upsert: true)',
      'updateCard(input: {filter: {}, nested: {deck: {set: {name: null}}}})',
    ];
    for (const mutation of refused) {
      const { errors } = await town.ask(`mutation { ${mutation} { numUids } }`);
      expect(errors?.[0].message).toMatch(
        /^null in (set|input) cannot take (stamps|name) away: type (Stamp|Deck) requires/,
      );
    }
    await town.data(
      'mutation { updateCard(input: {filter: {}, nested: {deck: {set: {lead: null, pin: null}}}}) { numUids } }',
    );
    expect(
      await town.data(
        '{ queryDeck { lead { code } stamps { code } } checkDeckPassword(name: "d", pin: "123456") { name } }',
      ),
    ).toEqual({
      queryDeck: [{ lead: null, stamps: [{ code: 's' }] }],
      checkDeckPassword: null,
    });
  });

  it('runs mutations in order, and none after one that failed', async () => {
    const answer = await ask(
      'mutation { one: addBoat(input: [{name: "A"}]) { numUids } two: addBoat(input: [{name: "A"}]) { numUids } three: addBoat(input: [{name: "B"}]) { numUids } }',
    );
    expect(answer.data).toEqual({ one: { numUids: 1 }, two: null, three: null });
    expect(answer.errors).toMatchObject([
      { path: ['two'], extensions: { code: 'UNIQUE_VIOLATION' } },
      { path: ['three'], extensions: { code: 'NOT_EXECUTED' } },
    ]);
  });

  it('answers a repeated idempotency key with the first reply, and refuses it for another body', async () => {
    const text = 'mutation ($n: String!) { addBoat(input: [{name: $n}]) { numUids boat { id name } } }';
    const send = (n: string) => world.ask(text, { n }, { idempotencyKey: 'k-1' });
    const first = await send('A');
    expect(first.data?.addBoat.numUids).toBe(1);
    expect((await send('A')).data).toEqual(first.data);
    expect((await data('{ aggregateBoat { count } }')).aggregateBoat).toEqual({ count: 1 });
    expect((await send('B')).errors?.[0].extensions.code).toBe('IDEMPOTENCY_MISMATCH');
    const other = await world.ask(text, { n: 'B' }, { idempotencyKey: 'k-1', caller: 'someone else' });
    expect(other.data?.addBoat.numUids).toBe(1);
  });

  it('answers all that come at once with one idempotency key alike', async () => {
    const text = 'mutation { addBoat(input: [{name: "A"}]) { boat { id } } }';
    const answers = await Promise.all([1, 2, 3].map(() => world.ask(text, {}, { idempotencyKey: 'k-1' })));
    const { queryBoat } = await data('{ queryBoat { id } }');
    for (const answer of answers) expect(answer.data).toEqual({ addBoat: { boat: queryBoat } });
  });

  it('answers one that runs into the same request with what that was answered', async () => {
    const ask = () =>
      world.ask('mutation { addBoat(input: [{name: "A"}]) { boat { id } } }', {}, { idempotencyKey: 'k' });
    const begin = world.graph.begin.bind(world.graph);
    let first: Answer | undefined;
    vi.spyOn(world.graph, 'begin').mockImplementationOnce(async (options) => {
      first = await ask();
      return begin(options);
    });
    expect((await ask()).data).toEqual({ addBoat: { boat: [{ id: expect.any(String) }] } });
    expect(first?.data).toEqual((await ask()).data);
  });

  it('takes a list of more values than a call may have arguments', async () => {
    const flags = Array.from({ length: 130_000 }, (_, i) => String(i));
    const text = 'mutation ($input: [AddBoatInput!]!) { addBoat(input: $input) { boat { flags } } }';
    const { addBoat } = await data(text, { input: [{ name: 'flagship', flags }] });
    expect(new Set(addBoat.boat[0].flags)).toEqual(new Set(flags));
  });

  it('never creates the same @id twice, however many try at once', async () => {
    const add = (i: number) =>
      world.ask(
        `mutation { addBoat(input: [{name: "same", flags: ["${i}"]}], upsert: true) { numUids } }`,
        undefined,
        contextOf(),
      );
    const answers = await Promise.all(Array.from({ length: 40 }, (_, i) => add(i)));
    expect(answers.flatMap((answer) => answer.errors ?? [])).toEqual([]);
    expect((await data('{ queryBoat { flags } }')).queryBoat.map((boat: Tree) => [...boat.flags].sort())).toEqual([
      Array.from({ length: 40 }, (_, i) => String(i)).sort(),
    ]);
  });
});

it('refuses a delete of more than one commit may change, and says how to go on', async () => {
  const { ask, data } = await createWorld('type Buoy { id: ID! number: Int! @search }', {
    limits: { commitDeltas: 300 },
  });
  for (let from = 0; from < 400; from += 50) {
    const input = Array.from({ length: 50 }, (_, i) => ({ number: from + i }));
    await data('mutation ($input: [AddBuoyInput!]!) { addBuoy(input: $input) { numUids } }', { input });
  }
  const remove = (filter: string) => ask(`mutation { deleteBuoy(filter: ${filter}) { numUids } }`);
  const refused = await remove('{}');
  expect(refused.errors?.[0].message).toContain('limits.commitDeltas');
  expect(refused.errors?.[0].extensions).toMatchObject({
    code: 'LIMIT_EXCEEDED',
    fix: expect.stringContaining('fewer nodes'),
  });
  expect((await remove('{number: {lt: 100}}')).data?.deleteBuoy).toEqual({ numUids: 100 });
});
