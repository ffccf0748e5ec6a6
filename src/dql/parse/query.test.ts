import { describe, expect, it } from 'vitest';
import { dgraphNames, GraphsteadError, makeLimits } from '../../base/index.js';
import type { Block, PredicateSelection, QueryDocument, Selection } from '../syntax/index.js';
import { type ParseQueryOptions, parseQuery } from './index.js';

function block(text: string, options?: ParseQueryOptions): Block {
  return parseQuery(text, options).blocks[0];
}

/** The one field of `{ q(func: has(x)) { ... } }`. */
function field(text: string, options?: ParseQueryOptions): Selection {
  return block(`{ q(func: has(x)) { ${text} } }`, options).children[0];
}

function failure(text: string, options?: ParseQueryOptions): GraphsteadError {
  try {
    parseQuery(text, options);
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(GraphsteadError);
    return thrown as GraphsteadError;
  }
  throw new Error(`accepted: ${text}`);
}

describe('blocks', () => {
  it('have a name, a function, a page, an order and directives', () => {
    const q = block(
      '{ people(func: has(name), first: -3, offset: 2, after: 0x1f, orderasc: name@en, orderdesc: age) @filter(ge(age, 3)) @cascade(name, ~friend) @normalize @ignorereflex { name } }',
    );
    expect(q).toMatchObject({
      kind: 'block',
      name: 'people',
      isVar: false,
      root: { name: 'has', subject: { kind: 'predicate', name: 'name' }, args: [] },
      page: { first: -3, offset: 2, after: { kind: 'uid', uid: 31 } },
      order: [
        { by: { kind: 'predicate', name: 'name', langs: ['en'] }, descending: false },
        { by: { kind: 'predicate', name: 'age', langs: [] }, descending: true },
      ],
      filter: { kind: 'call', call: { name: 'ge', args: [{ kind: 'literal', text: '3', quoted: false }] } },
      directives: { cascade: ['name', '~friend'], normalize: true, ignoreReflex: true },
    });
  });

  it('may be several, unnamed, without fields, and separated by commas', () => {
    const { blocks } = parseQuery(
      '{ a(func: uid(1)), x as var(func: uid(2)) c(func: uid(x)) { uid } } query { d(func: uid(3)) { uid } }',
    );
    expect(blocks.map(({ name, isVar, variable }) => [name, isVar, variable])).toEqual([
      ['a', false, undefined],
      ['var', true, 'x'],
      ['c', false, undefined],
      ['d', false, undefined],
    ]);
  });

  it('recurse', () => {
    expect(block('{ q(func: uid(1)) @recurse(depth: 3, loop: true) { friend } }').recurse).toEqual({
      depth: 3,
      loop: true,
    });
    expect(block('{ q(func: uid(1)) @recurse { friend } }').recurse).toEqual({ loop: false });
    expect(failure('{ q(func: uid(1)) @recurse(loop: true) { friend } }').message).toContain('depth');
    expect(failure('{ q(func: uid(1)) @recurse { friend { name } } }').message).toContain('one level');
  });

  it('find shortest paths', () => {
    const { blocks } = parseQuery(
      '{ a as var(func: uid(9)) p as shortest(from: 0x1, to: uid(a), numpaths: 2, depth: 4, minweight: 1.5, maxweight: 9, maxfrontiersize: 10) { friend @facets(weight) } q(func: uid(p)) { uid } }',
    );
    expect(blocks[1]).toMatchObject({
      variable: 'p',
      shortest: {
        from: { kind: 'uid', uid: 1 },
        to: { kind: 'variable', name: 'a' },
        numPaths: 2,
        depth: 4,
        minWeight: 1.5,
        maxWeight: 9,
        maxFrontierSize: 10,
      },
    });
    expect(failure('{ shortest(from: 1) { friend } }').message).toContain('to');
  });

  it('group', () => {
    const q = block('{ q(func: has(x)) @groupby(age, Name: name@en, ~friend) { count(uid) oldest: max(age) } }');
    expect(q.groupBy?.keys).toMatchObject([
      { name: 'age', langs: [], reverse: false, position: { line: 1, column: 28 } },
      { name: 'name', alias: 'Name', langs: ['en'], reverse: false },
      { name: 'friend', langs: [], reverse: true },
    ]);
    expect(q.children[1]).toMatchObject({ kind: 'aggregate', op: 'max', of: { kind: 'predicate', name: 'age' } });
    expect(failure('{ q(func: has(x)) @groupby(age) { name } }').code).toBe('INVALID_QUERY');
  });

  it('without a function show aggregates only', () => {
    expect(block('{ me() { sum(val(x)) m: math(x * 2) } var(func: has(a)) { x as a } }').root).toBeUndefined();
    expect(failure('{ me() { name } }').code).toBe('INVALID_QUERY');
  });
});

