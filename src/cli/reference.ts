import type { Argument, Command, Option } from 'commander';
import { EXIT_CODES } from './exit-code.js';

/** docs/reference/cli.md: every command and flag, from the definitions themselves. */
export function cliReference(program: Command): string {
  const commands = program.commands.map(section).join('\n');
  const codes = Object.entries(EXIT_CODES).map(([code, meaning]) => `| ${code} | ${meaning} |`);
  return `# The command line

<!-- Written by scripts/docs.mjs from src/cli/program.ts: change it there. -->

\`graphstead\` is ${program.description()}.

${commands}
## Exit codes

| code | meaning |
|---|---|
${codes.join('\n')}

## Output

Answers go to standard output, mistakes and progress to standard error. Every mistake has a code, its place (file, line and column where there is
a text) and a fix. With \`--json\` the answer is one JSON line, and each mistake is one line \`{"error": {"code", "message", "fix", "position"}}\`.
Progress is shown on a terminal only; nothing is coloured when \`NO_COLOR\` is set.

## Variables

| variable | meaning |
|---|---|
| \`GRAPHSTEAD_API_KEYS\` | keys that the service accepts, separated by commas; needed on every address but loopback |
| \`GRAPHSTEAD_CLIENT_KEYS\` | keys that open \`/graphql\` and \`/mcp\` alone |
| \`GRAPHSTEAD_METRICS_KEYS\` | keys that open \`/metrics\` alone |
| \`GRAPHSTEAD_API_KEY\` | the key that \`--to\` and \`--from\` send |
| \`GRAPHSTEAD_STORE\` | address of a PostgreSQL database that holds the data, in place of a directory; \`--store\` wins |
| \`GRAPHSTEAD_WRITER\` | with \`--read-only\`: the service that writes; \`--writer\` wins |
| \`GRAPHSTEAD_WRITER_GRPC\` | with \`--read-only\`: where that one speaks gRPC; \`--writer-grpc\` wins |
| \`GRAPHSTEAD_HOST_NAMES\` | names that the service is reached under besides those of loopback |
| \`GRAPHSTEAD_ALLOWED_HOSTS\` | hosts that custom logic may call although they are link-local or a metadata service |
| \`GRAPHSTEAD_SCHEMA_VARIABLES\` | variables that secrets of uploaded type definitions may read |
| \`GRAPHSTEAD_LIMIT_<NAME>\` | one limit, such as \`GRAPHSTEAD_LIMIT_QUERY_MS\` |
| \`GRAPHSTEAD_LOG\` | level of the log: fatal, error, warn, info, debug, trace, silent |
| \`NO_COLOR\` | no colours |
`;
}

function section(command: Command): string {
  const title = [command.name(), ...command.registeredArguments.map(shown)].join(' ');
  const rows = [...command.registeredArguments.map(argumentRow), ...command.options.map(optionRow)];
  const table = rows.length > 0 ? `| argument or flag | meaning | default |\n|---|---|---|\n${rows.join('\n')}\n` : '';
  return `## graphstead ${title}\n\n${sentence(command.description())}\n\n${table}`;
}

function shown(argument: Argument): string {
  const name = argument.variadic ? `${argument.name()}...` : argument.name();
  return argument.required ? `<${name}>` : `[${name}]`;
}

function argumentRow(argument: Argument): string {
  return row(`\`${argument.name()}\``, argument.description, argument.argChoices, undefined);
}

function optionRow(option: Option): string {
  const description = option.mandatory ? `${option.description} (required)` : option.description;
  return row(`\`${option.flags}\``, description, option.argChoices, option.defaultValue);
}

function row(name: string, description: string, choices: readonly string[] | undefined, value: unknown): string {
  const [, text, said] = /^(.*?)(?: \(default: (.*)\))?$/.exec(description) ?? ['', description];
  const one = choices ? `${text}: ${choices.join(', ')}` : text;
  const standard = said ?? (value === undefined || value === false ? undefined : String(value));
  return `| ${name} | ${one} | ${standard === undefined ? '' : `\`${standard}\``} |`;
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
