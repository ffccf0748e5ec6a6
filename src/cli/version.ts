import { readFileSync } from 'node:fs';
import { packageRoot } from '../base/index.js';

/** The package's version, from the package.json beside dist/. */
export function version(): string {
  const text = readFileSync(new URL('package.json', packageRoot), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