describe('functions', () => {
  it.each([
    [
      'eq(name@en, "a", "b")',
      [
        { text: 'a', quoted: true },
        { text: 'b', quoted: true },
      ],
    ],
    ['eq(name, ["a", b, 3])', [{ text: 'a' }, { text: 'b', quoted: false }, { text: '3' }]],
    ['le(age, -3.5e2)', [{ text: '-3.5e2' }]],
    ['between(age, 1, 2)', [{ text: '1' }, { text: '2' }]],
    ['regexp(name, /^a\\/b "x" \\\\d$/i)', [{ kind: 'regexp', pattern: '^a/b "x" \\\\d$', flags: 'i' }]],
    ['match(name, "x", 3)', [{ text: 'x' }, { text: '3' }]],
    ['near(loc, [-1.5, 2], 1000)', [{ kind: 'coordinates', text: '[-1.5,2]' }, { text: '1000' }]],
    ['within(loc, [[[0,0],[1, 0.5],[0,0]]])', [{ kind: 'coordinates', text: '[[[0,0],[1,0.5],[0,0]]]' }]],
    [
      'uid_in(friend, [0x1, 2])',
      [
        { kind: 'uid', uid: 1 },
        { kind: 'uid', uid: 2 },
      ],
    ],
    ['type(Person)', [{ text: 'Person' }]],
    ['has(~friend)', []],
    ['eq(<http://x.org/名>, "\\u00e9\\n")', [{ text: 'é\n' }]],
    ['EQ(name, true)', [{ text: 'true', quoted: false }]],
  ])('%s', (call, args) => {
    const { filter } = block(`{ q(func: has(x)) @filter(${call}) }`);
    expect(filter).toMatchObject({ kind: 'call', call: { args } });
  });

  it('ask of counts and values', () => {
    const { blocks } = parseQuery(
      '{ var(func: has(a)) { x as a } q(func: gt(count(~friend), 2)) @filter(eq(val(x), 1) and eq(name, val(x))) { uid } }',
    );
    expect(blocks[1].root?.subject).toEqual({ kind: 'count', name: 'friend', reverse: true });
    expect(blocks[1].filter).toMatchObject({
      kind: 'and',
      children: [
        { call: { subject: { kind: 'value', variable: 'x' } } },
        { call: { args: [{ kind: 'value', variable: 'x' }] } },
      ],
    });
  });

  it.each(['count(friend)', 'val(x)', 'len(x)'])('only compare %s', (subject) => {
    const asked = (call: string) => `{ var(func: has(a)) { x as a } q(func: uid(x)) @filter(${call}) { uid } }`;
    for (const call of [`has(${subject})`, `anyofterms(${subject}, "5")`, `uid_in(${subject}, 0x5)`]) {
      const error = failure(asked(call));
      expect(error.code, call).toBe('INVALID_QUERY');
      expect(error.message, call).toContain(`cannot be asked of ${subject.replace(/\(.*/, '(...)')}`);
    }
    expect(parseQuery(asked(`gt(${subject}, 5)`)).blocks).toHaveLength(2);
  });

  it('take uids, variables, and lists of them from a variable', () => {
    const text = 'query q($ids: string) { v as var(func: uid($ids)) r(func: uid(0x1, v, <0x2>)) { uid } }';
    for (const ids of ['[0x10, 17]', '["0x10", "17"]']) {
      const { blocks } = parseQuery(text, { variables: { ids } });
      expect(blocks[0].root?.args).toMatchObject([{ uid: 16 }, { uid: 17 }]);
      expect(blocks[1].root?.args).toMatchObject([{ uid: 1 }, { kind: 'uidVariable', name: 'v' }, { uid: 2 }]);
    }
    expect(() => parseQuery(text, { variables: { ids: '["0x10]' } })).toThrow('is not a uid');
  });

  it('take options by name', () => {
    const call = 'similar_to(v, 3, "[1, 2]", ef: 64, distance_threshold: 0.5)';
    expect(block(`{ q(func: ${call}) { uid } }`).root?.options).toEqual({ ef: 64, distanceThreshold: 0.5 });
    expect(failure('{ q(func: similar_to(v, 3, "[1]", ef: 0)) { uid } }').code).toBe('INVALID_QUERY');
    expect(failure('{ q(func: similar_to(v, 3, "[1]", nothing: 1)) { uid } }').message).toContain('nothing');
    expect(failure('{ q(func: similar_to(v, 3, "[1]", ef: "64")) { uid } }').message).toBe(
      'expected a number, found ""64""',
    );
  });

  it('join with and, or, not and brackets', () => {
    const { filter } = block('{ q(func: has(x)) @filter(NOT has(a) AND (has(b) OR not has(c)) or has(d)) }');
    expect(filter).toMatchObject({
      kind: 'or',
      children: [
        { kind: 'and', children: [{ kind: 'not' }, { kind: 'or', children: [{}, { kind: 'not' }] }] },
        { kind: 'call' },
      ],
    });
    expect(block('{ q(func: has(x)) @filter() }').filter).toBeUndefined();
  });

  it.each([
    'eq(name)',
    'le(age, 1, 2)',
    'has(name, 1)',
    'regexp(name, "x")',
    'regexp(name, /a/g)',
    'nothing(name, 1)',
    'eq(name@*, "x")',
    'eq(name, "x"@en)',
    'eq(name, sum(age))',
    'uid(val(x))',
    'uid_in(friend, foo)',
    'near(loc, [1, [2], 3',
    'eq(name, {a: 1})',
    'eq(name, ["a",])',
    'has(uid)',
    'eq(uid, 1)',
    'uid_in(<uid>, 1)',
    'gt(count(uid), 1)',
  ])('refuse %s', (call) => {
    const error = failure(`{ q(func: has(x)) @filter(${call}) { uid } }`);
    expect(error.position).toBeDefined();
    expect(['SYNTAX', 'INVALID_QUERY']).toContain(error.code);
  });
});

