import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Block } from './block.js';

/** Blocks that name a file of an app make an app of it: code is loaded and runs. */
export function writeApp(root: string, folder: string, blocks: readonly Block[]): string | undefined {
  const files = blocks.filter(({ file, reason }) => file !== undefined && reason === undefined);
  mkdirSync(folder, { recursive: true });
  for (const { file, text } of files) {
    mkdirSync(dirname(join(folder, file as string)), { recursive: true });
    writeFileSync(join(folder, file as string), text);
  }
  if (!files.some(({ file }) => /^(functions|agents)\//.test(file as string))) return undefined;
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  return folder;
}
