import { Command, InvalidArgumentError } from 'commander';
import { version } from './version.js';

/** Exit codes: 0 done, 1 failed, 2 wrong usage. */
export async function main(args: readonly string[]): Promise<void> {
  const program = new Command('graphstead')
    .description("a graph store, the GraphQL API over it, and the home of an app's agents")
    .version(version())
    .showHelpAfterError('(graphstead --help lists every command and flag)')
    .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : 2));
  for (const name of ['dev', 'start'] as const) {
    program
      .command(name)
      .argument('[APP_DIR]', 'the app: a folder with app.json; without one, store and API alone')
      .description(name === 'dev' ? 'serve an app and reload it on change' : 'serve an app')
      .option('--data <DIR>', 'the data directory')
      .option('--host <ADDR>', 'address to listen on', '127.0.0.1')
      .option('--port <N>', 'HTTP port', port, 8686)
      .option('--grpc-port <N>', 'gRPC port', port, 9080)
      .option('--compat <PEER>', 'dgraph: speak its names, statuses and generated types', compat)
      .option('--explorer', 'serve /explorer', name === 'dev')
      .option('--json', 'print machine-readable lines')
      .action(async (appDir: string | undefined, options) => {
        const { serve } = await import('./serve.js');
        await serve({ mode: name, appDir, ...options });
      });
  }
  await program.parseAsync(args, { from: 'user' });
}

function port(text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= 0 && value <= 65_535) return value;
  throw new InvalidArgumentError('a port is a whole number from 0 to 65535 (0 takes any free one)');
}

function compat(text: string): string {
  if (text === 'dgraph') return text;
  throw new InvalidArgumentError('the only peer is dgraph');
}