describe('fields', () => {
  it('have aliases, languages, arguments and directives in any order', () => {
    const friend = field(
      'f: friend @filter(has(a)) (first: 2) @facets(close, s: since) (orderasc: name) @facets(gt(since, 3)) { name@en:fr:. }',
    );
    expect(friend).toMatchObject({
      kind: 'predicate',
      alias: 'f',
      name: 'friend',
      page: { first: 2 },
      order: [{ by: { name: 'name' } }],
      facets: { all: false, keys: [{ key: 'close' }, { key: 'since', alias: 's' }] },
      facetFilter: { kind: 'test', fn: 'gt', key: 'since', args: ['3'] },
    });
    expect((friend as PredicateSelection).children[0]).toMatchObject({
      shown: 'name@en:fr:.',
      langs: ['en', 'fr', '.'],
    });
  });

  it.each<[string, object]>([
    ['~friend { uid }', { kind: 'predicate', name: 'friend', reverse: true, shown: '~friend' }],
    ['<http://x/y>', { name: 'http://x/y', shown: 'http://x/y' }],
    ['first-name@es-419', { name: 'first-name', langs: ['es-419'] }],
    ['name@*', { langs: ['*'] }],
    ['uid', { kind: 'uid' }],
    ['n: count(uid)', { kind: 'countUid', alias: 'n' }],
    [
      'count(friend @filter(has(a)) @facets(eq(close, true)))',
      { kind: 'countPredicate', shown: 'friend', filter: {}, facetFilter: {} },
    ],
    ['count(~friend)', { kind: 'countPredicate', name: 'friend', reverse: true }],
    ['checkpwd(pass, "s\\"3")', { kind: 'checkPassword', name: 'pass', password: 's"3' }],
    ['expand(_all_) @filter(type(A)) { uid }', { kind: 'expand', of: { kind: 'all' }, filter: {} }],
    ['expand(A, B)', { kind: 'expand', of: { kind: 'types', names: ['A', 'B'] } }],
    ['friend @facets', { facets: { all: true, keys: [] } }],
    ['friend @facets()', { facets: { all: false, keys: [] } }],
    ['friend @facets(orderdesc: since, close)', { facets: { order: [{ key: 'since', descending: true }] } }],
    ['friend @facets(not (eq(a, 1) or eq(b, "x"))) { uid }', { facetFilter: { kind: 'not' } }],
    ['friend @groupby(age) { count(uid) }', { groupBy: { keys: [{ name: 'age' }] } }],
    ['friend @cascade @normalize { a: name }', { directives: { cascade: [], normalize: true } }],
  ])('%s', (text, expected) => {
    expect(field(text)).toMatchObject(expected);
  });

  it('define and use variables', () => {
    const { blocks } = parseQuery(`{
      var(func: has(a)) {
        f as friend @facets(w as weight) { n as count(friend) a AS age b as math(n + a) alias: c as name }
      }
      q(func: uid(f), orderdesc: val(n)) { val(w) s: val(b) max(val(a)) expand(val(c)) }
    }`);
    expect(blocks[0].children[0]).toMatchObject({
      variable: 'f',
      facets: { keys: [{ key: 'weight', variable: 'w' }] },
    });
    expect(blocks[1].order[0].by).toEqual({ kind: 'variable', name: 'n' });
  });

  it.each([
    'friend { name } }',
    'name@en { x }',
    'a: b: c',
    '@filter(has(a)) name',
    'count(a, b)',
    'count()',
    'uid()',
    'u: uid(first: 1)',
    'count(friend) { name }',
    'min(age)',
    'math(1)',
    'x: expand(_all_)',
    'expand(_all_) @filter(type(A) or has(b)) { uid }',
    'expand(_forward_)',
    'friend(all: 5)',
    'friend(first: )',
    'friend(first: x)',
    'friend(orderasc: a, orderdesc: a)',
    'friend @nothing(x)',
    'friend @groupby(age,) { count(uid) }',
    'friend @facets(a b)',
    'friend @facets(gt(a, 1, 2))',
    'friend(orderasc: val(x)) { x as age }',
    'x as math(1) val(x)',
    'name@.:en',
    'name@en:*',
    'name name',
    'a: x a: y',
    'n\u00e4me',
    'name "x"',
  ])('refuse %s', (text) => {
    const error = failure(`{ q(func: has(x)) { ${text} } }`);
    expect(error.position).toBeDefined();
    expect(error.fix ?? error.message).toBeTruthy();
  });
});

