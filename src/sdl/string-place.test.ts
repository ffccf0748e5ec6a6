import { Kind, parse, type StringValueNode, visit } from 'graphql';
import { describe, expect, it } from 'vitest';
import { placeInString } from './string-place.js';

/** The place of the sign `§` inside the value of the only string, told by its place in the whole text. */
function told(text: string): { readonly told: object; readonly real: object } {
  const found: StringValueNode[] = [];
  visit(parse(text), { [Kind.STRING]: (node: StringValueNode) => void found.push(node) });
  const [{ value, loc }] = found;
  const start = { line: loc?.startToken.line ?? 0, column: loc?.startToken.column ?? 0 };
  const place = (lines: readonly string[]) => {
    const line = lines.findIndex((one) => one.includes('§'));
    return { line: line + 1, column: (lines[line]?.indexOf('§') ?? 0) + 1 };
  };
  return { told: placeInString(text, start, place(value.split('\n'))), real: place(text.split(/\r\n|[\n\r]/)) };
}

describe('a place inside a string', () => {
  it.each([
    ['of one line', 'type Q { a: Int @custom(dql: "{ a(func: §) }") }'],
    ['behind escapes', String.raw`type Q { a: Int @custom(dql: "{ eq(b, \"c\" \u0041 \u{1F600}\n\t d, §) }") }`],
    ['in a block', 'type Q { a: Int @custom(dql: """\n\n    query {\n      a(func: §)\n    }\n  """) }'],
    ['in a block, on the line of its quotes', 'type Q {\n a: Int @custom(dql: """{ § }""") }'],
    ['in a block that begins beside its quotes', 'type Q { a: Int @custom(dql: """{\n     b\n   § }\n""") }'],
    ['in a block with carriage returns', 'type Q { a: Int @custom(dql: """\r\n  {\r\n    §\r\n  }""") }'],
    ['in a block with quotes of its own', 'type Q { a: Int @custom(dql: """\n  { \\""" }\n    § """) }'],
  ])('%s is the one in the whole text', (_, text) => {
    const { told: place, real } = told(text);
    expect(place).toEqual(real);
  });
});
