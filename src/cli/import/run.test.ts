import { writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { scratch } from '../../../test/cli/command.js';
import { defaultNames } from '../../base/index.js';
import { NameMap } from './name-map.js';
import { runImport } from './run.js';
import { sourceFile } from './source.js';
import type { Target } from './target.js';

it('tells of the writing too, which begins once everything is read and takes longer than that', async () => {
  const folder = scratch();
  try {
    const path = folder.path('one.rdf');
    writeFileSync(path, '<0x1> <name> "Ann" .\n');
    const at = { predicate: 'name', share: 0, keys: 0 };
    const target = {
      declared: async () => undefined,
      bulk: async () => ({
        add: () => true,
        finish: async (tell: (where: typeof at) => void) => tell(at),
        abandon() {},
      }),
    } as unknown as Target;
    const told: unknown[] = [];
    const progress = {
      update: (_bytes: number, statements: number) => told.push(statements),
      writing: (where: unknown) => told.push(where),
      finish: () => told.push('over'),
    };
    const nodes = new NameMap(async () => 1);
    await runImport({ files: [sourceFile(path)], target, nodes, names: defaultNames, progress });
    expect(told).toEqual([1, at, 'over']);
  } finally {
    folder.remove();
  }
});
