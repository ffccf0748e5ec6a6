import type { TakeNamespace } from './one-namespace.js';

interface Exported {
  readonly namespace: number;
  readonly schema: string;
}

/**
 * Type definitions as a file holds them: as text, or as Dgraph exports them, in a JSON list with one entry a namespace.
 * Throws what `take` throws on definitions of several namespaces.
 */
export function definitionsOf(text: string, take: TakeNamespace): string {
  if (!text.trimStart().startsWith('[')) return text;
  const entries = listOf(text);
  if (entries === undefined) return text;
  const filled = entries.filter(({ schema }) => schema.trim() !== '');
  for (const { namespace } of filled) take(namespace);
  return filled[0]?.schema ?? '';
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
