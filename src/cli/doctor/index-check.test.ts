import { expect, it } from 'vitest';
import { openFixture, read, setEdge, write } from '../../graph/fixture.js';
import { checkIndexes } from './index-check.js';

it('finds nothing wrong with an index that is still being built', async () => {
  const { graph, close } = await openFixture();
  await write(graph, ...Array.from({ length: 2_500 }, (_, i) => setEdge(i + 1, 'friend', 9)));
  await graph.alter({ kind: 'schema', text: 'friend: [uid] @reverse @count .' }, { runInBackground: true });
  const found = await read(graph, async (reader) => {
    const friend = reader.schema.predicate('friend')!;
    await expect(async () => reader.byCount(friend, 1, 1)).rejects.toMatchObject({ code: 'INDEX_BUILDING' });
    const told: string[] = [];
    for await (const text of checkIndexes(reader)) told.push(text);
    return told;
  });
  expect(found).toEqual([]);
  await close();
});