it('uid_in takes nodes, and no values', () => {
  const text = '{ var(func: has(x)) { v as x } q(func: has(x)) @filter(uid_in(boss, val(v))) { x } }';
  expect(failure(text).message).toContain('uid_in(...) takes uid variables');
});

describe('a comma with nothing behind it', () => {
  it.each([
    'query q($a: int,) { q(func: has(x), first: $a) { x } }',
    '{ q(func: has(x), first: 1,) { x } }',
    '{ q(func: has(x,)) { x } }',
    '{ q(func: eq(x, 1,)) { x } }',
    '{ q(func: eq(x, [1,])) { x } }',
    '{ q(func: uid(1,)) { x } }',
    '{ q(func: near(x, [1, 2,], 3)) { x } }',
    '{ q(func: has(x)) { f(first: 1,) { x } } }',
    '{ q(func: has(x)) { f @facets(eq(a, [1,])) { x } } }',
    '{ q(func: has(x)) { a as x m: math(max(a, 1,)) } }',
    '{ q(func: has(x)) @recurse(depth: 1,) { x } }',
    '{ q(func: has(x)) @cascade(x,) { x } }',
    '{ shortest(from: 1, to: 2,) { x } }',
    '{ v as var(func: has(x)) q(func: has(x)) @filter(uid_in(f, uid(v,))) { x } }',
    'schema(pred: [x,]) { type }',
  ])('is refused: %s', (text) => {
    expect(failure(text).message).toMatch(/expected an.* after ","|expected .* @cascade/);
  });
});

