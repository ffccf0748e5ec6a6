import { describe, expect, it } from 'vitest';
import { createWorld, type Tree } from '../../../test/support/api-world.js';
import { defaultNames, dgraphNames } from '../../base/index.js';

describe('federation', () => {
  const SDL = `
    type Voyage @key(fields: "id") { id: String! @id name: String! }
    extend type Ship @key(fields: "id") { id: ID! @external voyages: [Voyage] }
  `;

  it('answers entities in the order of their representations', async () => {
    const world = await createWorld(SDL);
    await world.data('mutation { addVoyage(input: [{id: "a", name: "A"}, {id: "b", name: "B"}]) { numUids } }');
    const { _entities } = await world.data(
      '{ _entities(representations: [{__typename: "Voyage", id: "b"}, {__typename: "Voyage", id: "none"}, {__typename: "Voyage", id: "a"}, {__typename: "Voyage", id: "b"}]) { ... on Voyage { name __typename } } }',
    );
    expect(_entities).toEqual([
      { name: 'B', __typename: 'Voyage' },
      null,
      { name: 'A', __typename: 'Voyage' },
      { name: 'B', __typename: 'Voyage' },
    ]);
    const { _service } = await world.data('{ _service { sdl } }');
    expect(_service.sdl).toContain('@key(fields: "id")');
  });

  it('says what is wrong with a representation', async () => {
    const world = await createWorld(SDL);
    const send = async (each: string) =>
      (await world.ask(`{ _entities(representations: [${each}]) { __typename } }`)).errors?.[0].message;
    expect(await send('{__typename: "Nope", id: "b"}')).toMatch(/no type "Nope"/);
    expect(await send('{__typename: "Voyage"}')).toMatch(/lacks its key id/);
    expect(await send('{__typename: "Voyage", id: {a: 1}}')).toMatch(
      /key id of a representation of Voyage is no scalar/,
    );
    expect(await send('{__typename: "Voyage", id: ["b"]}')).toMatch(/is no scalar/);
    expect(await send('{__typename: {a: 1}, id: "b"}')).toMatch(/no type ""/);
  });
});

describe('geometries', () => {
  const SDL =
    'type Lake { id: ID! name: String! @id shore: Polygon @search spring: Point @search parts: MultiPolygon }';
  const at = ([longitude, latitude]: number[]) => ({ longitude, latitude });
  const shore = (...corners: number[][]) => ({ coordinates: [{ points: corners.map(at) }] });
  const OPEN = [
    [0, 0],
    [4, 0],
    [4, 4],
  ];
  const add =
    'mutation ($lake: AddLakeInput!) { addLake(input: [$lake]) { lake { shore { coordinates { points { longitude latitude } } } } } }';
  const around = '($point: PointRef!) { queryLake(filter: {shore: {contains: {point: $point}}}) { name } }';

  it.each([
    ['closed', defaultNames, [...OPEN, OPEN[0]]],
    ['as it came, as Dgraph does', dgraphNames, OPEN],
  ])('whose ring was left open are kept %s, and hold what lies within all sides', async (_, names, kept) => {
    const world = await createWorld(SDL, { names });
    const { addLake } = await world.data(add, { lake: { name: 'a', shore: shore(...OPEN) } });
    expect(addLake.lake[0].shore).toEqual(shore(...kept));
    const found = async (point: number[]) => (await world.data(`query ${around}`, { point: at(point) })).queryLake;
    expect(await found([3, 1])).toEqual([{ name: 'a' }]);
    expect(await found([1, 3])).toEqual([]);
  });

  it.each<[string, object]>([
    ['no ring', { shore: { coordinates: [] } }],
    ['two corners', { shore: shore([0, 0], [1, 1], [0, 0]) }],
    ['no polygon', { parts: { polygons: [] } }],
  ])('of %s are refused in every mode', async (_, given) => {
    for (const names of [defaultNames, dgraphNames]) {
      const world = await createWorld(SDL, { names });
      const { errors } = await world.ask(add, { lake: { name: 'a', ...given } });
      expect(errors?.map(({ extensions }) => extensions.code)).toEqual(['INVALID_VALUE']);
    }
  });

  it('beyond the globe are refused, save where Dgraph takes them', async () => {
    const lake = { name: 'a', spring: at([92.22, 91.11]) };
    const strict = await (await createWorld(SDL)).ask(add, { lake });
    expect(strict.errors?.[0].message).toMatch(/lies outside the globe/);
    const lax = await createWorld(SDL, { names: dgraphNames });
    await lax.data(add, { lake });
    const near =
      'query ($at: PointRef!) { queryLake(filter: {spring: {near: {coordinate: $at, distance: 1000}}}) { name } }';
    const filter = '($in: PolygonRef!) { queryLake(filter: {spring: {within: {polygon: $in}}}) { name } }';
    expect((await lax.data(near, { at: lake.spring })).queryLake).toEqual([{ name: 'a' }]);
    expect((await lax.data(near, { at: at([92.22, -91]) })).queryLake).toEqual([]);
    const around = shore([90, 89], [95, 89], [95, 92], [90, 92]);
    expect((await lax.data(`query ${filter}`, { in: around })).queryLake).toEqual([{ name: 'a' }]);
  });

  it('in a list are answered, searched and taken away one by one', async () => {
    const world = await createWorld('type Trail { id: ID! name: String! @id huts: [Point!] @search areas: [Polygon] }');
    const [first, second] = [at([1, 2]), at([30, 40])];
    const trail = 'trail { huts { longitude latitude } areas { coordinates { points { longitude latitude } } } }';
    const areas = [shore(...OPEN, OPEN[0])];
    const { addTrail } = await world.data(
      `mutation ($trail: AddTrailInput!) { addTrail(input: [$trail]) { ${trail} } }`,
      { trail: { name: 'a', huts: [first, second], areas } },
    );
    expect(addTrail.trail[0].areas).toEqual(areas);
    expect(addTrail.trail[0].huts).toHaveLength(2);
    expect(addTrail.trail[0].huts).toEqual(expect.arrayContaining([first, second]));
    const near =
      'query ($at: PointRef!) { queryTrail(filter: {huts: {near: {coordinate: $at, distance: 1000}}}) { name } }';
    expect((await world.data(near, { at: second })).queryTrail).toEqual([{ name: 'a' }]);
    expect((await world.data(near, { at: at([5, 5]) })).queryTrail).toEqual([]);
    const { updateTrail } = await world.data(
      `mutation ($gone: [PointRef!]) { updateTrail(input: {filter: {}, remove: {huts: $gone}}) { ${trail} } }`,
      { gone: [first] },
    );
    expect(updateTrail.trail).toEqual([{ huts: [second], areas }]);
  });
});

