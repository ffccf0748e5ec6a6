import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { atOnce, dgraphNames, GraphsteadError } from '../../base/index.js';
import { nquadSteps } from '../parse/index.js';
import { NQuadReader, nquadLineParser } from './index.js';
import type { NQuadOptions } from './reader.js';

const parseNQuadLine = (line: string, options: NQuadOptions = {}) => nquadLineParser(options)(line);
const parseNQuads = (text: string, options: NQuadOptions = {}) => atOnce(nquadSteps(new NQuadReader(options), text));

function failure(line: string): GraphsteadError {
  try {
    parseNQuadLine(line);
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(GraphsteadError);
    return thrown as GraphsteadError;
  }
  throw new Error(`accepted: ${line}`);
}

describe('subjects and objects', () => {
  it.each([
    ['<0x1f>', { kind: 'uid', uid: 31 }],
    ['<7>', { kind: 'uid', uid: 7 }],
    ['_:a.b-c', { kind: 'blank', name: 'a.b-c' }],
    ['<_:ab>', { kind: 'blank', name: 'ab' }],
    ['uid( v )', { kind: 'variable', name: 'v' }],
    ['<http://x.org/a#b>', { kind: 'iri', iri: 'http://x.org/a#b' }],
  ])('%s', (text, node) => {
    expect(parseNQuadLine(`${text} <p> ${text} .`)).toMatchObject({ subject: node, predicate: 'p', object: node });
  });

  it('may be everything, and values of variables', () => {
    expect(parseNQuadLine('<0x1> * * .')).toMatchObject({ predicate: '*', object: { kind: 'all' } });
    expect(parseNQuadLine('* <p> * .')).toMatchObject({ subject: { kind: 'all' } });
    expect(parseNQuadLine('_:a <p> val(x) .')).toMatchObject({ object: { kind: 'value', variable: 'x' } });
  });

  it('end at the dot of the statement', () => {
    expect(parseNQuadLine('_:a <p> _:b.')).toMatchObject({ object: { kind: 'blank', name: 'b' } });
  });
});

describe('literals', () => {
  it.each([
    ['"plain"', { type: 'default', value: 'plain' }],
    ['""', { type: 'default', value: '' }],
    ['"a \\"b\\" \\\\ \\n \\u00e9 \\U0001f4a5"', { type: 'default', value: 'a "b" \\ \n é 💥' }],
    ['"42"^^<xs:int>', { type: 'int', value: 42 }],
    ['"9223372036854775807"^^<xs:int>', { type: 'int', value: 9223372036854775807n }],
    ['"1.5"^^<http://www.w3.org/2001/XMLSchema#double>', { type: 'float', value: 1.5 }],
    ['"true"^^<xs:boolean>', { type: 'bool', value: true }],
    ['"x"^^<xs:string>', { type: 'string', value: 'x' }],
  ])('%s', (text, value) => {
    expect(parseNQuadLine(`_:a <p> ${text} .`)?.object).toEqual({ kind: 'literal', value, lang: '' });
  });

  it('have a language of their own or of their predicate', () => {
    expect(parseNQuadLine('_:a <name> "x"@en-US .')).toMatchObject({
      predicate: 'name',
      lang: 'en-US',
      object: { lang: 'en-US' },
    });
    expect(parseNQuadLine('_:a <name@hi> "x" .')).toMatchObject({
      predicate: 'name',
      lang: 'hi',
      object: { lang: 'hi' },
    });
    expect(parseNQuadLine('<0x1> <name@de> * .')).toMatchObject({
      predicate: 'name',
      lang: 'de',
      object: { kind: 'all' },
    });
  });

  it.each(['a1', 'en1-2', 'x9', 'zh-Hans-1'])('have the language %s', (lang) => {
    expect(parseNQuadLine(`_:a <name> "x"@${lang} .`)).toMatchObject({ lang, object: { lang } });
    expect(parseNQuadLine(`_:a <name@${lang}> "x" .`)).toMatchObject({ predicate: 'name', lang });
  });

  it.each(['1a', '-en', 'en-', 'en--x', 'en_US'])('have no language %s', (lang) => {
    expect(failure(`_:a <name> "x"@${lang} .`).position).toBeDefined();
    expect(failure(`_:a <name@${lang}> "x" .`).position).toBeDefined();
  });
});

