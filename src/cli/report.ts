import { asError, codeOf, GraphsteadError, GraphsteadErrors, sourceStack } from '../base/index.js';
import { exitCodeOf } from './exit-code.js';

/** Every mistake with its place and its fix, on standard error; JSON lines with --json. */
export function report(error: unknown, json: boolean): void {
  const errors = error instanceof GraphsteadErrors ? error.errors : [known(error)];
  for (const one of errors) console.error(json ? jsonLine(one) : lines(one));
}

/** What can be done something about, though it is not ours. */
function known(error: unknown): unknown {
  const told = asError(error);
  if (told.code !== 'INTERNAL') return told;
  return NOT_ALLOWED.has(codeOf(error)) ? notAllowed(told.message) : error;
}

const NOT_ALLOWED: ReadonlySet<unknown> = new Set(['EACCES', 'EPERM']);

/** The system's message names the file. */
function notAllowed(message: string): GraphsteadError {
  const user = process.getuid === undefined ? 'this user' : `the user with id ${process.getuid()}`;
  return new GraphsteadError('CONFIG', message, {
    fix: `let ${user} at that file (chown, chmod), or run as another one`,
  });
}

function jsonLine(error: unknown): string {
  if (!(error instanceof GraphsteadError)) {
    return JSON.stringify({ error: { code: 'INTERNAL', message: messageOf(error) } });
  }
  const { code, message, fix, position } = error;
  return JSON.stringify({ error: { code, message, fix, position } });
}

function lines(error: unknown): string {
  // What is not ours is a mistake of this program: its stack is what a report about it needs.
  if (!(error instanceof GraphsteadError))
    return error instanceof Error ? sourceStack(error.stack ?? error.message) : String(error);
  const { code, message, fix } = error;
  return `${code}: ${place(error)}${message}${fix ? `\n  fix: ${fix}` : ''}`;
}

/** `file:line:column: `, unless the message begins with the file by itself. */
function place({ position, message }: GraphsteadError): string {
  if (!position) return '';
  const { source, line, column } = position;
  if (source !== undefined && message.startsWith(source)) return '';
  return source === undefined ? `line ${line}, column ${column}: ` : `${source}:${line}:${column}: `;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Options that every command has. */
export interface CommonOptions {
  readonly json?: boolean;
}

/**
 * Runs a command to its end: prints what it answers (one JSON line with --json, the text otherwise) or what went wrong,
 * and sets the exit code. The process ends by itself once nothing is open.
 */
export async function runCommand<T>(
  options: CommonOptions,
  run: () => Promise<T>,
  text: (result: T) => string,
): Promise<void> {
  try {
    const result = await run();
    const shown = options.json ? JSON.stringify(result) : text(result);
    if (shown !== '') console.log(shown);
  } catch (error) {
    report(error, options.json ?? false);
    process.exitCode = exitCodeOf(error);
  }
}