describe('similarity', () => {
  const SDL = `type Song { id: ID! name: String! @id feel: [Float!] @embedding @search(by: ["hnsw(metric: euclidean, exponent: 4)"]) }`;

  it('finds the nearest by vector and by node', async () => {
    const world = await createWorld(SDL);
    await world.data(`mutation { addSong(input: [
      {name: "a", feel: [1.0, 0.0]}, {name: "b", feel: [0.9, 0.1]}, {name: "c", feel: [-1.0, 0.0]}, {name: "d"}]) { numUids } }`);
    const byVector = await world.data(
      '{ songs: querySimilarSongByEmbedding(by: feel, topK: 2, vector: [0.8, 0.1]) { name feel } }',
    );
    expect(byVector.songs.map((song: Tree) => song.name)).toEqual(['b', 'a']);
    expect(byVector.songs.map((song: Tree) => song.feel)).toEqual([
      [0.9, 0.1],
      [1, 0],
    ]);
    const byNode = await world.data('{ songs: querySimilarSongById(by: feel, topK: 3, name: "c") { name } }');
    expect(byNode.songs.map((song: Tree) => song.name)).toEqual(['c', 'b', 'a']);
    expect((await world.data('{ songs: querySimilarSongById(by: feel, topK: 3, name: "d") { name } }')).songs).toEqual(
      [],
    );
  });
});

describe('similarity among what is asked for and may be seen', () => {
  it('finds as many, however many others are nearer', async () => {
    const world = await createWorld(`
      type Song @auth(query: {rule: "query ($USER: String!) { querySong(filter: {owner: {eq: $USER}}) { name } }"}) {
        name: String! @id owner: String! @search(by: [hash]) loud: Boolean @search
        feel: [Float!] @embedding @search(by: ["hnsw(metric: euclidean)"])
      }`);
    const song = (owner: string, at: number) => ({ name: `${owner}${at}`, owner, loud: at % 2 === 0, feel: [at, 0] });
    const input = [0, 1, 2, 3].flatMap((at) => [song('ann', at), song('ben', at + 10)]);
    await world.data('mutation ($input: [AddSongInput!]!) { addSong(input: $input) { numUids } }', { input });
    const named = async (query: string, USER: string) =>
      (await world.data(`{ songs: ${query} { name } }`, {}, { claims: { USER } })).songs.map(({ name }: Tree) => name);
    const near = 'querySimilarSongByEmbedding(by: feel, topK: 2, vector: [0, 0])';
    expect(await named(near, 'ann')).toEqual(['ann0', 'ann1']);
    expect(await named(near, 'ben')).toEqual(['ben10', 'ben11']);
    expect(await named(near.replace('by:', 'filter: {loud: false}, by:'), 'ann')).toEqual(['ann1', 'ann3']);
    expect(await named('querySimilarSongById(by: feel, topK: 2, name: "ben12")', 'ben')).toEqual(['ben12', 'ben11']);
    expect(await named('querySimilarSongById(by: feel, topK: 2, name: "ann0")', 'ben')).toEqual([]);
    expect(await named(near, 'cat')).toEqual([]);
  });
});