describe('math', () => {
  const shown = (text: string): string => {
    const document = parseQuery(`{ q(func: has(x)) { a as age b as size m: math(${text}) } }`, {
      needed: ['a', 'b'].map((name) => ({ name, position: { line: 1, column: 1 } })),
    });
    const math = document.blocks[0].children[2];
    const print = (e: Extract<Selection, { kind: 'math' }>['expression']): string =>
      e.kind === 'apply' ? `(${e.op} ${e.args.map(print).join(' ')})` : e.kind === 'variable' ? e.name : e.text;
    return math.kind === 'math' ? print(math.expression) : '';
  };

  it.each([
    ['a + b * 2', '(+ a (* b 2))'],
    ['a - b - 1', '(- (- a b) 1)'],
    ['a-b', '(- a b)'],
    ['(a + b) / 2', '(/ (+ a b) 2)'],
    ['-a * 2', '(* (neg a) 2)'],
    ['a < 3 && b >= 2 || !(a == b)', '(|| (&& (< a 3) (>= b 2)) (! (== a b)))'],
    ['cond(a > 1, pow(a, 2), logbase(b, 10))', '(cond (> a 1) (pow a 2) (logbase b 10))'],
    ['max(a, b, 0x1f)', '(max a b 0x1f)'],
    ['(a - b) dot (a - b)', '(dot (- a b) (- a b))'],
    ['1e3 + 0.5', '(+ 1e3 0.5)'],
    ['a<b', '(< a b)'],
  ])('%s', (text, expected) => {
    expect(shown(text)).toBe(expected);
  });

  it.each(['', 'a +', 'a + *', '1 / 0', 'a % (1 - 1)', 'nothing(a)', 'pow(a)', '(a', 'a b', '1x'])(
    'refuse "%s"',
    (text) => {
      expect(() => shown(text)).toThrow(GraphsteadError);
    },
  );
});

describe('variables of the request', () => {
  it('have types and defaults', () => {
    const text = 'query t($a: int = 2, $b: string!, $c: bool) { q(func: eq(name, $b), first: $a) { uid } }';
    expect(block(text, { variables: { $b: 'x y' } })).toMatchObject({
      page: { first: 2 },
      root: { args: [{ text: 'x y', quoted: true }] },
    });
    expect(block(text, { variables: { b: 'x', a: '7' } }).page.first).toBe(7);
  });

  it('must be declared, except for the arguments of @recurse in a text without a head', () => {
    const variables = { d: '2', l: 'true' };
    expect(failure('{ q(func: eq(name, $d)) { uid } }', { variables }).code).toBe('INVALID_QUERY');
    expect(failure('{ q(func: has(a), first: $d) { uid } }', { variables }).code).toBe('INVALID_QUERY');
    const q = block('{ q(func: has(a)) @recurse(depth: $d, loop: $l) { friend } }', { variables });
    expect(q.recurse).toEqual({ depth: 2, loop: true });
  });

  it.each<[string, Record<string, string>]>([
    ['query t($a: int) { q(func: has(x), first: $a) { uid } }', { a: '1.5' }],
    ['query t($a: int) { q(func: has(x), first: $a) { uid } }', { a: '9223372036854775808' }],
    ['query t($a: bool) { q(func: eq(x, $a)) { uid } }', { a: 'yes' }],
    ['query t($a: float) { q(func: eq(x, $a)) { uid } }', { a: '' }],
    ['query t($a: string!) { q(func: eq(x, $a)) { uid } }', {}],
    ['query t($a: nothing) { q(func: eq(x, $a)) { uid } }', { a: '1' }],
    ['query t($a: int, $a: int) { q(func: eq(x, $a)) { uid } }', { a: '1' }],
    ['query t($a: int! = 3) { q(func: eq(x, $a)) { uid } }', {}],
    ['query t($a: int) { q(func: eq(x, $b)) { uid } }', { a: '1' }],
    ['query t($a: int) { q(func: eq(x, $a)) { uid } }', { a: '1', b: '2' }],
    ['query t($a: string) { q(func: uid($a)) { uid } }', { a: '  ' }],
    ['query t($a: string) { q(func: regexp(x, $a)) { uid } }', { a: 'x/' }],
  ])('%s with %o is refused', (text, variables) => {
    expect(failure(text, { variables }).code).toBe('INVALID_QUERY');
  });
});

