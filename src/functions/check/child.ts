import type { AppSource } from '../app-source.js';
import { checkSource } from './check-source.js';

// A process of its own: TypeScript over a whole app takes seconds of CPU and hundreds of megabytes, and the service goes on.

const source = JSON.parse(process.argv[2] ?? '') as AppSource;
// where the service has gone meanwhile, nobody is left to tell
process.send?.(checkSource(source), () => undefined);
