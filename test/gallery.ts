import { afterAll, beforeAll } from 'vitest';
import { defaultNames, type Limits } from '../src/base/index.js';
import { type OpenDql, openDql } from './open-dql.js';

const SCHEMA = `
  name: string @index(exact, term, trigram, fulltext) @lang .
  note: string .
  year: int @index(int) @count .
  price: float .
  rating: float @index(float) .
  opened: datetime @index(year) .
  tags: [string] @index(exact, term) @count .
  painted: [uid] @reverse @count .
  shown: uid @reverse .
  knows: [uid] @count .
  place: geo @index(geo) .
  secret: password .
  type Artist { name knows painted secret }
  type Work { name year tags shown ~painted }
`;

/** Four artists (0x1 to 0x4), six works (0xa to 0xf), two houses (0x14, 0x15). */
const DATA = `{ set {
  <0x1> <name> "Ida" .
  <0x2> <name> "Jon" .
  <0x3> <name> "Kim" .
  <0x3> <name> "Kimmo"@fi .
  <0x4> <name> "Lea"@fr .
  <0x1> <service.type> "Artist" .
  <0x2> <service.type> "Artist" .
  <0x3> <service.type> "Artist" .
  <0x1> <secret> "open sesame" .
  <0x1> <knows> <0x2> (since=2001, close=true, how="school days") .
  <0x1> <knows> <0x3> (since=1999) .
  <0x2> <knows> <0x3> (since=2010, close=false, how="school") .
  <0x3> <knows> <0x1> (since=1999) .
  <0x3> <knows> <0x4> .
  <0x1> <painted> <0xa> .
  <0x1> <painted> <0xb> .
  <0x1> <painted> <0xc> .
  <0x2> <painted> <0xd> .
  <0x2> <painted> <0xe> .
  <0x3> <painted> <0xf> .
  <0xa> <name> "Red harbour" .
  <0xb> <name> "Blue harbour" .
  <0xc> <name> "Running horses" .
  <0xd> <name> "Quiet evening" .
  <0xe> <name> "Red evening" .
  <0xf> <name> "Portrait of a horse" .
  <0xa> <service.type> "Work" .
  <0xb> <service.type> "Work" .
  <0xa> <year> "1990" .
  <0xb> <year> "1992" .
  <0xc> <year> "1990" .
  <0xd> <year> "2001" .
  <0xe> <year> "2003" .
  <0xa> <price> "10.5" .
  <0xb> <price> "20" .
  <0xd> <price> "7.25" .
  <0xa> <rating> "4.5" .
  <0xb> <rating> "4.1" .
  <0xc> <rating> "3" .
  <0xa> <tags> "sea" (by="Ida") .
  <0xa> <tags> "ship" .
  <0xb> <tags> "sea" .
  <0xe> <tags> "night sky" .
  <0xa> <shown> <0x14> (wall=3) .
  <0xb> <shown> <0x14> .
  <0xd> <shown> <0x15> .
  <0xa> <note> "loaned" .
  <0x14> <name> "North house" .
  <0x15> <name> "South house" .
  <0x14> <opened> "1980-05-01" .
  <0x15> <opened> "1980-09-01" .
  <0x14> <place> "{'type':'Point','coordinates':[10, 60]}"^^<geo:geojson> .
  <0x15> <place> "{'type':'Point','coordinates':[10.5, 59]}"^^<geo:geojson> .
} }`;

/** A small graph for tests of queries. */
export async function openGallery(options: { readonly limits?: Partial<Limits> } = {}): Promise<OpenDql> {
  const dql = await openDql({ schema: SCHEMA, names: defaultNames, ...options });
  await dql.mutate(DATA);
  return dql;
}

/** The gallery for all tests of one file. */
export function useGallery() {
  let dql: OpenDql;
  beforeAll(async () => {
    dql = await openGallery();
  });
  afterAll(() => dql.close());
  return {
    get dql() {
      return dql;
    },
    /** the block named q of an answer */
    ask: async (text: string): Promise<unknown> => (await dql.query(`{ ${text} }`))['q'],
  };
}

/** Names found by a root function, or by a filter on everything with a name. */
export async function namesBy(dql: OpenDql, call: string, place: 'root' | 'filter' = 'root'): Promise<string[]> {
  const block = place === 'root' ? `q(func: ${call})` : `q(func: has(name@.)) @filter(${call})`;
  const { q } = await dql.query(`{ ${block} { n: name@. } }`);
  return (q as { n: string }[]).map((one) => one.n);
}