describe('facets', () => {
  it('have the type of how they are written', () => {
    const line =
      '_:a <p> _:b (i=-3, x=0x0D, f=1.5, b=true, s="x, y", e=, d=2006-01-02T15:04:05, big=9007199254740993) .';
    expect(parseNQuadLine(line)?.facets).toEqual([
      { key: 'i', value: { type: 'int', value: -3 } },
      { key: 'x', value: { type: 'int', value: 13 } },
      { key: 'f', value: { type: 'float', value: 1.5 } },
      { key: 'b', value: { type: 'bool', value: true } },
      { key: 's', value: { type: 'string', value: 'x, y' } },
      { key: 'e', value: { type: 'string', value: '' } },
      { key: 'd', value: { type: 'datetime', value: { seconds: 1136214245, nanos: 0, offset: 0 } } },
      { key: 'big', value: { type: 'int', value: 9007199254740993n } },
    ]);
  });

  it.each(['(a)', '(a=b)', '(=1)', '(a=1,)', '(a=1 b=2)', '(a=1, a=2)', '(a="x)'])('refuse %s', (facets) => {
    expect(failure(`_:a <p> _:b ${facets} .`).position).toBeDefined();
  });
});

describe('lines', () => {
  it.each(['', '   ', '# a comment', '\t# x'])('"%s" is empty', (line) => {
    expect(parseNQuadLine(line)).toBeUndefined();
  });

  it('tell where they are wrong', () => {
    const parse = nquadLineParser({ source: 'data.rdf' });
    expect(() => parse('_:a <p> x .', 17)).toThrow(GraphsteadError);
    try {
      parse('_:a <p> x .', 17);
    } catch (thrown) {
      expect((thrown as GraphsteadError).position).toEqual({ line: 17, column: 9, source: 'data.rdf' });
    }
  });

  it.each([
    '_:a <p> "x"',
    '_:a <p> "x" . _:b <p> "y" .',
    '_:a <p q> "x" .',
    '_:a <> "x" .',
    '_:a <p> "x"^^<xs:nothing> .',
    '_:a <p> "x"^^<xs:int> .',
    '_:a <p> "\\q" .',
    '_:a <p> "x"@ .',
    '_:a <p> "x" <graph> .',
    '<0x0> <p> "x" .',
    '<0x20000000000000> <p> "x" .',
    'UID(v) <p> "x" .',
    'val(v) <p> "x" .',
    'a <p> "x" .',
    '_:a <p@> "x" .',
    '_:a <p@en_US> "x" .',
  ])('refuse %s', (line) => {
    const error = failure(line);
    expect(['SYNTAX', 'INVALID_VALUE', 'INVALID_MUTATION']).toContain(error.code);
    expect(error.position?.line).toBe(1);
  });

  it('may be many, with comments between, and names become stored names', () => {
    const triples = parseNQuads('# head\n_:a <dgraph.type> "T" .\n\n_:a <n> "x" . # tail\r\n_:a <m> "y" .', {
      names: dgraphNames,
    });
    expect(triples.map(({ predicate, position }) => [predicate, position.line, position.column])).toEqual([
      ['service.type', 2, 1],
      ['n', 4, 1],
      ['m', 5, 1],
    ]);
  });

  it('give back any text that was escaped as JSON', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const object = parseNQuadLine(`_:a <p> ${JSON.stringify(text)} .`)?.object;
        expect(object).toMatchObject({ value: { value: text } });
      }),
    );
  });
});
