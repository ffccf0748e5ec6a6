import { GraphsteadError } from '../../base/index.js';

interface Exported {
  readonly namespace: number;
  readonly schema: string;
}

/**
 * Type definitions as a file holds them: as text, or as Dgraph exports them, in a JSON list with one entry a namespace.
 * Throws INVALID_REQUEST on definitions of several namespaces.
 */
export function definitionsOf(text: string): string {
  if (!text.trimStart().startsWith('[')) return text;
  const entries = listOf(text);
  if (entries === undefined) return text;
  const filled = entries.filter(({ schema }) => schema.trim() !== '');
  if (filled.length <= 1) return filled[0]?.schema ?? '';
  const namespaces = filled.map(({ namespace }) => namespace).join(', ');
  throw new GraphsteadError('INVALID_REQUEST', `the file holds definitions of the namespaces ${namespaces}`, {
    fix: 'export one namespace at a time, and import each into a service of its own',
  });
}

/** undefined for what is no such list: then it is told as a mistake of the definitions. */
function listOf(text: string): readonly Exported[] | undefined {
  try {
    const list = JSON.parse(text) as readonly Partial<Exported>[];
    return list.every(({ schema }) => typeof schema === 'string') ? (list as readonly Exported[]) : undefined;
  } catch {
    return undefined;
  }
}