describe('fragments', () => {
  it('bring uid a second time without a second key', () => {
    const q = block(
      '{ q(func: has(x)) { uid ...a u: uid friend { ...b ...b } } } fragment a { uid name } fragment b { uid }',
    );
    expect(q.children.map(({ kind, alias }) => alias ?? kind)).toEqual(['uid', 'predicate', 'u', 'predicate']);
    expect(q.children[3]).toMatchObject({ name: 'friend', children: [{ kind: 'uid' }] });
  });

  it('are put in place, also inside of each other', () => {
    const q = block('{ q(func: has(x)) { ...a, friend { ...b } } } fragment a { name ...b } fragment b { age }');
    expect(q.children).toMatchObject([
      { name: 'name' },
      { name: 'age' },
      { name: 'friend', children: [{ name: 'age' }] },
    ]);
    const [, age, friend] = q.children;
    expect((friend as PredicateSelection).children[0]).not.toBe(age);
  });

  it('refuse circles, unknown names, names given twice and explosions', () => {
    expect(failure('{ q(func: has(x)) { ...a } } fragment a { ...b } fragment b { ...a }').message).toContain(
      'a -> b -> a',
    );
    expect(failure('{ q(func: has(x)) { ...a } }').message).toContain('a');
    expect(failure('{ q(func: has(x)) { uid } } fragment a { x } fragment a { y }').message).toContain('twice');
    const many = Array.from({ length: 40 }, (_, i) => `fragment f${i} { x { ...f${i + 1} } y { ...f${i + 1} } }`).join(
      ' ',
    );
    expect(failure(`{ q(func: has(x)) { ...f0 } } ${many} fragment f40 { z }`).code).toBe('LIMIT_EXCEEDED');
  });
});

