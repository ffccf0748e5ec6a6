import { resolve } from 'node:path';
import { buildApp } from '../../functions/index.js';
import { type CommonOptions, runCommand } from '../report.js';
import { checkAppDir } from '../app-dir.js';

interface BuildCommand extends CommonOptions {
  readonly out?: string;
  /** false leaves type errors unlooked for */
  readonly typeCheck?: boolean;
}

/** `graphstead build`: a folder that `start` serves without typescript and esbuild. */
export function buildCommand(appDir: string | undefined, options: BuildCommand): Promise<void> {
  const run = async () => {
    const app = checkAppDir(appDir);
    const directory = resolve(options.out ?? resolve(app, 'build'));
    const { manifest, warnings } = await buildApp(app, directory, { types: options.typeCheck ?? true });
    const { operations, types } = manifest;
    return {
      directory,
      operations: operations.map(({ kind, name }) => `${kind} ${name}`),
      types: types.length,
      ...(warnings.length === 0 ? {} : { warnings }),
    };
  };
  return runCommand(options, run, ({ directory, operations, warnings = [] }) =>
    [
      `${directory}: ${operations.length} operation(s)`,
      ...operations.map((one) => `  ${one}`),
      ...warnings.map((one) => `  ! ${one}`),
    ].join('\n'),
  );
}
