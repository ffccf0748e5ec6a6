import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { useGallery } from '../../../test/gallery.js';
import { openDql } from '../../../test/open-dql.js';

const { ask } = useGallery();

describe('@recurse', () => {
  it('follows each edge once', async () => {
    expect(await ask('q(func: uid(0x2)) @recurse { name knows }')).toEqual([
      {
        name: 'Jon',
        knows: [{ name: 'Kim', knows: [{ name: 'Ida', knows: [{ name: 'Jon' }, { name: 'Kim' }] }] }],
      },
    ]);
  });

  it('stops at its depth, which it needs to loop', async () => {
    expect(await ask('q(func: uid(0x1)) @recurse(depth: 1) { name knows }')).toEqual([{ name: 'Ida' }]);
    expect(await ask('q(func: uid(0x2)) @recurse(depth: 2) { name knows }')).toEqual([
      { name: 'Jon', knows: [{ name: 'Kim' }] },
    ]);
    expect(await ask('q(func: uid(0x1)) @recurse(depth: 4, loop: true) { uid knows @filter(uid(0x3, 0x1)) }')).toEqual([
      { uid: '0x1', knows: [{ uid: '0x3', knows: [{ uid: '0x1', knows: [{ uid: '0x3' }] }] }] },
    ]);
    await expect(ask('q(func: uid(0x1)) @recurse(loop: true) { knows }')).rejects.toMatchObject({
      code: 'INVALID_QUERY',
    });
  });

  it('collects variables of all levels', async () => {
    expect(
      await ask('var(func: uid(0x2)) @recurse { k as knows n as name } q(func: uid(k), orderasc: val(n)) { name }'),
    ).toEqual([{ name: 'Ida' }, { name: 'Jon' }, { name: 'Kim' }]);
  });

  it('touches no more edges than it may', async () => {
    const small = await openDql({ schema: 'next: [uid] .', limits: { recurseEdges: 3 } });
    await small.mutate(
      '{ set { <0x1> <next> <0x2> . <0x2> <next> <0x3> . <0x3> <next> <0x4> . <0x4> <next> <0x5> . } }'.replaceAll(
        ' . <',
        ' .\n<',
      ),
    );
    await expect(small.query('{ q(func: uid(0x1)) @recurse { uid next } }')).rejects.toMatchObject({
      code: 'LIMIT_EXCEEDED',
    });
    expect(await small.query('{ q(func: uid(0x2)) @recurse { uid next } }')).toMatchObject({ q: [{ uid: '0x2' }] });
    await small.close();
  });

  it('reaches no more levels than it may', async () => {
    const small = await openDql({ schema: 'next: [uid] .', limits: { recurseLevels: 3 } });
    const steps = [1, 2, 3, 4].map((i) => `<${i}> <next> <${i + 1}> .`);
    await small.mutate(`{ set {\n${steps.join('\n')}\n} }`);
    await expect(small.query('{ q(func: uid(0x1)) @recurse { uid next } }')).rejects.toMatchObject({
      code: 'LIMIT_EXCEEDED',
    });
    for (const query of [
      '{ q(func: uid(0x1)) @recurse(depth: 3) { uid next } }',
      '{ q(func: uid(0x3)) @recurse { uid next } }',
    ]) {
      expect(JSON.stringify(await small.query(query)).match(/uid/g)).toHaveLength(3);
    }
    await small.close();
  });
});

describe('in any graph, @recurse', () => {
  const node = fc.integer({ min: 1, max: 7 });
  const edge = fc.record({ from: node, to: node, name: fc.constantFrom('next', 'other'), weight: fc.nat(3) });
  type Edge = Readonly<{ from: number; to: number; name: string; weight: number }>;
  interface Shown {
    readonly uid: string;
    readonly next?: readonly Shown[];
    readonly other?: readonly Shown[];
  }

  /** Names of all edges that an answer shows, each once. */
  function shownEdges(nodes: readonly Shown[], into = new Set<string>()): Set<string> {
    for (const one of nodes) {
      for (const name of ['next', 'other'] as const) {
        for (const child of one[name] ?? []) into.add(`${Number(one.uid)} ${name} ${Number(child.uid)}`);
        shownEdges(one[name] ?? [], into);
      }
    }
    return into;
  }

  function reachable(from: number, edges: readonly Edge[]): Set<string> {
    const found = new Set<string>();
    const open = [from];
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      for (const { from: source, name, to } of edges) {
        if (source !== at || found.has(`${source} ${name} ${to}`)) continue;
        found.add(`${source} ${name} ${to}`);
        open.push(to);
      }
    }
    return found;
  }

  it('takes each edge that can be reached once, also where it has to look again whether it was taken', async () => {
    const dql = await openDql({ schema: 'next: [uid] @reverse .\nother: [uid] .' });
    let graphs = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(edge, { minLength: 1, maxLength: 20 }),
        fc.constantFrom(0, 2, 3),
        async (given, depth) => {
          const base = ++graphs * 0x100;
          const edges = given.map((one) => ({ ...one, from: base + one.from, to: base + one.to }));
          const lines = edges.map(({ from, name, to, weight }) => `<${from}> <${name}> <${to}> (w=${weight}) .`);
          await dql.mutate(`{ set {\n${lines.join('\n')}\n} }`);
          const ask = async (fields: string) => {
            const data = await dql.query(`{ q(func: uid(${base + 1})) @recurse(depth: ${depth}) { ${fields} } }`);
            return data['q'] as Shown[];
          };
          // what hangs on a variable of its own may be another at each level: those are read again, and edges compared
          const again = '@filter(uid(u) or not uid(u))';
          for (const [fields, compared] of [
            ['uid next other', `u as uid next ${again} other`],
            ['uid next @facets(w) other (first: 1)', `u as uid next @facets(w) ${again} other (first: 1)`],
            ['uid next ~next', `u as uid next ${again} ~next`],
          ]) {
            expect(await ask(fields)).toEqual(await ask(compared));
          }
          if (depth === 0) expect(shownEdges(await ask('uid next other'))).toEqual(reachable(base + 1, edges));
        },
      ),
      { numRuns: 40 },
    );
    await dql.close();
  });

  it('tells two selections of one edge apart', async () => {
    const dql = await openDql({ schema: 'next: [uid] .' });
    await dql.mutate('{ set { <0x1> <next> <0x2> .\n<0x1> <next> <0x3> .\n<0x2> <next> <0x1> . } }');
    const query = '{ q(func: uid(1)) @recurse { uid a: next @filter(uid(2)) b: next } }';
    expect(await dql.query(query)).toEqual({
      q: [{ uid: '0x1', a: [{ uid: '0x2', b: [{ uid: '0x1' }] }], b: [{ uid: '0x3' }] }],
    });
    await dql.close();
  });
});