describe('checks of the whole', () => {
  it.each([
    ['{ q(func: uid(v)) { uid } }', 'not defined'],
    ['{ v as var(func: has(x)) }', 'not used'],
    ['{ v as var(func: has(x)) v as var(func: has(y)) q(func: uid(v)) { uid } }', 'twice'],
    ['{ a as var(func: uid(b)) b as var(func: uid(a)) q(func: uid(a)) { uid } }', 'wait'],
    ['{ a as var(func: uid(a)) q(func: uid(a)) { uid } }', 'itself'],
    ['{ q(func: has(x)) { uid } q(func: has(y)) { uid } }', 'two blocks'],
    ['{ q(func: has(x)) { a as math(b + 1) b as math(a + 1) } }', 'in a circle: a, b'],
    ['{ q(func: has(x)) { a as math(a + 1) } }', 'in a circle: a'],
    ['{ q(func: has(x)) { y { c as z a as math(b + c) } b as sum(val(a)) } }', 'in a circle: a, b'],
    ['{ var() { a as math(b + 1) b as math(a + 1) } q(func: has(x)) { val(a) } }', 'in a circle: a, b'],
    ['{ q(func: has(x)) { f as y @filter(uid(f)) { uid } } }', 'filtered by f, which it defines itself'],
    ['{ q(func: has(x)) { y @filter(gt(val(a), 1)) { a as z } } }', 'filtered by a, which it defines itself'],
    ['{ q(func: has(x)) { y @facets(a as since) @filter(gt(val(a), 1)) { z } } }', 'filtered by a, which'],
    ['{ q(func: has(x)) { y { z @filter(not uid(f)) { f as w } } } }', 'filtered by f, which'],
    ['{ q(func: has(x)) { age name: age name } }', 'name stands twice'],
    ['{ q(func: has(x)) { uid uid: age } }', 'uid stands twice'],
    ['{ q(func: has(x)) { uid: age uid } }', 'uid stands twice'],
    ['{ q(func: has(x)) { friend { z } friend: count(friend) } }', 'friend stands twice'],
    ['{ q(func: has(x)) { friend @facets(a: since, a: close) { z } } }', 'two facets are shown as a'],
    ['{ q(func: has(x)) { friend @facets(z: since) { z } } }', 'z stands twice'],
    ['{ q(func: has(x)) @groupby(age) { age: count(uid) } }', 'age stands twice'],
    ['{ q(func: has(x)) { y @groupby(count: age) { count(uid) } } }', 'count stands twice'],
    ['{ q(func: has(x)) @groupby(age, age) { count(uid) } }', 'two of its keys as age'],
    ['{ q(func: has(x)) @groupby(a: age, a: name) { count(uid) } }', 'two of its keys as a'],
    ['{ q(func: has(x)) @groupby(name@*) { count(uid) } }', 'all languages of name'],
    ['{ q(func: has(x), orderasc: name@*) { name } }', 'several languages'],
    ['{ q(func: has(x)) { name @facets(name: since) } }', 'name stands twice'],
    ['{ q(func: has(x)) { age name @facets(age: since) } }', 'age stands twice'],
  ])('%s', (text, message) => {
    const error = failure(text);
    expect(error.code).toBe('INVALID_QUERY');
    expect(error.message).toContain(message);
    expect(error.fix).toBeTruthy();
  });

  it('lets values be computed from each other, and an edge be filtered by what stands above it or beside it', () => {
    for (const text of [
      '{ q(func: has(x)) { a as age c as math(b + a) b as math(a + 1) x: val(c) } }',
      '{ q(func: has(x)) { y { a as z b as math(a) } c as sum(val(b)) d: math(c * 2) } }',
      '{ q(func: has(x)) { f as y { z @filter(uid(f)) { uid } } } }',
      '{ q(func: has(x)) { y @facets(a as since) { z @filter(uid(a)) { uid } } } }',
      '{ q(func: has(x)) { f as y { uid } z @filter(uid(f)) { uid } } }',
      '{ q(func: has(x)) { z friend @facets(z: since, friend: close) { y } name @facets(o: since) } }',
      '{ q(func: has(x)) { uid uid u: uid name: uid friend @groupby(age) { count(uid) } friend { z } } }',
      '{ q(func: has(x)) @groupby(age, a: age, name@en, name@fr) { count(uid) n: count(uid) min(age) } }',
    ]) {
      expect(parseQuery(text).blocks, text).toHaveLength(1);
    }
  });

  it('takes an alias that another field is named like with --compat dgraph, as the peer does, but none twice', () => {
    for (const text of [
      '{ q(func: has(x)) { age name: age name } }',
      '{ q(func: has(x)) { uid: age uid } }',
      '{ q(func: has(x)) { friend @facets(z: since, z: close) { z } name @facets(name: since) } }',
    ]) {
      expect(parseQuery(text, { names: dgraphNames }).blocks, text).toHaveLength(1);
    }
    expect(failure('{ q(func: has(x)) { a: age a: name } }', { names: dgraphNames }).message).toMatch(/stands twice/);
  });

  it('knows variables that mutations use', () => {
    const needed = [{ name: 'v', position: { line: 1, column: 1 } }];
    expect(parseQuery('{ v as var(func: has(x)) }', { needed }).blocks).toHaveLength(1);
  });
});

describe('schema queries', () => {
  it('ask for predicates, types and properties', () => {
    expect(parseQuery('schema {}').schema).toMatchObject({ fields: [] });
    expect(parseQuery('schema(pred: [a, <bc>]) { type index }').schema).toMatchObject({
      predicates: ['a', 'bc'],
      fields: ['type', 'index'],
    });
    expect(parseQuery('schema(type: T) {}').schema).toMatchObject({ types: ['T'] });
  });

  it('stand alone', () => {
    expect(failure('schema {} { q(func: has(x)) { uid } }').code).toBe('INVALID_QUERY');
    expect(failure('schema {} schema {}').code).toBe('INVALID_QUERY');
    expect(failure('schema() {}').code).toBe('SYNTAX');
    expect(failure('schema(pred: [a, ]) {}').code).toBe('SYNTAX');
  });
});

