import { Argument, Command, InvalidArgumentError, Option } from 'commander';
import type { Shell } from './command/completion.js';
import { version } from './version.js';

/** said with each mistake of usage */
export const USAGE_FIX = 'graphstead --help lists every command and flag';

const APP_DIR = 'the app (default: the current folder)';
const DATA = 'the data directory (default: <APP_DIR>/.graphstead/data; of a built app .graphstead/data)';

/** All commands and flags. Their work is loaded when one runs, so that `--help` is quick. */
export function createProgram(): Command {
  const program = new Command('graphstead')
    .description("a graph store, the GraphQL API over it, and the home of an app's agents")
    .version(version())
    .showHelpAfterError(`(${USAGE_FIX})`);
  addServe(program, 'dev', 'serve an app and reload it on change', true);
  addServe(program, 'start', 'serve an app', false);
  addApp(program);
  addImport(program);
  addExport(program);
  addBackup(program);
  addRestore(program);
  addDoctor(program);
  addCompletion(program);
  return program;
}

function addServe(program: Command, name: 'dev' | 'start', description: string, explorer: boolean): void {
  const serving = program
    .command(name)
    .argument('[APP_DIR]', 'the app: a folder with app.json; without one, store and API alone')
    .description(description)
    .option('--data <DIR>', DATA)
    .addOption(storeOption())
    .option('--host <ADDR>', 'address to listen on', address, '127.0.0.1')
    .option('--port <N>', 'HTTP port', port, 8686)
    .option('--grpc-port <N>', 'gRPC port', port, 9080)
    .addOption(compatOption())
    .option('--tls-cert <FILE>', 'PEM certificate with its chain: HTTP and gRPC speak TLS (with --tls-key)')
    .option('--tls-key <FILE>', 'PEM private key of the certificate')
    .option('--explorer', 'serve /explorer', explorer)
    .option('--json', 'print machine-readable lines');
  if (name === 'start') {
    serving
      .option('--read-only', 'answer from a store that another service writes, beside it')
      .option(
        '--writer <URL>',
        'with --read-only: the service that writes, which gets what is not answered here (or GRAPHSTEAD_WRITER)',
      )
      .option(
        '--writer-grpc <URL>',
        'with --read-only: where that service speaks gRPC, for what comes over gRPC (or GRAPHSTEAD_WRITER_GRPC)',
      );
  }
  serving.action(async (appDir: string | undefined, options, command: Command) => {
    // one of the two without the other must not end in plain text
    if ((options.tlsCert === undefined) !== (options.tlsKey === undefined)) {
      const missing = options.tlsCert === undefined ? '--tls-cert' : '--tls-key';
      command.error(`error: ${missing} is missing: TLS needs both --tls-cert FILE and --tls-key FILE`);
    }
    const { serve } = await import('./serve.js');
    await serve({ mode: name, appDir, ...options });
  });
}

function addApp(program: Command): void {
  program
    .command('new')
    .argument('<DIR>', 'a new folder; its name is the name of the app')
    .description('make an app that runs, with a type, a function, an agent and a test; needs no network')
    .option('--no-git', 'do not make a git repository of it')
    .addOption(jsonOption())
    .action(async (directory: string, options) => {
      const { newCommand } = await import('./command/new.js');
      await newCommand(directory, options);
    });
  program
    .command('test')
    .argument('[APP_DIR]', APP_DIR)
    .description("run an app's *.test.ts files with Node's test runner")
    .addOption(jsonOption())
    .action(async (appDir: string | undefined, options) => {
      const { testCommand } = await import('./command/test.js');
      await testCommand(appDir, options);
    });
  program
    .command('build')
    .argument('[APP_DIR]', APP_DIR)
    .description('write a folder that start serves without a compiler')
    .option('--out <DIR>', 'the folder (default: <APP_DIR>/build)')
    .option('--no-type-check', 'build in spite of type errors')
    .addOption(jsonOption())
    .action(async (appDir: string | undefined, options) => {
      const { buildCommand } = await import('./command/build.js');
      await buildCommand(appDir, options);
    });
  program
    .command('types')
    .argument('[APP_DIR]', APP_DIR)
    .description('write the GraphQL API that an app serves, as type definitions')
    .option('--out <FILE>', 'a file (default: standard output)')
    .addOption(compatOption())
    .addOption(jsonOption())
    .action(async (appDir: string | undefined, options) => {
      const { typesCommand } = await import('./command/types.js');
      await typesCommand(appDir, options);
    });
}

function addCompletion(program: Command): void {
  program
    .command('completion')
    .addArgument(new Argument('<SHELL>', 'the shell').choices(['bash', 'zsh', 'fish']))
    .description('print a script that completes commands and flags: source <(graphstead completion bash)')
    .addOption(jsonOption())
    .action(async (shell: Shell, options) => {
      const [{ completionScript }, { runCommand }] = await Promise.all([
        import('./command/completion.js'),
        import('./report.js'),
      ]);
      await runCommand(
        options,
        async () => ({ script: completionScript(program, shell) }),
        ({ script }) => script,
      );
    });
}

