import { describe, expect, it } from 'vitest';
import { defaultNames } from '../base/index.js';
import { readSchema } from './served.js';

const mistakes = (text: string): string[] =>
  readSchema(text, { names: defaultNames, operations: [] }).errors.map(
    ({ position, message, details, fix }) =>
      `${position?.line}:${position?.column} ${String(details?.rule)}: ${message}${fix ? '' : ' (no fix)'}`,
  );

const rule = (text: string): string => `{ rule: "${text}" }`;

describe('mistakes of an upload', () => {
  it('are told at once: those of definitions and those of the queries in rules', () => {
    const found = mistakes(`
type Post @auth(query: ${rule('query { queryPost { titel } }')}, add: ${rule('query { queryPost(filter: { nope: 1 }) { title } }')}) {
  title: String! @search(by: [hash])
  author: Auther
}
type Tag @auth(query: ${rule('query { queryTag { labl } }')}) {
  label: String! @id @search(by: [nothing])
  other: String @search
}`);
    expect(found.map((each) => each.replace(/ Did you mean.*/, ''))).toEqual([
      expect.stringMatching(/^2:53 auth-query: .*Cannot query field "titel" on type "Post"\.$/),
      expect.stringMatching(/^2:109 auth-query: .*Field "nope" is not defined by type "PostFilter"\.$/),
      expect.stringMatching(/^4:\d+ known-type: .*Auther/),
      expect.stringMatching(/^6:51 auth-query: .*Cannot query field "labl" on type "Tag"\.$/),
      expect.stringMatching(/^7:\d+ search: .*nothing/),
    ]);
  });

  it('are not told again where a rule only misses what is wrong elsewhere', () => {
    const found = mistakes(`
type Post @auth(
  query: ${rule('query { queryPost(filter: { title: { eq: \\"a\\" } }) { author { name } } }')},
  update: ${rule('query ($f: AuthorFilter) { queryPost { author(filter: $f) { name } } }')},
  delete: ${rule('query { queryPost { titel } }')}
) {
  title: String @search(by: [hash, exact])
  text: String
  author: Author
}
type Author implements Nobody { name: String }`);
    expect(found).toHaveLength(3);
    expect(found.filter((each) => each.includes('auth-query'))).toEqual([expect.stringMatching(/^5:.*"titel"/)]);
  });

  it('leave the other rules of an @auth to be looked at', () => {
    const found = mistakes(`
type Post @auth(query: ${rule('query { queryPost { titel } }')}, add: { or: [] }, delete: ${rule('not a rule')}) { title: String }`);
    expect(found.map((each) => each.split(': ')[0])).toEqual(['2:53 auth-query', '2:72 auth', '2:101 auth']);
  });

  it('of one name given twice, of comments and of nothing else are told as they are', () => {
    expect(
      mistakes(`
# Service.Authorization {"broken"
type Post @auth(query: ${rule('query { queryPost { titel } }')}) { title: String }
type Post { title: String }`).map((each) => each.split(': ')[0]),
    ).toEqual([
      expect.stringMatching(/^2:\d+ comment$/),
      '3:53 auth-query',
      expect.stringMatching(/^4:\d+ unique-name$/),
    ]);
    expect(mistakes('type Post { title: Strin }')).toHaveLength(1);
    expect(mistakes('type Post { title: String }')).toEqual([]);
  });

  it('end where so much is wrong that nothing is left', () => {
    const circle = Array.from({ length: 40 }, (_, i) => `type T${i} { a: T${i + 1} }`).join('\n');
    const found = mistakes(circle);
    expect(found).toHaveLength(1);
    expect(found[0]).toMatch(/known-type/);
  });
});
