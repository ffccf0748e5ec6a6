import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Where the public cases lie; they are no part of the project, so tests that need them are skipped without them. */
const folder = join(process.env.CONFORMANCE ?? join(import.meta.dirname, '../../../shared/conformance'), 'dql/unit');

type Step = string | number | { readonly where: { readonly path: readonly Step[]; readonly equals: unknown } };

interface UnitCheck {
  readonly kind: string;
  readonly path?: readonly Step[];
  readonly value?: unknown;
  readonly values?: readonly unknown[];
}

export interface UnitCase {
  readonly name: string;
  readonly kind: string;
  readonly input: string;
  readonly vars?: Readonly<Record<string, string>>;
  readonly mode?: 'set' | 'delete';
  /** null: either, but no crash */
  readonly valid: boolean | null;
  readonly empty?: boolean;
  readonly checks?: readonly UnitCheck[];
}

export function unitCases(file: string): readonly UnitCase[] {
  const path = join(folder, file);
  if (!existsSync(path)) return [];
  return (JSON.parse(readFileSync(path, 'utf8')) as { cases: UnitCase[] }).cases;
}

/** Every value that a path leads to. */
export function valuesAt(value: unknown, path: readonly Step[]): unknown[] {
  let found: unknown[] = [value];
  for (const step of path) {
    found = found.flatMap((one) => {
      if (step === '*') return Object.values((one ?? {}) as object) as unknown[];
      if (typeof step === 'object') {
        const all = Object.values((one ?? {}) as object) as unknown[];
        return all.filter((each) => valuesAt(each, step.where.path).includes(step.where.equals));
      }
      const next = (one as Record<string | number, unknown> | null | undefined)?.[step];
      return next === undefined ? [] : [next];
    });
  }
  return found;
}

/** Why a check does not hold of a view; undefined when it does. */
export function problemOf(view: unknown, { kind, path = [], value, values }: UnitCheck): string | undefined {
  const found = valuesAt(view, path);
  const at = path.map((step) => (typeof step === 'object' ? '?' : step)).join('.');
  const wrong = `${kind} at ${at}: ${JSON.stringify(found)} against ${JSON.stringify(value ?? values)}`;
  switch (kind) {
    case 'equal':
      return found.length > 0 && found.every((one) => JSON.stringify(one) === JSON.stringify(value))
        ? undefined
        : wrong;
    case 'count':
      return found.every((one) => sizeOf(one) === value) && (found.length > 0 || value === 0) ? undefined : wrong;
    case 'notNull':
      return found.length > 0 && found.every((one) => one !== null) ? undefined : wrong;
    case 'isNull':
      return found.every((one) => one === null) ? undefined : wrong;
    case 'collect':
      return JSON.stringify([...found].sort()) === JSON.stringify([...(values ?? [])].sort()) ? undefined : wrong;
    default:
      return undefined;
  }
}

function sizeOf(value: unknown): number {
  return value === null || value === undefined ? 0 : Object.keys(value as object).length;
}
