import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { GraphsteadError } from '../../base/index.js';
import { openService } from '../../server/index.js';
import { checkAppDir } from '../app-dir.js';
import { type CommonOptions, runCommand } from '../report.js';

interface TypesCommand extends CommonOptions {
  readonly out?: string;
  readonly compat?: 'dgraph';
}

/** `graphstead types`: the whole GraphQL API that an app serves, as type definitions. */
export function typesCommand(appDir: string | undefined, options: TypesCommand): Promise<void> {
  const run = async () => {
    const app = checkAppDir(appDir);
    const { compat } = options;
    const environment = process.env;
    // types are made where secrets are not: in the build of a client
    const service = await openService({ appDir: app, port: 0, dev: true, environment, compat, allowUnset: true });
    try {
      const sdl = service.core.api.current()?.generated ?? '';
      const file = options.out === undefined ? undefined : resolve(options.out);
      if (file !== undefined) write(file, sdl);
      return file === undefined ? { sdl } : { file, bytes: Buffer.byteLength(sdl) };
    } finally {
      await service.close();
    }
  };
  return runCommand(options, run, ({ sdl, file, bytes }) => sdl ?? `${file}: ${bytes} bytes`);
}

function write(file: string, text: string): void {
  try {
    writeFileSync(file, text);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new GraphsteadError('INVALID_REQUEST', `${file} cannot be written: ${code ?? message}`, {
      fix: 'name a file in a folder that is there',
    });
  }
}
