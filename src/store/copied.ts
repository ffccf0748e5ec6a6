import { statSync } from 'node:fs';
import { GraphsteadError, type NamedProcess, nameOfThis } from '../base/index.js';

// A file that names who writes goes along when its directory is copied. So it says which directory it was written into.

/** What names this process as the writer of a directory. */
export function writerOf(directory: string): string {
  return nameOfThis(folderOf(directory));
}

/** STORE_LOCKED for a directory that was copied while its writer wrote; undefined where the writer holds this very one. */
export function copied(directory: string, { pid, holds }: NamedProcess): GraphsteadError | undefined {
  if (holds === undefined || holds === folderOf(directory)) return undefined;
  return new GraphsteadError(
    'STORE_LOCKED',
    `${directory} was copied while process ${pid} wrote to the original: its parts may be of different moments`,
    {
      fix: 'Copy with `graphstead backup`, which takes one moment. Of a snapshot of a whole volume delete writer.json and writing, then run `graphstead doctor`.',
    },
  );
}

function folderOf(directory: string): string {
  const { dev, ino } = statSync(directory, { bigint: true });
  return `${dev}:${ino}`;
}
