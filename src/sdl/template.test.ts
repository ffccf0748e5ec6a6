import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { GraphsteadError } from '../base/index.js';
import { type BodyNode, parseBodyTemplate, parseUrlTemplate } from './template.js';

describe('url templates', () => {
  it('takes a url apart', () => {
    const url = parseUrlTemplate('https://a.example:81/x/$id.json?q=$q&fixed=1&bare&empty=');
    expect(url.path).toEqual([
      { kind: 'text', text: 'https://a.example:81/x/' },
      { kind: 'variable', name: 'id', offset: 23 },
      { kind: 'text', text: '.json' },
    ]);
    expect(url.query).toEqual([
      { name: 'q', value: { kind: 'variable', name: 'q', offset: 34 } },
      { name: 'fixed', value: { kind: 'text', text: '1' } },
      { name: 'bare', value: undefined },
      { name: 'empty', value: { kind: 'text', text: '' } },
    ]);
    expect([url.pathVariables, url.queryVariables]).toEqual([['id'], ['q']]);
  });

  it('names a variable once and keeps a lone "$"', () => {
    const url = parseUrlTemplate('http://a.example/$id/$id/$/5$');
    expect(url.pathVariables).toEqual(['id']);
    expect(url.path.at(-1)).toEqual({ kind: 'text', text: '/$/5$' });
  });

  it.each([
    'a.example/x',
    'ftp://a.example',
    'http://',
    'http://$host/x',
    'http://a.example?$n=1',
    'http://a.example?n=a$b',
    'http://[::1/x',
    'http://a.example:port/x',
    'http://a.example/100%',
    'http://a.example/%zz/$id',
  ])('refuses %s', (text) => {
    expect(() => parseUrlTemplate(text)).toThrow(GraphsteadError);
  });
});

describe('body templates', () => {
  it('reads objects, lists, variables, and notes keys and constants', () => {
    const body = parseBodyTemplate('{ a: $x, "b c": [ $y, { d: $x } ], e: 1.5, f: null }');
    expect(body?.variables).toEqual(['x', 'y']);
    expect(body?.keys.map((k) => k.key)).toEqual(['a', 'b c', 'd', 'e', 'f']);
    expect(body?.constants.map((c) => c.text)).toEqual(['1.5', 'null']);
    expect(body?.root).toMatchObject({
      kind: 'object',
      fields: [{ key: 'a', value: { kind: 'variable', name: 'x' } }, {}, {}, {}],
    });
  });

  it('takes white space for no body', () => {
    expect(parseBodyTemplate(' \n ')).toBeUndefined();
  });

  it.each(['{', '{ a }', '{ a: }', '{{ a: $x }}', '[ $x', '$', '{ a: $x } }', '{ a: "\\q" }', '{ : $x }'])(
    'refuses %s',
    (text) => {
      expect(() => parseBodyTemplate(text)).toThrow(/body template/);
    },
  );

  it('has a key once in each object', () => {
    expect(() => parseBodyTemplate('{ a: $x, "a": $y }')).toThrow(/a key other than a.* at character 10/);
    expect(parseBodyTemplate('{ a: $x, b: { a: $y } }')?.variables).toEqual(['x', 'y']);
  });

  it('bounds its depth', () => {
    expect(() => parseBodyTemplate(`${'['.repeat(5000)}${']'.repeat(5000)}`)).toThrow(/levels/);
  });

  it('reads back what it is written from', () => {
    const name = fc.stringMatching(/^[a-z][a-z0-9]{0,5}$/);
    const node = fc.letrec<{ node: BodyNode }>((tie) => ({
      node: fc.oneof(
        { depthSize: 'small' },
        name.map((n): BodyNode => ({ kind: 'variable', name: n })),
        fc.array(tie('node'), { maxLength: 3 }).map((items): BodyNode => ({ kind: 'list', items })),
        fc
          .uniqueArray(fc.tuple(name, tie('node')), { maxLength: 3, selector: ([key]) => key })
          .map((fields): BodyNode => ({ kind: 'object', fields: fields.map(([key, value]) => ({ key, value })) })),
      ),
    })).node;
    fc.assert(
      fc.property(node, (root) => {
        expect(parseBodyTemplate(write(root))?.root).toEqual(root);
      }),
    );
  });
});

function write(node: BodyNode): string {
  if (node.kind === 'variable') return `$${node.name}`;
  if (node.kind === 'list') return `[${node.items.map(write).join(', ')}]`;
  if (node.kind === 'object') return `{ ${node.fields.map((f) => `${f.key}: ${write(f.value)}`).join(', ')} }`;
  return JSON.stringify(node.value);
}
