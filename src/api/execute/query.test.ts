import { beforeEach, describe, expect, it } from 'vitest';
import { dgraphNames } from '../../base/index.js';
import { createWorld, type Tree, type World } from '../../../test/support/api-world.js';

const SDL = `
  enum Genre { DRAMA COMEDY NOIR }
  interface Person { id: ID! name: String! @id email: String @search(by: [exact]) }
  type Actor implements Person { films: [Film] @hasInverse(field: cast) born: DateTime @search }
  type Critic implements Person { outlet: String @search(by: [term]) rating: Float @search }
  type Film {
    id: ID!
    title: String! @search(by: [term, exact])
    year: Int @search
    views: Int64 @search
    genre: Genre @search
    released: Boolean @search
    tags: [String] @search(by: [exact])
    shotAt: Point @search
    cast: [Actor]
    studio: Studio
  }
  type Studio { code: String! @id city: String films: [Film] @hasInverse(field: studio) }
  union Subject = Film | Studio
  type Review { id: ID! stars: Int! @search about: Subject all: [Subject] by: Critic! }
`;

const ADD = `mutation {
  addStudio(input: [{code: "north", city: "Oslo"}, {code: "south", city: "Rome"}]) { numUids }
  addFilm(input: [
    {title: "Long Night", year: 1950, views: "9007199254740993", genre: NOIR, released: true, tags: ["dark", "rain"],
     shotAt: {longitude: 10.75, latitude: 59.91}, studio: {code: "north"},
     cast: [{name: "Ada", born: "1920-05-01T00:00:00Z"}, {name: "Bo"}]},
    {title: "Long Day", year: 1961, views: 5, genre: COMEDY, released: false, studio: {code: "south"}, cast: [{name: "Bo"}]},
    {title: "Short Walk", year: 1972, genre: DRAMA, studio: {code: "north"}}
  ]) { numUids }
  addCritic(input: [{name: "Cy", outlet: "The Daily Frame", rating: 4.5, email: "cy@frame.example"}]) { numUids }
}`;

