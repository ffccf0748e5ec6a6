#!/usr/bin/env node
// In a clone, dist/ is bundled first when a source is newer; an installed package holds dist/ already.
import { existsSync } from 'node:fs';
import * as module from 'node:module';
import { fileURLToPath } from 'node:url';

// Node 22.8 and later keep what they compiled. Not in the folder for temporary files, where others of this machine write;
// a folder that cannot be written changes nothing.
module.enableCompileCache?.(fileURLToPath(new URL('../node_modules/.cache/compiled', import.meta.url)));
const script = new URL('../scripts/build.mjs', import.meta.url);
if (existsSync(script)) await (await import(script.href)).build();
const { main } = await import(new URL('../dist/cli/main.js', import.meta.url).href);
await main(process.argv.slice(2));
