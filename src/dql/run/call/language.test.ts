import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type OpenDql, openDql } from '../../../../test/open-dql.js';

// long enough that it is read a piece at a time
const LONG = `${'lorem '.repeat(4_000)}brown foxes`;

let dql: OpenDql;
beforeAll(async () => {
  dql = await openDql({
    schema: `note: string @index(ngram) @lang .
      title: string @index(fulltext) @lang .
      names: [string] @index(trigram) .
      called: string @index(trigram) @lang .`,
  });
  await dql.mutate(`{ set {
    <0x1> <note> "Quick brown fox" .
    <0x2> <note> "A brown fox"@en .
    <0x3> <note> "A red fox" .
    <0x3> <note> "Brown foxes"@en .
    <0x4> <note> "кафява лисица на поляна"@bg .
    <0x5> <note> "${LONG}"@en .
    <0x1> <title> "Les objectifs"@fr .
    <0x2> <title> "Die Häuser" .
    <0x3> <title> "и"@bg .
    <0x4> <title> "Er will laufen"@de .
    <0x4> <title> "Ils courent" .
    <0x5> <title> "Morgen run"@de .
    <0x6> <names> "a harbour far away" .
    <0x6> <names> "house" .
    <0x7> <called> "a harbour far away"@en .
    <0x7> <called> "house" .
  } }`);
});
afterAll(() => dql.close());

async function uids(call: string): Promise<string[]> {
  const { q } = (await dql.query(`{ q(func: ${call}) { uid } }`)) as { q: { uid: string }[] };
  return q.map(({ uid }) => uid);
}

describe('a value is found in the language that was asked for', () => {
  it.each([
    ['ngram(note, "brown fox")', ['0x1']],
    ['ngram(note@en, "brown fox")', ['0x2', '0x3', '0x5']],
    ['ngram(note@de, "brown fox")', []],
    ['ngram(note@., "brown fox")', ['0x1', '0x2', '0x3', '0x5']],
    ['ngram(note@bg, "лисица поляна")', ['0x4']],
    ['ngram(note@bg, "на")', []],
    ['eq(title@fr, "Les objectifs")', ['0x1']],
    ['eq(title@., "Les objectifs")', ['0x1']],
    ['eq(title@., "Die Häuser")', ['0x2']],
    ['eq(title@bg, "и")', ['0x3']],
    ['eq(title@., "и")', ['0x3']],
  ])('%s', async (call, expected) => {
    expect(await uids(call)).toEqual(expected);
  });
});

describe('a filter finds what the same function finds at root', () => {
  it.each([
    // what is asked for is stemmed as English, and what is stored as its own language
    ['alloftext(title@., "laufen")', []],
    ['anyoftext(title@., "running lauf")', ['0x4', '0x5']],
    ['alloftext(title@., "courent will lauf")', []],
    ['alloftext(title@., "courent lauf")', ['0x4']],
    // the member that is near shares no three letters with the text
    ['match(names, "harbour", 5)', []],
    ['match(names, "houses", 1)', ['0x6']],
    ['match(called@., "harbour", 5)', []],
  ])('%s', async (call, expected) => {
    expect(await uids(call)).toEqual(expected);
    // under "or" the function is asked of candidates, and never finds them
    const { q } = (await dql.query(
      `{ q(func: uid(0x1, 0x2, 0x3, 0x4, 0x5, 0x6, 0x7)) @filter(uid(0x99) or ${call}) { uid } }`,
    )) as { q: { uid: string }[] };
    expect(q.map(({ uid }) => uid)).toEqual(expected);
  });
});
