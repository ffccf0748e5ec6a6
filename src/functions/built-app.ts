import { createHash } from 'node:crypto';
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
  /** of the bundle's bytes, in hex */
  readonly sha256?: string;
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

/** Throws GraphsteadErrors (APP_LOAD) where the folder is not whole: it would be served without its code, with none of its operations, or with those of another. */
export function readBuilt(appDir: string): Prepared {
  const manifest = readManifest(appDir);
  const bundle = join(appDir, BUILT.bundle);
  if (!manifest.code) return { manifest, bundle: undefined };
  if (!existsSync(bundle)) throw notWhole(`${BUILT.bundle} is missing beside ${BUILT.manifest}`);
  if (manifest.sha256 !== undefined && manifest.sha256 !== sha256Of(bundle)) {
    throw notWhole(`${BUILT.bundle} is not the one that ${BUILT.manifest} was written with`);
  }
  return { manifest, bundle };
}

export const sha256Of = (file: string): string => createHash('sha256').update(readFileSync(file)).digest('hex');

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
