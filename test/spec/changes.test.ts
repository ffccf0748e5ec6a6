// GET /changes over HTTP: order, resume, gaps, what is shown and what is not.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { ServiceOptions } from '../../src/server/index.js';
import { run, scratch, serve } from '../cli/command.js';
import { startService, type TestService } from '../service.js';
import { openStream, type SseEvent } from '../sse.js';

interface Told {
  readonly event?: string;
  readonly id: string;
  // biome-ignore lint/suspicious/noExplicitAny: frames of every shape
  readonly body: any;
}

const opened: { close(): void | Promise<void> }[] = [];
afterEach(async () => {
  for (const one of opened.splice(0).reverse()) await one.close();
});

async function service(options: Partial<ServiceOptions> = {}): Promise<TestService> {
  const s = await startService(options);
  opened.push(s);
  return s;
}

/** A reader; `position` is the id that the stream began with. */
async function follow(url: string, after?: string, headers: Record<string, string> = {}) {
  const stream = await openStream(`${url}/changes${after === undefined ? '' : `?after=${after}`}`, { headers });
  opened.push(stream);
  const first = await stream.next();
  let held: SseEvent | undefined = first?.data ? first : undefined;
  async function next(): Promise<Told> {
    for (;;) {
      const event = held ?? (await stream.next());
      held = undefined;
      if (event === undefined) throw new Error('the stream ended');
      if (event.data !== '') return { event: event.event, id: event.id ?? '', body: JSON.parse(event.data) };
    }
  }
  return {
    status: stream.status,
    headers: stream.headers,
    position: first?.id ?? '',
    next,
    async take(count: number): Promise<Told[]> {
      const told: Told[] = [];
      while (told.length < count) told.push(await next());
      return told;
    },
    /** frames up to the one that holds this value */
    async until(value: unknown): Promise<Told[]> {
      const told: Told[] = [];
      do told.push(await next());
      while (!told.at(-1)?.body.changes?.some((change: { value?: unknown }) => change.value === value));
      return told;
    },
    close: () => stream.close(),
  };
}

const set = (s: TestService, uid: number, name: string) =>
  s.rdf(`{ set { <0x${uid.toString(16)}> <name> "${name}" . } }`);
const values = (told: readonly Told[]) =>
  told.flatMap(({ body }) => (body.changes ?? []).map((change: { value?: unknown }) => change.value));

