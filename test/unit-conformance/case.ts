import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Where the public cases lie; they are no part of the project, so tests that need them are skipped without them. */
const folder = join(process.env.CONFORMANCE ?? join(import.meta.dirname, '../../../shared/conformance'), 'graphql');

export const present = existsSync(folder);

export interface Case {
  readonly name: string;
  readonly schema: string;
  readonly output?: string;
  readonly tags?: readonly string[];
  readonly errors?: readonly { readonly message: string }[];
  readonly errorCount?: number;
}

/** The cases of one group, without those of features that are not planned. */
export function cases(group: string): Case[] {
  if (!present) return [];
  const all = (JSON.parse(readFileSync(join(folder, `${group}.json`), 'utf8')) as { cases: Case[] }).cases;
  return all.filter((c) => !c.tags?.includes('lambda'));
}

/** Names of the cases that fail, with why; prints nothing of a case's text. */
export function failures(group: string, check: (c: Case) => string | undefined): string[] {
  return cases(group).flatMap((c) => {
    const problem = check(c);
    return problem === undefined ? [] : [`${c.name}: ${problem}`];
  });
}
