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
