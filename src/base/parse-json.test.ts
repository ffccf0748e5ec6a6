import { describe, expect, it } from 'vitest';
import { parseJson } from './index.js';

describe('JSON that is read', () => {
  it('keeps every digit of large integers', () => {
    expect(
      parseJson('{"id":1231723732206411776,"text":"1231723732206411776","near":9007199254740991,"f":1e300}'),
    ).toEqual({
      value: { id: '1231723732206411776', text: '1231723732206411776', near: 9007199254740991, f: 1e300 },
    });
    expect(parseJson('{"a":')).toBeUndefined();
  });
});
