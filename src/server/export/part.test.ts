import { expect, it } from 'vitest';
import { openDql } from '../../../test/open-dql.js';
import { defaultNames } from '../../base/index.js';
import { exportParts } from './part.js';

it('lets others have their turn while much is printed', async () => {
  const { graph, mutate, close } = await openDql({ schema: 'name: string .' });
  const lines = Array.from({ length: 30_000 }, (_, i) => `<${i + 1}> <name> "name ${i}" .`);
  await mutate(`{ set {\n${lines.join('\n')}\n} }`);
  let turned = false;
  let printed = 0;
  for await (const { statements } of exportParts({ graph, names: defaultNames, format: 'rdf' })) {
    // the store may have needed some before
    if (printed === 0) {
      turned = false;
      setImmediate(() => {
        turned = true;
      });
    }
    printed += statements;
  }
  expect([printed, turned]).toEqual([30_000, true]);
  await close();
});