describe('queries', () => {
  let world: World;
  beforeEach(async () => {
    world = await createWorld(SDL);
    await world.data(ADD);
  });

  const titles = async (args: string): Promise<string[]> =>
    (await world.data(`{ queryFilm${args} { title } }`)).queryFilm.map((film: Tree) => String(film.title));

  it('lists nodes with filter, order, first and offset', async () => {
    expect(await titles('(order: {asc: year})')).toEqual(['Long Night', 'Long Day', 'Short Walk']);
    expect(await titles('(order: {desc: year}, first: 1, offset: 1)')).toEqual(['Long Day']);
    expect(await titles('(filter: {year: {between: {min: 1951, max: 1972}}}, order: {asc: year})')).toHaveLength(2);
    expect(await titles('(filter: {title: {allofterms: "night long"}})')).toEqual(['Long Night']);
    expect(await titles('(filter: {tags: {eq: "rain"}})')).toEqual(['Long Night']);
    expect(await titles('(filter: {genre: {in: [NOIR, DRAMA]}}, order: {asc: title})')).toEqual([
      'Long Night',
      'Short Walk',
    ]);
    expect(await titles('(filter: {released: true})')).toEqual(['Long Night']);
    expect(await titles('(filter: {views: {eq: "9007199254740993"}})')).toEqual(['Long Night']);
  });

  it('joins and, or, not and has as they are written', async () => {
    expect(await titles('(filter: {year: {lt: 1960}, or: {year: {gt: 1970}}}, order: {asc: year})')).toEqual([
      'Long Night',
      'Short Walk',
    ]);
    expect(await titles('(filter: {or: [{year: {eq: 1961}}, {year: {eq: 1972}}]}, order: {asc: year})')).toHaveLength(
      2,
    );
    expect(await titles('(filter: {not: {has: [released]}})')).toEqual(['Short Walk']);
    expect(await titles('(filter: {not: {has: [released, null]}})')).toEqual(['Short Walk']);
    expect(await titles('(filter: {and: [{released: true}, {year: {gt: 1960}}]})')).toEqual([]);
  });

  it('joins all functions of one filter, where the peer takes one at a time', async () => {
    const peer = await createWorld(SDL, { names: dgraphNames });
    await peer.data(ADD);
    const square =
      '[{points: [{latitude: 0, longitude: 0}, {latitude: 1, longitude: 0}, {latitude: 1, longitude: 1}, {latitude: 0, longitude: 0}]}]';
    for (const two of [
      '{year: {gt: 1950, lt: 1972}}',
      '{shotAt: {near: {coordinate: {longitude: 0, latitude: 0}, distance: 1}, within: {polygon: {coordinates: SQUARE}}}}',
    ]) {
      const query = `{ queryFilm(filter: ${two.replace('SQUARE', square)}) { title } }`;
      expect((await world.ask(query)).errors).toBeUndefined();
      expect((await peer.ask(query)).errors?.[0].extensions.code).toBe('INVALID_VALUE');
    }
    expect(await titles('(filter: {year: {gt: 1950, lt: 1972}})')).toEqual(['Long Day']);
    expect((await peer.data('{ queryFilm(filter: {year: {gt: 1961, lt: null}}) { title } }')).queryFilm).toHaveLength(
      1,
    );
  });

  it('answers none of several nodes where one is asked for', async () => {
    const people = await createWorld('type Person { id: ID! name: String @search(by: [hash]) }');
    await people.data('mutation { addPerson(input: [{name: "Ada"}, {name: "Ada"}, {name: "Bo"}]) { numUids } }');
    await people.api.updateSchema('type Person { id: ID! name: String! @id }');
    const answer = await people.ask('{ ada: getPerson(name: "Ada") { name } bo: getPerson(name: "Bo") { name } }');
    expect(answer.data).toEqual({ ada: null, bo: { name: 'Bo' } });
    expect(answer.errors).toEqual([
      expect.objectContaining({
        message: 'getPerson finds 2 nodes of Person, where one was expected',
        path: ['ada'],
        extensions: expect.objectContaining({ code: 'UNIQUE_VIOLATION' }),
      }),
    ]);
  });

  it('refuses to get a node that nothing names, where the peer finds none', async () => {
    const sdl = 'type Town { id: ID! code: String! @id name: String }';
    const query = '{ a: getTown { name } b: getTown(id: null) { name } }';
    const towns = await createWorld(sdl);
    const answer = await towns.ask(query);
    expect(answer.errors?.map(({ message }) => message)).toEqual(
      Array(2).fill('getTown needs to know which Town is meant'),
    );
    const peer = await createWorld(sdl, { names: dgraphNames });
    await peer.data('mutation { addTown(input: [{code: "x"}]) { numUids } }');
    expect(await peer.data(query)).toEqual({ a: null, b: null });
  });

  it('finds by place', async () => {
    const near = '{near: {coordinate: {longitude: 10.7, latitude: 59.9}, distance: 10000}}';
    expect(await titles(`(filter: {shotAt: ${near}})`)).toEqual(['Long Night']);
    const { queryFilm } = await world.data('{ queryFilm(filter: {has: shotAt}) { shotAt { latitude longitude } } }');
    expect(queryFilm).toEqual([{ shotAt: { latitude: 59.91, longitude: 10.75 } }]);
  });

  it('writes 64 bit numbers exactly', async () => {
    const { body } = await world.api.execute(
      { query: '{ queryFilm(filter: {year: {eq: 1950}}) { views } }' },
      { requestId: '', headers: {}, signal: new AbortController().signal, extensions: {} },
    );
    expect(body.toString()).toContain('"views":9007199254740993');
  });

  it('gets one node by id, by @id and by both', async () => {
    const { getActor } = await world.data('{ getActor(name: "Ada") { id name born } }');
    expect(getActor).toEqual({ id: getActor.id, name: 'Ada', born: '1920-05-01T00:00:00Z' });
    const both = await world.data(
      `{ getActor(id: "${getActor.id}", name: "Ada") { name } other: getActor(id: "${getActor.id}", name: "Bo") { name } }`,
    );
    expect(both).toEqual({ getActor: { name: 'Ada' }, other: null });
  });

  it('keeps both ends of an edge, and gives lists that are not there as []', async () => {
    const { queryActor } = await world.data(
      '{ queryActor(order: {asc: name}) { name films(order: {asc: year}) { title studio { code } } } }',
    );
    expect(queryActor).toEqual([
      { name: 'Ada', films: [{ title: 'Long Night', studio: { code: 'north' } }] },
      {
        name: 'Bo',
        films: [
          { title: 'Long Night', studio: { code: 'north' } },
          { title: 'Long Day', studio: { code: 'south' } },
        ],
      },
    ]);
    const { queryFilm } = await world.data('{ queryFilm(filter: {year: {eq: 1972}}) { cast { name } tags genre } }');
    expect(queryFilm).toEqual([{ cast: [], tags: [], genre: 'DRAMA' }]);
  });

  it('answers interfaces by concrete type', async () => {
    const { queryPerson } = await world.data(`{
      queryPerson(order: {asc: name}) { __typename name ... on Critic { outlet } ... on Actor { born } }
    }`);
    expect(queryPerson).toEqual([
      { __typename: 'Actor', name: 'Ada', born: '1920-05-01T00:00:00Z' },
      { __typename: 'Actor', name: 'Bo', born: null },
      { __typename: 'Critic', name: 'Cy', outlet: 'The Daily Frame' },
    ]);
  });

  it('answers unions, and filters their members', async () => {
    await world.data(`mutation { addReview(input: [{stars: 3, by: {name: "Cy"},
      about: {studioRef: {code: "north"}}, all: [{studioRef: {code: "north"}}, {filmRef: {title: "Extra", year: 1999}}]}]) { numUids } }`);
    const { queryReview } = await world.data(`{ queryReview {
      about { __typename ... on Studio { code } }
      films: all(filter: {memberTypes: [Film]}) { ... on Film { title } }
      late: all(filter: {memberTypes: [Film], filmFilter: {year: {gt: 2000}}}) { __typename }
    } }`);
    expect(queryReview).toEqual([
      { about: { __typename: 'Studio', code: 'north' }, films: [{ title: 'Extra' }], late: [] },
    ]);
  });

  it('filters by fields of other nodes, and orders by them', async () => {
    expect(await titles('(filter: {studio: {code: {eq: "north"}}}, order: {asc: year})')).toEqual([
      'Long Night',
      'Short Walk',
    ]);
    expect(await titles('(filter: {cast: {name: {eq: "Ada"}}})')).toEqual(['Long Night']);
    expect(await titles('(filter: {not: {cast: {}}})')).toEqual(['Short Walk']);
    expect(await titles('(order: {studio: {desc: code}, then: {asc: year}})')).toEqual([
      'Long Day',
      'Long Night',
      'Short Walk',
    ]);
  });

  it('aggregates at the root and beside edges', async () => {
    const { aggregateFilm, queryStudio } = await world.data(`{
      aggregateFilm { count yearMin yearMax yearSum yearAvg titleMin }
      queryStudio(order: {asc: code}) { code filmsAggregate(filter: {year: {lt: 1965}}) { count yearMax } }
    }`);
    expect(aggregateFilm).toEqual({
      count: 3,
      yearMin: 1950,
      yearMax: 1972,
      yearSum: 5883,
      yearAvg: 1961,
      titleMin: 'Long Day',
    });
    expect(queryStudio).toEqual([
      { code: 'north', filmsAggregate: { count: 1, yearMax: 1950 } },
      { code: 'south', filmsAggregate: { count: 1, yearMax: 1961 } },
    ]);
  });

  it('aggregates beside an edge of an interface that several types have', async () => {
    const shelf = await createWorld(`
      interface Holder { name: String! @id holds: [Thing] }
      type Box implements Holder { depth: Int }
      type Bag implements Holder { colour: String }
      type Thing { name: String! @id grams: Int }`);
    await shelf.data(`mutation {
      addBox(input: [{name: "b", holds: [{name: "cup", grams: 200}, {name: "pen", grams: 9}]}]) { numUids }
      addBag(input: [{name: "c", holds: [{name: "hat", grams: 80}]}]) { numUids }
    }`);
    const asked = 'holdsAggregate { count gramsMax nameMin }';
    expect((await shelf.data(`{ queryHolder(order: {asc: name}) { ${asked} } }`)).queryHolder).toEqual([
      { holdsAggregate: { count: 2, gramsMax: 200, nameMin: 'cup' } },
      { holdsAggregate: { count: 1, gramsMax: 80, nameMin: 'hat' } },
    ]);
  });

  it('orders by one field a level: of two, an object does not say which comes first', async () => {
    const refused = async (order: string) => (await world.ask(`{ queryFilm(order: ${order}) { title } }`)).errors;
    expect(await refused('{asc: year, desc: title}')).toEqual([
      {
        message: 'an order of Film has asc and desc side by side',
        locations: [{ line: 1, column: 3 }],
        path: ['queryFilm'],
        extensions: {
          code: 'INVALID_VALUE',
          fix: 'Write what comes second under then: { asc: ..., then: { desc: ... } }.',
        },
      },
    ]);
    for (const order of ['{studio: {asc: code}, desc: year}', '{studio: {asc: code, desc: city}}']) {
      expect(await refused(order)).toMatchObject([{ extensions: { code: 'INVALID_VALUE' } }]);
    }
    expect(await titles('(order: {asc: year, desc: null, then: {desc: title}})')).toHaveLength(3);
  });

  it('keeps only complete nodes under @cascade', async () => {
    const all = await world.data('{ queryFilm(order: {asc: year}) @cascade { title cast { name born } } }');
    expect(all.queryFilm).toEqual([{ title: 'Long Night', cast: [{ name: 'Ada', born: '1920-05-01T00:00:00Z' }] }]);
    const some = await world.data(
      '{ queryFilm(order: {asc: year}) @cascade(fields: ["released"]) { title released } }',
    );
    expect(some.queryFilm).toHaveLength(2);
    const beside = await world.data(
      '{ queryStudio(order: {asc: code}) @cascade { code filmsAggregate(filter: {year: {gt: 1970}}) { count } films(order: {asc: year}) { title tags castAggregate { count } } } }',
    );
    expect(beside.queryStudio).toEqual([
      {
        code: 'north',
        filmsAggregate: { count: 1 },
        films: [{ title: 'Long Night', tags: ['dark', 'rain'], castAggregate: { count: 2 } }],
      },
    ]);
  });

  it('asks under @cascade for no aggregate, and for no fields of another type', async () => {
    const shed = await createWorld(`
      interface Item { name: String! @id }
      type Part implements Item { grams: Int parts: [Part] any: [Thing] items: [Item] }
      type Note implements Item { text: String }
      union Thing = Part | Note`);
    await shed.data(`mutation {
      addNote(input: [{name: "n"}]) { numUids }
      addPart(input: [{name: "a", grams: 9, parts: [{name: "b", grams: 4}, {name: "c"}], any: [{noteRef: {name: "n"}}], items: [{name: "n"}]}]) { numUids }
    }`);
    const show = async (asked: string) => (await shed.data(`{ queryPart${asked} }`)).queryPart;
    // what is counted need not have what is asked for, the edge itself included
    const counted = 'partsAggregate { count gramsMax }';
    expect(await show(`(filter: {name: {eq: "a"}}) @cascade { grams parts { name } ${counted} }`)).toEqual([
      { grams: 9, parts: [{ name: 'b' }, { name: 'c' }], partsAggregate: { count: 2, gramsMax: 4 } },
    ]);
    const none = 'partsAggregate(filter: {name: {eq: "none"}}) { count }';
    for (const fields of ['@cascade { parts { name }', '@cascade(fields: ["parts"]) {']) {
      expect(await show(` ${fields} ${none} }`)).toMatchObject([{ partsAggregate: { count: 0 } }]);
    }
    // below an edge to something else there is no field of the name
    expect(await show(' @cascade(fields: ["grams", "any"]) { any { ... on Part { grams } } }')).toEqual([
      { any: [{}] },
    ]);
    expect(await show(' @cascade(fields: ["grams", "items"]) { items { name ... on Part { grams } } }')).toEqual([
      { items: [{ name: 'n' }] },
    ]);
  });

  it('asks a node under @cascade(fields:) by its own fragment alone', async () => {
    const sdl = `interface Animal { name: String! @id(interface: true) likes: [Animal] home: Home }
      type Cat implements Animal { lives: Int } type Dog implements Animal { breed: String } type Home { name: String! @id animals: [Animal] }`;
    const house = await createWorld(sdl);
    await house.data(`mutation {
      addCat(input: [{name: "tom", lives: 9}, {name: "kit"}, {name: "lone"}]) { numUids }
      addDog(input: [{name: "rex", likes: [{name: "tom"}]}, {name: "max", likes: [{name: "rex"}]}, {name: "bob"}]) { numUids }
      updateCat(input: {filter: {name: {eq: "kit"}}, set: {likes: [{name: "max"}]}}) { numUids }
      addHome(input: [{name: "h", animals: [{name: "rex"}, {name: "max"}, {name: "bob"}, {name: "kit"}]}]) { numUids } }`);
    const rex = '... on Dog { likes(filter: {name: {eq: "rex"}}) { name } }';
    const names = async (text: string) => (await house.data(text)).animals.map((each: Tree) => each.name);
    const named = '@cascade(fields: ["likes"])';
    expect(await names(`{ animals: queryAnimal(order: {asc: name}) ${named} { name ${rex} } }`)).toEqual([
      'kit',
      'max',
    ]);
    expect(
      await names(
        `{ animals: queryAnimal(order: {asc: name}) ${named} { name ${rex} ... on Cat { likes { name } } } }`,
      ),
    ).toEqual(['kit', 'max']);
    const { getHome } = await house.data(
      `{ getHome(name: "h") { animals(order: {asc: name}) ${named} { name ${rex} } } }`,
    );
    expect(getHome.animals.map((each: Tree) => each.name)).toEqual(['kit', 'max']);
  });

  it('asks a node under @cascade for what is selected of its type, where the peer asks for all', async () => {
    const sdl = `
      interface Animal { name: String! @id }
      type Dog implements Animal { breed: String likes: [Animal] }
      type Cat implements Animal { colour: String likes: [Animal] }
      type Home { name: String! @id members: [Pet] }
      union Pet = Dog | Cat`;
    const add = `mutation {
      addDog(input: [{name: "rex", breed: "pug"}, {name: "odd"}]) { numUids }
      addCat(input: [{name: "tom", colour: "red", likes: [{name: "rex"}]}, {name: "kit", colour: "grey"}]) { numUids }
      addHome(input: [{name: "h", members: [{dogRef: {name: "rex"}}, {dogRef: {name: "odd"}}, {catRef: {name: "kit"}}]}]) { numUids }
    }`;
    const own = '... on Dog { breed } ... on Cat { colour }';
    const animals = `{ queryAnimal(order: {asc: name}) @cascade { name ${own} } }`;
    const home = await createWorld(sdl);
    await home.data(add);
    expect((await home.data(animals)).queryAnimal).toEqual([
      { name: 'kit', colour: 'grey' },
      { name: 'rex', breed: 'pug' },
      { name: 'tom', colour: 'red' },
    ]);
    expect((await home.data(`{ queryHome @cascade { members { ${own} } } }`)).queryHome).toEqual([
      { members: [{ breed: 'pug' }, { colour: 'grey' }] },
    ]);
    const liked =
      '{ queryAnimal @cascade { ... on Cat { likes(filter: {name: {eq: "rex"}}) { name } } ... on Dog { breed } } }';
    expect((await home.data(liked)).queryAnimal).toEqual([{ breed: 'pug' }, { likes: [{ name: 'rex' }] }]);
    const peer = await createWorld(sdl, { names: dgraphNames });
    await peer.data(add);
    expect((await peer.data(animals)).queryAnimal).toEqual([]);
  });

  it('nulls the nearest nullable place where a non-null value is missing, and says where', async () => {
    await world.data('mutation { addReview(input: [{stars: 3, by: {name: "Cy"}}]) { numUids } }');
    const { queryReview } = await world.data('{ queryReview { id } }');
    const transaction = await world.graph.begin();
    const uid = Number(queryReview[0].id);
    await transaction.stage([{ op: 'deletePredicate', uid, predicate: 'Review.stars' }]);
    await transaction.commit();
    const answer = await world.ask('{\n  queryReview {\n    stars\n  }\n}');
    expect(answer.data).toEqual({ queryReview: [null] });
    expect(answer.errors).toMatchObject([
      { path: ['queryReview', 0, 'stars'], locations: [{ line: 3, column: 5 }], extensions: { code: 'NON_NULL' } },
    ]);
  });

  it('honours @skip, @include, aliases and fragments', async () => {
    const { one } = await world.data(
      `query ($yes: Boolean!) { one: getStudio(code: "north") { ...parts place: city @include(if: $yes) code @skip(if: $yes) } }
       fragment parts on Studio { __typename city @skip(if: $yes) }`,
      { yes: true },
    );
    expect(one).toEqual({ __typename: 'Studio', place: 'Oslo' });
  });

  it('refuses what is not in the schema, and too deep documents', async () => {
    const wrong = await world.ask('{ queryFilm { nothing } }');
    expect(wrong.data).toBeUndefined();
    expect(wrong.errors?.[0].message).toMatch(/Cannot query field "nothing"/);
    const deep = `{ queryFilm ${'{ studio { films '.repeat(150)}{ id }${' } }'.repeat(150)} }`;
    const chain = Array.from({ length: 20_000 }, (_, i) => `fragment f${i} on Film { ...f${i + 1} }`).join(' ');
    for (const text of [
      deep,
      `{ queryFilm { ...f0 } } ${chain} fragment f20000 on Film { id }`,
      `${'{a'.repeat(30_000)}`,
    ]) {
      const answer = await world.ask(text);
      expect(answer.errors?.[0].extensions.code).toBe('LIMIT_EXCEEDED');
    }
  });

  it('says so where one document selects the same fields too often', async () => {
    const { errors } = await world.ask(`{ ${'queryFilm { title } '.repeat(3_000)} }`);
    expect(errors?.[0]).toMatchObject({
      message: expect.stringContaining('selects the same fields too often'),
      extensions: { code: 'LIMIT_EXCEEDED', fix: expect.stringContaining('alias') },
    });
  });

  it('says where a literal of its own scalars is wrong', async () => {
    const place = async (filter: string) =>
      (await world.ask(`{ queryFilm(filter: { ${filter} }) { title } }`)).errors?.[0];
    expect(await place('views: { eq: 9223372036854775808 }')).toMatchObject({
      message: expect.stringContaining('64 bits'),
      locations: [{ line: 1, column: 36 }],
    });
    expect(await place('views: { eq: 1.5 }')).toMatchObject({ locations: [{ line: 1, column: 36 }] });
  });

  it('takes filters of many parts, up to a bound', async () => {
    const parts = (year: object, count = 19_000): object[] => new Array<object>(count).fill({ year });
    const text = 'query ($filter: FilmFilter) { queryFilm(filter: $filter) { title } }';
    const find = async (filter: object): Promise<unknown> => (await world.data(text, { filter })).queryFilm;
    expect(await find({ and: parts({ lt: 1951 }) })).toEqual([{ title: 'Long Night' }]);
    expect(await find({ year: { lt: 1951 }, or: parts({ lt: 1900 }) })).toEqual([{ title: 'Long Night' }]);
    const { errors } = await world.ask(text, { filter: { or: parts({ lt: 1900 }, 20_000) } });
    expect(errors?.[0]).toMatchObject({
      message: expect.stringContaining('filterParts (20000)'),
      extensions: { code: 'LIMIT_EXCEEDED', fix: expect.stringContaining('"in"') },
    });
  });

  it('answers introspection beside data', async () => {
    const answer = await world.data(
      '{ __type(name: "Genre") { enumValues { name } } getStudio(code: "south") { city } }',
    );
    expect(answer).toEqual({
      __type: { enumValues: [{ name: 'DRAMA' }, { name: 'COMEDY' }, { name: 'NOIR' }] },
      getStudio: { city: 'Rome' },
    });
  });
});
