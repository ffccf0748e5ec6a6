import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

// An app for tests of host processes, written as the bundle that the functions room would make of it.

export interface AppBundle {
  readonly appDir: string;
  readonly bundle: string;
  /** writes another bundle into the same folder */
  next(code: string): string;
  remove(): void;
}

const HEAD =
  "const { Agent, agents, caller, connections, graph, models } = globalThis[Symbol.for('graphstead.app')];\n";

/** `code` declares classes and functions; `exports` names the functions. */
export function appBundle(code: string, exports: readonly string[] = []): AppBundle {
  const appDir = mkdtempSync(join(tmpdir(), 'graphstead-app-'));
  let count = 0;
  const next = (text: string): string => {
    const path = join(appDir, `bundle-${++count}.mjs`);
    writeFileSync(path, `${HEAD}${text}\nexport default { ${exports.join(', ')} };\n`);
    return path;
  };
  return { appDir, bundle: next(code), next, remove: () => rmSync(appDir, { recursive: true, force: true }) };
}
