import { beforeAll, describe, expect, it } from 'vitest';
import { openGallery, useGallery } from '../../../test/gallery.js';
import { parseQuery, runQuery } from '../index.js';
import { writeJson, writeJsonInSteps, writeRdfInSteps } from './index.js';

const gallery = useGallery();

async function text(query: string, more: { debug?: boolean; format?: 'json' | 'rdf' } = {}): Promise<string> {
  const { data } = await gallery.dql.engine.query({ text: query, ...more });
  return data.toString();
}

describe('JSON', () => {
  it('has a key for every block that shows, and none for var', async () => {
    expect(
      await text('{ a(func: uid(0x1)) { name } var(func: uid(0x2)) { name } b(func: uid(0x99)) { name } c() { } }'),
    ).toBe('{"a":[{"name":"Ida"}],"b":[],"c":[]}');
  });

  it('escapes what must be escaped', async () => {
    await gallery.dql.mutate('{ set { <0x60> <note> "say \\"hi\\"\\n\\tto C:\\\\ \\u0001 é 馬" . } }');
    expect(JSON.parse(await text('{ q(func: uid(0x60)) { note } }'))).toEqual({
      q: [{ note: 'say "hi"\n\tto C:\\ \u0001 é 馬' }],
    });
  });

  it('shows the uid of everything that shows anything, under debug', async () => {
    expect(
      await text('{ q(func: uid(0x1, 0x2, 0x99)) { name painted @filter(eq(year, 1992)) { price shown { name } } } }', {
        debug: true,
      }),
    ).toBe(
      '{"q":[{"name":"Ida","painted":[{"price":20,"shown":{"name":"North house","uid":"0x14"},"uid":"0xb"}],"uid":"0x1"},{"name":"Jon","uid":"0x2"}]}',
    );
    expect(await text('{ q(func: uid(0x1)) { uid name } }', { debug: true })).toBe(
      '{"q":[{"uid":"0x1","name":"Ida"}]}',
    );
    // what the client calls so is in its place
    expect(await text('{ q(func: uid(0x1)) { uid: name } }', { debug: true })).toBe('{"q":[{"uid":"Ida"}]}');
  });

  it('has each key of an object once, also where all languages stand beside one of them', async () => {
    for (const [fields, shown] of [
      ['name@fi expand(_all_)', '"name@fi":"Kimmo","name":"Kim"'],
      ['name name@*', '"name":"Kim","name@fi":"Kimmo"'],
      ['name@* expand(Artist)', '"name":"Kim","name@fi":"Kimmo"'],
      ['x: name@fi name@*', '"x":"Kimmo","name":"Kim","name@fi":"Kimmo"'],
      ['name@fi n: name@*', '"name@fi":"Kimmo","n":"Kim","n@fi":"Kimmo"'],
    ]) {
      expect(await text(`{ q(func: uid(0x3)) { ${fields} } }`), fields).toBe(`{"q":[{${shown}}]}`);
    }
    // one that every field of the object must have is not gone for being shown elsewhere
    expect(await text('{ q(func: uid(0x4)) @cascade { name@fr name@* } }')).toBe('{"q":[{"name@fr":"Lea"}]}');
  });

  it('shows a path inside out', async () => {
    expect(await text('{ shortest(from: 0x2, to: 0x1) { knows @facets(since) } q(func: uid(0x1)) { name } }')).toBe(
      '{"q":[{"name":"Ida"}],"_path_":[{"knows":{"knows":{"uid":"0x1","knows|since":1999},"uid":"0x3","knows|since":2010},"uid":"0x2","_weight_":4009}]}',
    );
  });

  it('is refused when it grows past its bound', async () => {
    const small = await openGallery({ limits: { answerBytes: 20_000 } });
    await small.mutate(`{ set { <0x61> <note> "${'x'.repeat(30_000)}" . } }`);
    await expect(small.query('{ q(func: uid(0x61)) { note } }')).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED' });
    await small.close();
  });
});

