import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startService, type TestService } from '../service.js';

describe('names that nobody declared or wrote', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService();
    await service.alter('name: string @index(exact) .\nfriend: [uid] @reverse .');
    await service.rdf('{ set { _:a <name> "Ann" . _:a <friend> _:b . _:b <name> "Bob" . } }');
  });
  afterAll(() => service.close());

  const unknown = async (text: string): Promise<unknown> => (await service.query(text)).body.extensions.unknown;

  it.each([
    ['in a field', '{ q(func: eq(name, "Ann")) { nmae friend { age } } }', ['nmae', 'age']],
    [
      'in a function and a filter',
      '{ q(func: has(nmae)) { name } p(func: has(name)) @filter(has(old)) { uid } }',
      ['nmae', 'old'],
    ],
    ['backwards', '{ q(func: has(name)) { ~knows { uid } } }', ['knows']],
    ['as a count', '{ q(func: has(name)) { count(frend) } }', ['frend']],
  ])('are told with the answer, which has nothing of them: %s', async (_, text, names) => {
    expect(((await unknown(text)) as string[]).sort()).toEqual([...names].sort());
  });

  it('are left out where all are known, and are no more than 20', async () => {
    expect(await unknown('{ q(func: eq(name, "Ann")) { name friend { name ~friend { name } } } }')).toBeUndefined();
    const many = Array.from({ length: 30 }, (_, i) => `a${i}`).join(' ');
    expect(await unknown(`{ q(func: has(name)) { ${many} } }`)).toHaveLength(20);
  });

  it('are known once a mutation has written under them', async () => {
    await service.rdf('{ set { _:c <fresh> "x" . } }');
    expect(await unknown('{ q(func: has(fresh)) { fresh } }')).toBeUndefined();
  });

  it('are not told under --compat dgraph, whose answers have no word for them', async () => {
    const peer = await startService({ compat: 'dgraph' });
    try {
      const { body } = await peer.query('{ q(func: has(nothing)) { uid } }');
      expect(body).toMatchObject({ data: { q: [] } });
      expect(body.extensions).not.toHaveProperty('unknown');
    } finally {
      await peer.close();
    }
  });
});