function addImport(program: Command): void {
  program
    .command('import')
    .argument(
      '[FILE...]',
      '.rdf .nq .nt .json .ndjson .schema .graphql .gql_schema, each also with .gz, or a folder of them',
    )
    .description('load files into a data directory, or into a running service')
    .addOption(dataOption().conflicts('to'))
    .addOption(storeOption().conflicts(['to', 'data']))
    .option('--to <URL>', 'a running service; its key is read from GRAPHSTEAD_API_KEY')
    .option('--schema <FILE>', 'schema lines, applied first')
    .option('--graphql <FILE>', 'GraphQL type definitions, applied first')
    .option(
      '--upsert <PREDICATE>',
      'find nodes that have no uid in the files by their values of this indexed predicate, or by their names as its values, and make those that are not there',
    )
    .option('--new-uids', 'give every node a new uid, also those that the files name by uid')
    .addOption(compatOption())
    .addOption(jsonOption())
    .action(async (files: string[], options, command: Command) => {
      const isNothing = files.length === 0 && options.schema === undefined && options.graphql === undefined;
      if (isNothing) command.error('error: nothing to import: name one file or more');
      const { importCommand } = await import('./command/import.js');
      await importCommand(files, options);
    });
}

function addExport(program: Command): void {
  program
    .command('export')
    .description(
      'write the graph, its schema and its GraphQL types as files that import reads; agents only a backup takes along',
    )
    .addOption(dataOption().conflicts('from'))
    .addOption(storeOption().conflicts(['from', 'data']))
    .option('--from <URL>', 'a running service; its key is read from GRAPHSTEAD_API_KEY')
    .requiredOption('--out <DIR>', 'a new folder for the files')
    .addOption(new Option('--format <FORMAT>', 'of the data').choices(['rdf', 'json']).default('rdf'))
    .addOption(compatOption())
    .addOption(jsonOption())
    .action(async (options) => {
      const { exportCommand } = await import('./command/export.js');
      await exportCommand(options);
    });
}

function addBackup(program: Command): void {
  program
    .command('backup')
    .argument('<DIR>', 'a new folder for the copy')
    .description('copy a data directory as it is at one moment, also while a service writes')
    .addOption(dataOption().conflicts('from'))
    .option('--from <URL>', 'let a running service write the copy on its machine; key from GRAPHSTEAD_API_KEY')
    .addOption(jsonOption())
    .action(async (to: string, options) => {
      const { backupCommand } = await import('./command/backup.js');
      await backupCommand(to, options);
    });
}

function addRestore(program: Command): void {
  program
    .command('restore')
    .argument('<BACKUP>', 'a folder that backup wrote')
    .description('make a new data directory of a backup, as it was or brought forward to a later moment')
    .addOption(dataOption())
    .option('--records <DIR>', 'take in what was committed since: the data directory it was made of, or a later backup')
    .option(
      '--until <WHEN>',
      'no later than this: a time with its zone, or the id of a commit in /changes (with --records)',
    )
    .addOption(jsonOption())
    .action(async (from: string, options) => {
      const { restoreCommand } = await import('./command/backup.js');
      await restoreCommand(from, options);
    });
}

function addDoctor(program: Command): void {
  program
    .command('doctor')
    .argument('[APP_DIR]', APP_DIR)
    .description('look at Node, disk, app.json, connections and the store; changes nothing')
    .option('--data <DIR>', DATA)
    .addOption(storeOption())
    .addOption(jsonOption())
    .action(async (appDir: string | undefined, options) => {
      const { doctorCommand } = await import('./command/doctor.js');
      await doctorCommand(appDir, options);
    });
}

function dataOption(): Option {
  return new Option('--data <DIR>', 'the data directory (default: .graphstead/data)');
}

function storeOption(): Option {
  return new Option(
    '--store <URL>',
    'a PostgreSQL database that holds the data in place of the directory (or GRAPHSTEAD_STORE)',
  );
}

function jsonOption(): Option {
  return new Option('--json', 'print one JSON line, mistakes too');
}

function compatOption(): Option {
  return new Option('--compat <PEER>', "speak the peer's names, statuses and generated types").choices(['dgraph']);
}

function address(text: string): string {
  if (text.trim() === '')
    throw new InvalidArgumentError('an address is 127.0.0.1, 0.0.0.0, or another of this machine');
  return text;
}

function port(text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= 0 && value <= 65_535) return value;
  throw new InvalidArgumentError('a port is a whole number from 0 to 65535 (0 takes any free one)');
}