describe('@normalize', () => {
  it('folds what has an alias into flat records, one for each combination', async () => {
    expect(
      JSON.parse(
        await text(
          '{ q(func: uid(0x1)) @normalize { who: name year knows { friend: name } painted @filter(le(year, 1990)) { work: name } } }',
        ),
      ),
    ).toEqual({
      q: [
        { who: 'Ida', friend: 'Jon', work: 'Red harbour' },
        { who: 'Ida', friend: 'Jon', work: 'Running horses' },
        { who: 'Ida', friend: 'Kim', work: 'Red harbour' },
        { who: 'Ida', friend: 'Kim', work: 'Running horses' },
      ],
    });
  });

  it('folds the levels below it only', async () => {
    expect(
      JSON.parse(await text('{ q(func: uid(0x1)) { name knows @normalize { friend: name painted { work: name } } } }')),
    ).toEqual({
      q: [
        {
          name: 'Ida',
          knows: [
            { friend: 'Jon', work: 'Quiet evening' },
            { friend: 'Jon', work: 'Red evening' },
            { friend: 'Kim', work: 'Portrait of a horse' },
          ],
        },
      ],
    });
  });

  it('shows the uids of all nodes that a record is made of, under debug', async () => {
    expect(
      JSON.parse(
        await text(
          '{ q(func: uid(0x1, 0x99)) @normalize { knows { friend: name } painted @filter(le(year, 1990)) { name } } r(func: uid(0x2)) { knows @normalize { n: name uid: uid } } s(func: uid(0x1)) @normalize { name } }',
          { debug: true },
        ),
      ),
    ).toEqual({
      q: [
        { uid: ['0x1', '0x2'], friend: 'Jon' },
        { uid: ['0x1', '0x3'], friend: 'Kim' },
      ],
      r: [{ knows: [{ n: 'Kim', uid: '0x3' }], uid: '0x2' }],
      s: [],
    });
  });

  it('lists the values of a key that several levels share, and carries facets', async () => {
    expect(
      JSON.parse(await text('{ q(func: uid(0x2)) @normalize { n: name knows @facets(since) { n: name } } }')),
    ).toEqual({
      q: [{ n: ['Jon', 'Kim'], 'knows|since': 2010 }],
    });
  });

  it('shows nothing without aliases', async () => {
    expect(await text('{ q(func: uid(0x1)) @normalize { name knows { name } } }')).toBe('{"q":[]}');
  });
});

describe('RDF', () => {
  it('is one triple a line, a level before the one below it', async () => {
    expect(await text('{ q(func: uid(0x1)) { name knows { name year c: count(painted) } } }', { format: 'rdf' })).toBe(
      [
        '<0x1> <name> "Ida" .',
        '<0x1> <knows> <0x2> .',
        '<0x1> <knows> <0x3> .',
        '<0x2> <name> "Jon" .',
        '<0x3> <name> "Kim" .',
        '<0x2> <c> "2" .',
        '<0x3> <c> "1" .',
        '',
      ].join('\n'),
    );
  });

  it('tells each language once, also where all of them stand beside one', async () => {
    for (const [fields, shown] of [
      ['name@fi expand(_all_)', ['<name@fi> "Kimmo"', '<name> "Kim"']],
      ['name name@*', ['<name> "Kim"', '<name@fi> "Kimmo"']],
      ['name@* expand(Artist)', ['<name> "Kim"', '<name@fi> "Kimmo"']],
      ['x: name@fi name@*', ['<x> "Kimmo"', '<name> "Kim"', '<name@fi> "Kimmo"']],
    ] as const) {
      const lines = (await text(`{ q(func: uid(0x3)) { ${fields} } }`, { format: 'rdf' })).trimEnd().split('\n');
      expect(lines, fields).toEqual(shown.map((line) => `<0x3> ${line} .`));
    }
  });

  it('leaves out the facets that expand() brings unasked', async () => {
    expect(await text('{ q(func: uid(0xa)) { expand(Work) { name } } }', { format: 'rdf' })).toContain(
      '<0xa> <shown> <0x14> .',
    );
  });

  it('tells as RDF only of nodes that @cascade has left', async () => {
    expect(await text('{ q(func: uid(0x1)) @cascade { painted { name price } } }', { format: 'rdf' })).toBe(
      '<0x1> <painted> <0xa> .\n<0x1> <painted> <0xb> .\n' +
        '<0xa> <name> "Red harbour" .\n<0xb> <name> "Blue harbour" .\n' +
        '<0xa> <price> "10.5" .\n<0xb> <price> "20" .\n',
    );
  });

  it('refuses what triples cannot say', async () => {
    for (const query of [
      '{ q(func: uid(0x1)) @normalize { n: name } }',
      '{ q(func: uid(0x1)) { count(uid) } }',
      '{ q(func: has(year)) @groupby(year) { count(uid) } }',
      '{ q(func: uid(0x1)) { knows @facets { name } } }',
      '{ q(func: uid(0x1)) { checkpwd(secret, "x") } }',
      '{ shortest(from: 0x1, to: 0x2) { knows } }',
    ]) {
      await expect(text(query, { format: 'rdf' })).rejects.toMatchObject({ code: 'INVALID_QUERY' });
    }
  });
});

