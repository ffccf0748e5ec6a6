import { sourceStack } from '../base/index.js';
import { createProgram } from './program.js';

/** Runs one command line; see exit-code.ts for how it ends. */
export async function main(args: readonly string[]): Promise<void> {
  process.on('uncaughtExceptionMonitor', (error) => {
    if (error instanceof Error && error.stack) error.stack = sourceStack(error.stack);
  });
  const program = createProgram();
  for (const command of [program, ...program.commands]) {
    command.exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : 2));
  }
  await program.parseAsync(args, { from: 'user' });
}
