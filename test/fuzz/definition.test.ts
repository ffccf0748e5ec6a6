import fc from 'fast-check';
import { validateSchema } from 'graphql';
import { describe, expect, it } from 'vitest';
import { generateSchema } from '../../src/api/schema/index.js';
import { defaultNames, dgraphNames, GraphsteadErrors } from '../../src/base/index.js';
import { derivedSchema, loadModel } from '../../src/sdl/index.js';

const SEED = `
interface Named @secret ( field : "pin" ) { id : ID! name : String! @search ( by : [ term , hash ] ) }
type Person implements Named @auth ( query : { rule : "{$ROLE: {eq: 1}}" } ) @key ( fields : "email" ) {
  email : String! @id friends : [ Person! ] @hasInverse ( field : friends ) home : Place look : [ Float! ] @embedding
  since : DateTime @default ( add : { value : "$now" } ) size : Size @search
  rank : Int @custom ( http : { url : "http://a.example/$email" , method : GET , mode : SINGLE } ) }
type Place @withSubscription @generate ( query : { get : false } ) { title : String @dgraph ( pred : "place.name@de" )
  people : [ Person ] @hasInverse ( field : home ) owner : [ Shop ] @dgraph ( pred : "~owns" ) at : Point @search }
extend type Shop @key ( fields : "id" ) { id : ID! @external owns : Place @dgraph ( pred : "owns" ) things : [ Thing ] }
type Sky @remote { clouds : Int @remoteResponse ( name : "c" ) }
union Thing = Person | Place
enum Size { S M }
input Near { town : String! = "x" }
type Query { sky ( near : Near ) : Sky @custom ( http : { url : "http://a.example" , method : POST , graphql : "{ sky }" } ) }
`;

const words = SEED.split(/\s+/).filter((word) => word !== '');

/** A few changes to the words of the seed: one left out, repeated, or replaced by another. */
const edit = fc.record({
  at: fc.nat(words.length - 1),
  how: fc.constantFrom('drop', 'repeat', 'replace'),
  by: fc.constantFrom(...new Set(words)),
});

const edited = fc.array(edit, { minLength: 1, maxLength: 4 }).map((edits) => {
  const text: string[] = [...words];
  for (const { at, how, by } of edits) {
    text[at] = how === 'drop' ? '' : how === 'repeat' ? `${text[at]} ${text[at]}` : by;
  }
  return text.join(' ');
});

describe('type definitions with mistakes', () => {
  it('begin with none', () => {
    expect(() => loadModel(words.join(' '), { names: defaultNames })).not.toThrow();
  });

  it.each([defaultNames, dgraphNames])('are refused by name or generate a valid schema', (names) => {
    fc.assert(
      fc.property(edited, (text) => {
        try {
          const model = loadModel(text, { names });
          expect(derivedSchema(model, names)).toContain('type ');
          expect(validateSchema(generateSchema(model, { names }).schema)).toEqual([]);
        } catch (error) {
          if (!(error instanceof GraphsteadErrors)) throw error;
          for (const each of error.errors) expect(each.fix).toBeTruthy();
          for (const each of error.errors) expect(each.details?.rule, each.message).not.toBe('generated-schema');
        }
      }),
      { numRuns: 300, seed: 7 },
    );
  });
});
