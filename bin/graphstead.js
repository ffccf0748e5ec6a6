#!/usr/bin/env node
// In a clone, dist/ is compiled first when a source is newer; an installed package holds dist/ already.
import { existsSync } from 'node:fs';

const script = new URL('../scripts/build.mjs', import.meta.url);
if (existsSync(script)) await (await import(script.href)).build();
const { main } = await import(new URL('../dist/cli/main.js', import.meta.url).href);
await main(process.argv.slice(2));