describe('texts', () => {
  it('hold comments, and names are stored names', () => {
    const text = '# one\n{ # two\n q(func: type(Person)) { dgraph.type # three\n } }';
    expect(block(text, { names: dgraphNames }).children[0]).toMatchObject({
      name: 'service.type',
      shown: 'dgraph.type',
    });
  });

  it('tell mistakes with line and column, what was expected, and a fix', () => {
    const error = failure('{\n  q(func: has(name)) {\n    friend @filter(eq(name "x")) { uid }\n  }\n}');
    expect(error.code).toBe('SYNTAX');
    expect(error.position).toEqual({ line: 3, column: 28 });
    expect(error.message).toContain('","');
  });

  it('are bounded in depth and tokens', () => {
    const limits = makeLimits({ nestingDepth: 20, syntaxTokens: 1000 });
    const deep = (n: number) => `{ q(func: has(x)) ${'{ a '.repeat(n)}${'}'.repeat(n)} }`;
    expect(parseQuery(deep(19), { limits }).blocks).toHaveLength(1);
    expect(failure(deep(21), { limits }).code).toBe('LIMIT_EXCEEDED');
    const many = `{ q(func: uid(${Array.from({ length: 600 }, (_, i) => i).join(', ')})) { uid } }`;
    expect(failure(many, { limits }).code).toBe('LIMIT_EXCEEDED');
    expect(failure(`{ q(func: has(x)) @filter(${'('.repeat(100_000)}`).code).toBe('LIMIT_EXCEEDED');
    expect(failure(`{ q(func: has(x)) { m: math(${'-'.repeat(100_000)}1) } }`).code).toBe('LIMIT_EXCEEDED');
    expect(failure(`{ q(func: has(x)) { m: math(1${'+1'.repeat(100_000)}) } }`).code).toBe('INVALID_QUERY');
    const chain = Array.from({ length: 20_000 }, (_, i) => `fragment f${i} { a { ...f${i + 1} } }`).join(' ');
    expect(failure(`{ q(func: has(x)) { ...f0 } } ${chain} fragment f20000 { z }`).code).toBe('LIMIT_EXCEEDED');
  });

  it('count empty lines and comments among their tokens', () => {
    const limits = makeLimits({ syntaxTokens: 1000 });
    for (const line of ['\n', '# told\n', ' \n']) {
      expect(parseQuery(`{ q(func: has(x)) { x ${line.repeat(900)} } }`, { limits }).blocks).toHaveLength(1);
      for (const text of [
        `{ q(func: has(x)) { x ${line.repeat(1_100)} } }`,
        `{ q(func: has(x)) { x } }${line.repeat(1_100)}`,
      ]) {
        expect(failure(text, { limits })).toMatchObject({
          code: 'LIMIT_EXCEEDED',
          message: expect.stringContaining('syntaxTokens'),
        });
      }
    }
  });

  it('are bounded in the fields that fragments make of them', () => {
    const twice = (i: number) => `fragment f${i} { a { ...f${i + 1} } b { ...f${i + 1} } }`;
    const fragments = Array.from({ length: 40 }, (_, i) => twice(i)).join(' ');
    const error = failure(`{ q(func: has(x)) { ...f0 } } ${fragments} fragment f40 { z }`);
    expect(error).toMatchObject({ code: 'LIMIT_EXCEEDED', message: expect.stringContaining('queryFields') });
    const few = makeLimits({ queryFields: 3 });
    expect(parseQuery('{ q(func: has(x)) { a b c } }', { limits: few }).blocks[0].children).toHaveLength(3);
    expect(failure('{ q(func: has(x)) { a b c d } }', { limits: few }).code).toBe('LIMIT_EXCEEDED');
  });

  it('take a hundred thousand uids and a megabyte of text', () => {
    const uids = Array.from({ length: 100_000 }, (_, i) => `0x${(i + 1).toString(16)}`).join(', ');
    const document: QueryDocument = parseQuery(
      `{ q(func: uid(${uids})) @filter(eq(name, "${'x'.repeat(1_000_000)}")) { name } }`,
    );
    expect(document.blocks[0].root?.args).toHaveLength(100_000);
  });
});