describe('the stream', () => {
  it('starts at now and tells commits in order, with time and numbers', async () => {
    const s = await service();
    await set(s, 1, 'before');
    const reader = await follow(s.url);
    expect(reader.status).toBe(200);
    expect(reader.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    const commits: number[] = [];
    for (const name of ['a', 'b', 'c']) commits.push((await set(s, 1, name)).body.extensions.txn.commit_ts);
    const told = await reader.take(3);
    expect(values(told)).toEqual(['a', 'b', 'c']);
    expect(told.map(({ body }) => body.commitTs)).toEqual(commits);
    expect(told.map(({ event }) => event)).toEqual(['commit', 'commit', 'commit']);
    expect(told.map(({ id }) => id)).toEqual(commits.map((ts) => `${s.service.core.store.incarnation}.${ts}.0`));
    const walls = told.map(({ body }) => body.wall);
    expect(walls).toEqual([...walls].sort());
    expect(walls[0]).toBe(new Date(walls[0]).toISOString());
  });

  it('tells the same to many readers, whoever reads slowly or not at all', async () => {
    const s = await service();
    const stuck = await fetch(`${s.url}/changes`);
    const readers = await Promise.all(Array.from({ length: 20 }, () => follow(s.url)));
    const names = Array.from({ length: 50 }, (_, i) => `${i} ${'x'.repeat(20_000)}`);
    for (const name of names) await set(s, 1, name);
    const told = await Promise.all(readers.map((reader) => reader.until(names[49])));
    for (const one of told) expect(values(one)).toEqual(names);
    expect(new Set(told.map((one) => JSON.stringify(one))).size).toBe(1);
    await stuck.body?.cancel();
  });

  it('gives no frame for commits that show nothing', async () => {
    const s = await service();
    const reader = await follow(s.url, '0');
    await s.post('/assign?what=uids&num=10', '', 'application/json');
    await s.service.core.graph.leaseUids(20_000);
    await set(s, 1, 'shown');
    expect(values([await reader.next()])).toEqual(['shown']);
  });

  it('beats while nothing happens, and moves the id on over commits that show nothing', async () => {
    const s = await service({ limits: { heartbeatMs: 5 } });
    const response = await fetch(`${s.url}/changes`);
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    const read = async (wanted: RegExp) => {
      while (!wanted.test(text)) text += (await reader?.read())?.value ?? '';
    };
    await read(/\n:\n\n(.|\n)*\n:\n\n/);
    await s.service.core.graph.leaseUids(20_000);
    const { lastCommitTs } = s.service.core.committer;
    await read(new RegExp(`^id: [0-9a-f]+\\.${lastCommitTs}\\.0$`, 'm'));
    expect(text).not.toContain('data:');
    await reader?.cancel();
  });

  it('takes GET only, and asks for a key where all paths do', async () => {
    const s = await service({ host: '0.0.0.0', environment: { GRAPHSTEAD_API_KEYS: 'k1' } });
    const url = s.url.replace('0.0.0.0', '127.0.0.1');
    const refused = await fetch(`${url}/changes`);
    expect(refused.status).toBe(401);
    await refused.body?.cancel();
    expect((await follow(url, '0', { 'x-api-key': 'k1' })).status).toBe(200);
    expect((await fetch(`${url}/changes`, { method: 'HEAD', headers: { 'x-api-key': 'k1' } })).status).toBe(405);
  });

  it('refuses what is no id, and more streams than allowed', async () => {
    const s = await service({ limits: { streams: 1 } });
    const bad = await s.get('/changes?after=yesterday');
    expect(bad.status).toBe(400);
    expect(bad.body.errors[0].extensions.code).toBe('INVALID_VALUE');
    await follow(s.url);
    expect((await s.get('/changes')).body.errors[0].extensions.code).toBe('OVERLOADED');
  });

  it('ends when the service closes', async () => {
    const s = await startService();
    const reader = await follow(s.url);
    await s.close();
    await expect(reader.next()).rejects.toThrow();
  });
});

describe('what a frame shows', () => {
  let s: TestService;
  let reader: Awaited<ReturnType<typeof follow>>;
  beforeAll(async () => {
    s = await startService();
  });
  afterAll(() => s.close());
  const told = async (act: () => Promise<unknown>) => {
    reader = await follow(s.url);
    await act();
    return (await reader.next()).body;
  };

  it('values of every type, languages, facets, edges, deletions', async () => {
    await s.alter(`
      name: string @lang .  age: int .  at: datetime .  ok: bool .  score: float .  tag: [string] .
      where: geo .  v: float32vector .  big: bigfloat .  friend: [uid] .
    `);
    const body = await told(() =>
      s.rdf(`{ set {
        <0x1> <name> "Ann \\"A\\"" (since=2020-01-02T00:00:00Z, close=true) .
        <0x1> <name> "Anna"@de .
        <0x1> <age> "9007199254740993" .
        <0x1> <at> "2024-05-06T07:08:09Z" .
        <0x1> <ok> "true" .
        <0x1> <score> "1.5" .
        <0x1> <tag> "x" .
        <0x1> <where> "{'type':'Point','coordinates':[1.5,2]}"^^<geo:geojson> .
        <0x1> <v> "[1, 2.5]" .
        <0x1> <big> "12.50" .
        <0x1> <friend> <0x2> (weight=0.5) .
      } }`),
    );
    const one = { op: 'set', uid: '0x1' };
    expect(body.changes).toEqual([
      { ...one, predicate: 'name', value: 'Ann "A"', facets: { close: true, since: '2020-01-02T00:00:00Z' } },
      { ...one, predicate: 'name', value: 'Anna', lang: 'de' },
      { ...one, predicate: 'age', value: Number('9007199254740993') },
      { ...one, predicate: 'at', value: '2024-05-06T07:08:09Z' },
      { ...one, predicate: 'ok', value: true },
      { ...one, predicate: 'score', value: 1.5 },
      { ...one, predicate: 'tag', value: 'x' },
      { ...one, predicate: 'where', value: { type: 'Point', coordinates: [1.5, 2] } },
      { ...one, predicate: 'v', value: [1, 2.5] },
      { ...one, predicate: 'big', value: 12.5 },
      { ...one, predicate: 'friend', object: '0x2', facets: { weight: 0.5 } },
    ]);
    expect(body).not.toHaveProperty('schema');
    const gone = await told(() =>
      s.rdf(`{ delete {
        <0x1> <tag> "x" . <0x1> <friend> <0x2> . <0x1> <name@de> * . <0x1> <age> * .
      } }`),
    );
    const del = { op: 'delete', uid: '0x1' };
    expect(gone.changes).toEqual([
      { ...del, predicate: 'tag', value: 'x' },
      { ...del, predicate: 'friend', object: '0x2' },
      { ...del, predicate: 'name', all: true, lang: 'de' },
      { ...del, predicate: 'age', all: true },
    ]);
  });

  it('never a password, neither as written nor as stored', async () => {
    await s.alter('pwd: password .');
    const body = await told(() => s.rdf('{ set { <0x1> <pwd> "secret123" . } }'));
    expect(body.changes).toEqual([{ op: 'set', uid: '0x1', predicate: 'pwd', hidden: true }]);
    expect(JSON.stringify(body)).not.toMatch(/secret123|\$/);
  });

  it('schema changes as text that /alter reads, also those that a mutation makes', async () => {
    const altered = await told(() => s.alter('city: string @index(exact, term) @upsert .\ntype City { city }'));
    expect(altered.changes).toEqual([]);
    expect(altered.schema).toEqual([
      { op: 'predicate', predicate: 'city', schema: '<city>: string @index(exact, term) @upsert .' },
      { op: 'type', type: 'City', schema: 'type <City> {\n  <city>\n}' },
    ]);
    const implied = await told(() => s.rdf('{ set { <0x5> <nick> "N" . } }'));
    expect(implied.schema).toEqual([
      { op: 'predicate', predicate: 'nick', schema: '<nick>: default .', ifAbsent: true },
    ]);
    expect(implied.changes).toEqual([{ op: 'set', uid: '0x5', predicate: 'nick', value: 'N' }]);
    const again = await s.alter([...altered.schema, ...implied.schema].map((one) => one.schema).join('\n'));
    expect(again.status).toBe(200);
  });

  it('that the type definitions of the GraphQL API are others', async () => {
    reader = await follow(s.url);
    await s.schema('type Book { title: String! }');
    // with the predicates and types that they make, in one commit
    const { body } = await reader.next();
    expect(body.schema.map((one: { op: string }) => one.op)).toEqual(['predicate', 'type', 'document']);
  });

  it('drops of an attribute, a type, the data, and everything', async () => {
    const dropped = async (request: unknown) => (await told(() => s.alter(JSON.stringify(request)))).drops;
    expect(await dropped({ drop_attr: 'nick' })).toEqual([{ op: 'drop_attr', predicate: 'nick' }]);
    expect(await dropped({ drop_op: 'TYPE', drop_value: 'City' })).toEqual([{ op: 'drop_type', type: 'City' }]);
    expect(await dropped({ drop_op: 'DATA' })).toEqual([{ op: 'drop_data' }]);
    expect(await dropped({ drop_all: true })).toEqual([{ op: 'drop_all' }]);
  });

  it("names as the mode has them: the compatible mode's own", async () => {
    const compat = await service({ compat: 'dgraph' });
    const other = await follow(compat.url);
    await compat.rdf('{ set { <0x1> <dgraph.type> "Person" . } }');
    expect((await other.next()).body.changes).toEqual([
      { op: 'set', uid: '0x1', predicate: 'dgraph.type', value: 'Person' },
    ]);
    const plain = await told(() => s.rdf('{ set { <0x1> <service.type> "Person" . } }'));
    expect(plain.changes[0].predicate).toBe('service.type');
  });
});

describe('resume', () => {
  it('goes on behind any id without loss or repetition, by header or parameter; the header wins', async () => {
    const s = await service();
    const first = await follow(s.url);
    for (let i = 0; i < 10; i++) await set(s, 1, `n${i}`);
    const all = await first.take(10);
    for (const at of [0, 4, 9]) {
      const [byHeader, byParameter] = [
        await follow(s.url, '0', { 'last-event-id': all[at].id }),
        await follow(s.url, all[at].id),
      ];
      await set(s, 1, `after ${at}`);
      const expected = [...all.slice(at + 1)];
      for (const reader of [byHeader, byParameter]) {
        const told = await reader.until(`after ${at}`);
        expect(told.slice(0, expected.length)).toEqual(expected);
      }
    }
    const whole = await follow(s.url, first.position);
    expect(await whole.take(10)).toEqual(all);
    expect((await (await follow(s.url, '0')).take(10)).map(({ id }) => id)).toEqual(all.map(({ id }) => id));
  });

  it('an id of the first moment counts, before anything was told', async () => {
    const s = await service();
    await set(s, 1, 'before');
    const reader = await follow(s.url);
    expect(reader.position).toBe(`${s.service.core.store.incarnation}.${s.service.core.committer.lastCommitTs}.0`);
    reader.close();
    await set(s, 1, 'meanwhile');
    expect(values([await (await follow(s.url, reader.position)).next()])).toEqual(['meanwhile']);
  });

  it('goes on in the middle of a commit that takes many frames', async () => {
    const s = await service();
    await s.alter('name: string .');
    const reader = await follow(s.url);
    const lines = Array.from({ length: 4_000 }, (_, i) => `<0x${(i + 1).toString(16)}> <name> "name ${i}" .`);
    await s.rdf(`{ set { ${lines.join('\n')} } }`);
    const all = await reader.until('name 3999');
    expect(all.length).toBeGreaterThan(3);
    expect(values(all)).toEqual(lines.map((_, i) => `name ${i}`));
    expect(new Set(all.map(({ body }) => body.commitTs)).size).toBe(1);
    expect(all.map(({ body }) => body.more ?? 0)).toEqual(all.map(({ id }) => Number(id.split('.')[2])));
    const rest = await (await follow(s.url, all[1].id)).until('name 3999');
    expect(values([...all.slice(0, 2), ...rest])).toEqual(values(all));
  });

  it('goes on after the process was killed', async () => {
    const folder = scratch();
    opened.push({ close: () => folder.remove() });
    const args = ['--data', folder.path('data')];
    const first = await serve(args);
    const write = async (url: string, name: string) => {
      const body = `{ set { <0x1> <name> "${name}" . } }`;
      const headers = { 'content-type': 'application/rdf' };
      const answer = await fetch(`${url}/mutate?commitNow=true`, { method: 'POST', headers, body });
      expect(answer.status).toBe(200);
      await answer.json();
    };
    const reader = await follow(first.url, '0');
    for (let i = 0; i < 20; i++) await write(first.url, `n${i}`);
    const seen = (await reader.until('n19')).slice(0, 8);
    await first.stop('SIGKILL');
    const second = await serve(args);
    opened.push({ close: async () => void (await second.stop()) });
    const again = await follow(second.url, undefined, { 'last-event-id': seen[7].id });
    await write(second.url, 'last');
    const rest = await again.until('last');
    expect(rest.filter(({ event }) => event === 'gap')).toEqual([]);
    expect(values([...seen, ...rest])).toEqual([...Array.from({ length: 20 }, (_, i) => `n${i}`), 'last']);
  });
});

describe('a gap is told', () => {
  const LONG = 'x'.repeat(20_000);

  it('when the records behind an id are gone; then the stream goes on', async () => {
    const s = await service({ limits: { recordBytes: 100_000 } });
    const reader = await follow(s.url);
    for (let i = 0; i < 20; i++) await set(s, 1, `${i} ${LONG}`);
    reader.close();
    const late = await follow(s.url, reader.position);
    const gap = await late.next();
    expect(gap).toMatchObject({
      event: 'gap',
      body: { code: 'NOT_KEPT', after: reader.position, continuesAfter: gap.id },
    });
    expect(gap.body.reason).toContain('no longer kept');
    const told = values(await late.until(`19 ${LONG}`));
    expect(told.length).toBeLessThan(10);
    expect(told).toEqual(Array.from({ length: 20 }, (_, i) => `${i} ${LONG}`).slice(-told.length));
    const again = await follow(s.url, gap.id);
    expect((await again.next()).event).toBe('commit');
    expect((await (await follow(s.url, '0')).next()).event).toBe('commit');
  });

  it('to a reader that falls behind what is kept while it reads', async () => {
    const s = await service({ limits: { recordBytes: 2_000_000 } });
    const reader = await follow(s.url, '0');
    for (let i = 0; i < 60; i++) await set(s, 1, `${i} ${'x'.repeat(1_000_000)}`);
    const told: Told[] = [];
    for (;;) {
      const one = await reader.next();
      told.push(one);
      if (one.body.changes?.[0].value.startsWith('59 ')) break;
    }
    const gaps = told.filter(({ event }) => event === 'gap');
    const commits = told
      .filter(({ event }) => event === 'commit')
      .map(({ body }) => Number.parseInt(body.changes[0].value, 10));
    expect(gaps.length).toBeGreaterThan(0);
    // wherever numbers are missing, a gap stands between them
    told.forEach(({ event, body }, i) => {
      const before = told[i - 1];
      if (event !== 'commit' || before?.event !== 'commit') return;
      const [one, other] = [before, { body }].map((frame) => Number.parseInt(frame.body.changes[0].value, 10));
      expect(other).toBe(one + 1);
    });
    expect(commits).toEqual([...commits].sort((a, b) => a - b));
  });

  it('for an id of another store, and for one that the store has not reached', async () => {
    const s = await service();
    await set(s, 1, 'kept');
    const other = await follow(s.url, 'feedfacecafebeef.12.0');
    expect(await other.next()).toMatchObject({
      event: 'gap',
      body: { code: 'OTHER_STORE', after: 'feedfacecafebeef.12.0' },
    });
    expect(values([await other.next()])).toEqual(['kept']);
    const ahead = await follow(s.url, `${s.service.core.store.incarnation}.999999.0`);
    expect(await ahead.next()).toMatchObject({ event: 'gap', body: { code: 'AHEAD' } });
    expect(values([await ahead.next()])).toEqual(['kept']);
  });

  it('after a backup was restored', async () => {
    const folder = scratch();
    opened.push({ close: () => folder.remove() });
    const s = await service({ data: folder.path('data') });
    const reader = await follow(s.url);
    await set(s, 1, 'one');
    const { id } = await reader.next();
    const copy = folder.path('copy');
    const { body } = await s.post(`/admin/backup?to=${encodeURIComponent(copy)}`, '', 'text/plain');
    await set(s, 1, 'two');
    // what the copy lacks
    expect(values([await (await follow(s.url, body.extensions.position)).next()])).toEqual(['two']);
    const restored = folder.path('restored');
    expect((await run(['restore', copy, '--data', restored])).code).toBe(0);
    const second = await service({ data: restored });
    const late = await follow(second.url, id);
    expect(await late.next()).toMatchObject({ event: 'gap', body: { code: 'OTHER_STORE', after: id } });
    expect(values([await late.next()])).toEqual(['one']);
  });
});