describe('nodes that many rows share', () => {
  interface Shown {
    readonly uid: string;
    readonly note?: string;
    readonly knows?: readonly Shown[];
  }
  const hubs = [0x81, 0x82, 0x83];
  const hex = (uid: number) => `0x${uid.toString(16)}`;

  beforeAll(async () => {
    // 0x81 has a note and knows 0x83; 0x82 shows nothing; ten others know all three
    const lines = ['<0x81> <note> "one" .', '<0x81> <knows> <0x83> .', '<0x83> <note> "three" .'];
    for (let i = 0; i < 10; i++) {
      lines.push(`<${hex(0x90 + i)}> <note> "n${i}" .`);
      for (const hub of hubs) lines.push(`<${hex(0x90 + i)}> <knows> <${hex(hub)}> (at=${i * 10 + hub - 0x81}) .`);
    }
    await gallery.dql.mutate(`{ set {\n${lines.join('\n')}\n} }`);
  });

  const roots = Array.from({ length: 10 }, (_, i) => hex(0x90 + i)).join(', ');

  it('are shown in every one of them', async () => {
    const three = { note: 'three' };
    const expected = Array.from({ length: 10 }, (_, i) => ({
      note: `n${i}`,
      knows: [{ note: 'one', knows: [three] }, three],
    }));
    expect(JSON.parse(await text(`{ q(func: uid(${roots})) { note knows { note knows { note } } } }`))).toEqual({
      q: expected,
    });
  });

  it('have their uids, and the facets of each edge that leads to them', async () => {
    const { q } = JSON.parse(await text(`{ q(func: uid(${roots})) { uid knows { uid note knows { uid } } } }`)) as {
      q: Shown[];
    };
    const three = { uid: '0x83', note: 'three' };
    const knows = [{ uid: '0x81', note: 'one', knows: [{ uid: '0x83' }] }, { uid: '0x82' }, three];
    expect(q).toEqual(Array.from({ length: 10 }, (_, i) => ({ uid: hex(0x90 + i), knows })));
    const faceted = JSON.parse(await text(`{ q(func: uid(${roots})) { knows @facets(at) { note } } }`)) as {
      q: { knows: { 'knows|at': number }[] }[];
    };
    expect(faceted.q.flatMap((one) => one.knows.map((edge) => edge['knows|at']))).toEqual(
      Array.from({ length: 10 }, (_, i) => [i * 10, i * 10 + 2]).flat(),
    );
  });

  it('are left out below themselves under @ignorereflex', async () => {
    await gallery.dql.mutate('{ set { <0x83> <knows> <0x90> . } }');
    const { q } = JSON.parse(
      await text('{ q(func: uid(0x90, 0x91)) @ignorereflex { uid knows { uid knows { uid } } } }'),
    ) as {
      q: Shown[];
    };
    const below = (root: Shown) => root.knows?.find((one) => one.uid === '0x83')?.knows;
    expect(q.map(below)).toEqual([undefined, [{ uid: '0x90' }]]);
    await gallery.dql.mutate('{ delete { <0x83> <knows> <0x90> . } }');
  });
});

describe('a long answer', () => {
  it('is written in steps, between which it can be ended', async () => {
    const lines = Array.from(
      { length: 2_000 },
      (_, i) => `<0x70> <knows> <${0x1000 + i}> .\n<${0x1000 + i}> <note> "${i}" .`,
    );
    await gallery.dql.mutate(`{ set {\n${lines.join('\n')}\n} }`);
    const transaction = await gallery.dql.graph.begin({ bestEffort: true });
    const reader = await transaction.reader();
    const result = await runQuery(parseQuery('{ q(func: uid(0x70)) { knows { note } } }'), reader);
    let pauses = 0;
    const whole = await writeJsonInSteps(result, {}, () => {
      pauses++;
    });
    expect(whole.equals(writeJson(result))).toBe(true);
    expect(pauses).toBeGreaterThan(2);
    let looks = 0;
    const rdf = await writeRdfInSteps(result, {}, () => void looks++);
    expect(rdf.toString().split('\n')).toHaveLength(4_001);
    expect(looks).toBeGreaterThan(12);
    await expect(writeRdfInSteps(result, { limit: 10_000 }, () => undefined)).rejects.toThrow(RangeError);
    const stop = new Error('enough');
    await expect(writeRdfInSteps(result, {}, () => Promise.reject(stop))).rejects.toBe(stop);
    await expect(writeJsonInSteps(result, {}, () => Promise.reject(stop))).rejects.toBe(stop);
    reader.release();
    transaction.abort();
  });

  it('pauses among the groups and the flat records of one node', async () => {
    const lines = Array.from(
      { length: 3_000 },
      (_, i) => `<0x71> <knows> <${0x3000 + i}> .\n<${0x3000 + i}> <note> "${i}" .`,
    );
    await gallery.dql.mutate(`{ set {\n${lines.join('\n')}\n} }`);
    const transaction = await gallery.dql.graph.begin({ bestEffort: true });
    const reader = await transaction.reader();
    for (const query of [
      '{ q(func: uid(0x71)) { knows @groupby(note) { count(uid) } } }',
      '{ q(func: uid(0x71)) { knows @groupby(note) { count(uid) } knows { uid } } }',
      '{ var(func: uid(0x71)) { k as knows } q(func: uid(k)) @groupby(note) { count(uid) } }',
      '{ q(func: uid(0x71)) @normalize { knows { n: note } } }',
      '{ q(func: uid(0x71)) { knows @normalize { n: note } } }',
    ]) {
      const result = await runQuery(parseQuery(query), reader);
      let pauses = 0;
      const whole = await writeJsonInSteps(result, {}, () => {
        pauses++;
      });
      expect(whole.equals(writeJson(result))).toBe(true);
      expect(JSON.stringify(JSON.parse(whole.toString())).match(/"2999"/g)).toHaveLength(1);
      expect(pauses).toBeGreaterThan(4);
    }
    reader.release();
    transaction.abort();
  });
});