describe('languages', () => {
  it('reads and writes one predicate in several tongues', async () => {
    const world = await createWorld(`type Word { id: ID!
      text: String! @search(by: [hash]) @dgraph(pred: "word")
      de: String @dgraph(pred: "word@de") @search(by: [hash])
      any: String @dgraph(pred: "word@fr:de:.") }`);
    await world.data('mutation { addWord(input: [{text: "sea", de: "Meer"}, {text: "sky"}]) { numUids } }');
    const { queryWord } = await world.data('{ queryWord(order: {asc: text}) { text de any } }');
    expect(queryWord).toEqual([
      { text: 'sea', de: 'Meer', any: 'Meer' },
      { text: 'sky', de: null, any: 'sky' },
    ]);
    expect((await world.data('{ queryWord(filter: {de: {eq: "Meer"}}) { text } }')).queryWord).toEqual([
      { text: 'sea' },
    ]);
    await world.data('mutation { updateWord(input: {filter: {text: {eq: "sea"}}, remove: {de: null}}) { numUids } }');
    expect((await world.data('{ queryWord(filter: {text: {eq: "sea"}}) { text de } }')).queryWord).toEqual([
      { text: 'sea', de: null },
    ]);
  });
});

describe('distances', () => {
  it('are 0 for equal unit vectors by every metric, and a threshold is told in them', async () => {
    const metrics = ['euclidean', 'cosine', 'dotproduct'];
    const fields = metrics.map((metric) => `${metric}: [Float!] @embedding @search(by: ["hnsw(metric: ${metric})"])`);
    const world = await createWorld(`type Song { name: String! @id ${fields.join(' ')} }`);
    const song = (name: string, vector: string) =>
      `{name: "${name}", ${metrics.map((m) => `${m}: ${vector}`).join(', ')}}`;
    await world.data(`mutation { addSong(input: [${song('a', '[1, 0]')}, ${song('b', '[0, 2]')}]) { numUids } }`);
    const far = { euclidean: Math.sqrt(5), cosine: 1, dotproduct: 1 };
    for (const metric of metrics) {
      const { songs } = await world.data(
        `{ songs: querySimilarSongByEmbedding(by: ${metric}, topK: 2, vector: [1, 0]) { name vector_distance } }`,
      );
      expect(songs).toEqual([
        { name: 'a', vector_distance: 0 },
        { name: 'b', vector_distance: far[metric as keyof typeof far] },
      ]);
      const near = await world.data(
        `{ songs: querySimilarSongByEmbedding(by: ${metric}, topK: 2, vector: [1, 0], distance_threshold: 0.5) { name } }`,
      );
      expect(near.songs).toEqual([{ name: 'a' }]);
    }
  });
});

describe('reverse predicates', () => {
  it('share one stored edge', async () => {
    const world = await createWorld(`
      type Film { id: ID! title: String! makers: [Maker] @dgraph(pred: "~made") }
      type Maker { id: ID! name: String! @id made: [Film] @dgraph(pred: "made") }`);
    await world.data(
      'mutation { addMaker(input: [{name: "M", made: [{title: "T"}]}]) { numUids } addFilm(input: [{title: "U"}]) { numUids } }',
    );
    expect((await world.data('{ queryFilm { title makers { name } } }')).queryFilm).toEqual([
      { title: 'T', makers: [{ name: 'M' }] },
      { title: 'U', makers: [] },
    ]);
    await world.data('mutation { deleteFilm(filter: {has: [title]}) { numUids } }');
    expect((await world.data('{ queryMaker { made { title } } }')).queryMaker).toEqual([{ made: [] }]);
  });

  it("lead to nodes of the field's own type where several share the stored edge", async () => {
    const world = await createWorld(`
      type Maker { name: String! @id films: [Film] @dgraph(pred: "~by") plays: [Play] @dgraph(pred: "~by") both: [Work] @dgraph(pred: "~by") }
      type Film { title: String! @id by: [Maker] @dgraph(pred: "by") }
      type Play { text: String! @id by: [Maker] @dgraph(pred: "by") }
      interface Work { code: Int @id by: [Maker] @dgraph(pred: "by") }
      type Song implements Work { key: String }`);
    const by = 'by: [{name: "M"}]';
    await world.data(`mutation { addFilm(input: [{title: "F", ${by}}]) { numUids } addPlay(input: [{text: "P", ${by}}]) { numUids }
      addSong(input: [{code: 1, ${by}}]) { numUids } }`);
    const { queryMaker } = await world.data(
      '{ queryMaker { films { title } filmsAggregate { count titleMax } plays(first: 1) { text } both { __typename } bothAggregate { count } } }',
    );
    expect(queryMaker).toEqual([
      {
        films: [{ title: 'F' }],
        filmsAggregate: { count: 1, titleMax: 'F' },
        plays: [{ text: 'P' }],
        both: [{ __typename: 'Song' }],
        bothAggregate: { count: 1 },
      },
    ]);
  });
});
