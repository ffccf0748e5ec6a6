import { describe, expect, it } from 'vitest';
import type { BodyNode, UrlTemplate } from './contract.js';
import { fillBody, fillUrl } from './template.js';

const text = (value: string) => ({ kind: 'text', text: value }) as const;
const variable = (name: string) => ({ kind: 'variable', name }) as const;

const url: UrlTemplate = {
  path: [text('http://api.test/movies/'), variable('id')],
  query: [
    { name: 'name', value: variable('name') },
    { name: 'num', value: variable('num') },
    { name: 'lang', value: text('en') },
  ],
};

describe('urls', () => {
  it.each<[string, Record<string, unknown>, string]>([
    ['form-encode', { id: '0x9', name: 'Michael Compton', num: 10 }, '0x9?name=Michael+Compton&num=10&lang=en'],
    ['null is empty', { id: 'a', name: null }, 'a?name=&lang=en'],
    ['absent is left out', { id: 'a' }, 'a?lang=en'],
    ['lists repeat', { id: 'a', num: [1, 2] }, 'a?num=1&num=2&lang=en'],
    ['nothing breaks out', { id: 'a/b?c#d', name: 'x&y=z' }, 'a%2Fb%3Fc%23d?name=x%26y%3Dz&lang=en'],
    ['dots that are no step up', { id: '...a/..b/c..' }, '...a%2F..b%2Fc..?lang=en'],
    ['lists and objects in the path', { id: { a: 1, b: [2, 3] } }, 'a%2C1%2Cb%2C2%2C3?lang=en'],
  ])('%s', (_, values, expected) => {
    expect(fillUrl(url, values)).toBe(`http://api.test/movies/${expected}`);
  });

  it('keep a fixed parameter as it is written, bare or empty', () => {
    const query = [{ name: 'bare' }, { name: 'empty', value: text('') }];
    expect(fillUrl({ path: [text('http://api.test/')], query }, {})).toBe('http://api.test/?bare&empty=');
  });

  it.each([
    {},
    { id: null },
    { id: '' },
    { id: [] },
    { id: '..' },
    { id: '.' },
    { id: '../a' },
    { id: 'a/..' },
    { id: '..\\a' },
  ])('refuse %j in the path', (values) => {
    expect(() => fillUrl(url, values)).toThrow(expect.objectContaining({ code: 'INVALID_VALUE' }));
  });
});

describe('an empty text in a path', () => {
  const path = (...parts: UrlTemplate['path'][number][]) => ({ path: [text('http://api.test/'), ...parts], query: [] });

  it('is refused where it is all of a segment', () => {
    const error = expect.objectContaining({ message: "the url's path needs $a$b, which is empty" });
    expect(() => fillUrl(path(variable('a'), variable('b'), text('/c')), { a: '', b: '' })).toThrow(error);
  });

  it('is nothing beside other text, and slashes of the template stand', () => {
    expect(fillUrl(path(text('x'), variable('a'), text('/')), { a: '' })).toBe('http://api.test/x/');
    expect(fillUrl(path(variable('a'), variable('b'), text('//c')), { a: '', b: '1' })).toBe('http://api.test/1//c');
  });
});

describe('bodies', () => {
  const body: BodyNode = {
    kind: 'object',
    fields: [
      { key: 'author', value: variable('id') },
      { key: 'post', value: { kind: 'object', fields: [{ key: 'id', value: variable('post') }] } },
      { key: 'tags', value: { kind: 'list', items: [variable('a'), variable('b')] } },
    ],
  };

  it('keep null and leave out what is absent', () => {
    expect(fillBody(body, { id: null, b: false })).toEqual({ author: null, post: {}, tags: [false] });
  });

  it('of one variable take its value', () => {
    expect(fillBody(variable('id'), { id: { a: 1 } })).toEqual({ a: 1 });
    expect(fillBody(variable('id'), {})).toBeUndefined();
  });
});
