import type { Command } from 'commander';
import { GraphsteadError, sourceStack } from '../base/index.js';
import { createProgram, USAGE_FIX } from './program.js';
import { report } from './report.js';

/** Runs one command line; see exit-code.ts for how it ends. */
export async function main(args: readonly string[]): Promise<void> {
  process.on('uncaughtExceptionMonitor', (error) => {
    if (error instanceof Error && error.stack) error.stack = sourceStack(error.stack);
  });
  const program = createProgram();
  for (const command of [program, ...program.commands]) {
    command.exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : 2));
    if (args.includes('--json')) tellAsJson(command);
  }
  await program.parseAsync(args, { from: 'user' });
}

/** Wrong usage is known before any flag is: that it is to be told as JSON stands in the arguments alone. */
function tellAsJson(command: Command): void {
  const outputError = (text: string) => {
    const message = text.trim().replace(/^error: /, '');
    report(new GraphsteadError('INVALID_REQUEST', message, { fix: USAGE_FIX }), true);
  };
  command.showHelpAfterError(false).configureOutput({ outputError });
}
