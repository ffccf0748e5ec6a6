import { resolve } from 'node:path';
import { buildApp } from '../../functions/index.js';
import { type CommonOptions, runCommand } from '../report.js';
import { checkAppDir } from '../app-dir.js';

export interface BuildCommand extends CommonOptions {
  readonly out?: string;
}

/** `graphstead build`: a folder that `start` serves without typescript and esbuild. */
export function buildCommand(appDir: string | undefined, options: BuildCommand): Promise<void> {
  const run = async () => {
    const app = checkAppDir(appDir);
    const directory = resolve(options.out ?? resolve(app, 'build'));
    const { operations, types } = await buildApp(app, directory);
    return { directory, operations: operations.map(({ kind, name }) => `${kind} ${name}`), types: types.length };
  };
  return runCommand(options, run, ({ directory, operations }) =>
    [`${directory}: ${operations.length} operation(s)`, ...operations.map((one) => `  ${one}`)].join('\n'),
  );
}
