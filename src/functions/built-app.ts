import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { asError, GraphsteadError, GraphsteadErrors } from '../base/index.js';
import type { AppManifest } from './contract.js';

/** Names of what `buildApp` writes. */
export const BUILT = { manifest: 'app.manifest.json', bundle: 'app.mjs' } as const;

/** The manifest of a built folder. */
export interface BuiltManifest extends AppManifest {
  /** whether the bundle stands beside it */
  readonly code: boolean;
}

/** An app's operations, and the module that they run in. */
export interface Prepared {
  readonly manifest: AppManifest;
  /** undefined for an app without code */
  readonly bundle: string | undefined;
}

/** Whether a folder is one that `buildApp` wrote. */
export function isBuilt(appDir: string): boolean {
  return existsSync(join(appDir, BUILT.manifest));
}

/** Throws GraphsteadErrors (APP_LOAD) where the folder is not whole: it would be served without its code, or with none of its operations. */
export function readBuilt(appDir: string): Prepared {
  const manifest = readManifest(appDir);
  const bundle = join(appDir, BUILT.bundle);
  if (!manifest.code) return { manifest, bundle: undefined };
  if (!existsSync(bundle)) throw notWhole(`${BUILT.bundle} is missing beside ${BUILT.manifest}`);
  return { manifest, bundle };
}

function readManifest(appDir: string): BuiltManifest {
  const text = readFileSync(join(appDir, BUILT.manifest), 'utf8');
  let manifest: Partial<BuiltManifest> | null;
  try {
    manifest = JSON.parse(text) as Partial<BuiltManifest> | null;
  } catch (error) {
    throw notWhole(`${BUILT.manifest} cannot be read: ${asError(error).message}`);
  }
  if (manifest?.format === 1 && manifest.code !== undefined) return manifest as BuiltManifest;
  throw notWhole(`${BUILT.manifest} was not written by this version of graphstead`);
}

function notWhole(message: string): GraphsteadErrors {
  const fix = 'build the app again, and copy the whole folder';
  return new GraphsteadErrors([new GraphsteadError('APP_LOAD', message, { fix })]);
}
