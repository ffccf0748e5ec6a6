import {
  type Environment,
  namesVariables,
  placeholdersIn,
  type Position,
  strayBraces,
  substitute,
  variableName,
} from '../base/index.js';
import type { Problem } from './rule.js';

/** What placeholders of a text are filled in from. */
export interface Variables {
  readonly environment: Environment;
  /** names of those that may become secrets, which the text has sent where it says; absent: all */
  readonly readable?: ReadonlySet<string>;
  /** placeholders whose variables are not set stay as they stand, and are no mistake: for those who only read the definitions */
  readonly allowUnset?: boolean;
}

/** Where a value is declared, and where what is wrong with it goes. */
export interface Declaring {
  readonly position: Position;
  /** undefined leaves placeholders as they stand: for tools that look at definitions and call nothing */
  readonly variables?: Variables;
  report(problem: Problem): void;
}

/** What stands for a value where definitions are shown. Read as a value, it would be a key that everybody knows. */
export const HIDDEN = '[hidden]';

/** The variable that names those that uploaded definitions may read. */
export const READABLE = 'GRAPHSTEAD_SCHEMA_VARIABLES';

/**
 * A declared value with its placeholders filled in from the environment: `{{TOKEN}}` of the secret `github` is
 * APP_GITHUB_TOKEN, as it would be of a connection of that name. Undefined where something was reported; no problem
 * holds a value.
 * @param what the declaration in messages
 */
export function fromEnvironment(
  written: string,
  owner: string,
  what: string,
  { position, variables, report }: Declaring,
): string | undefined {
  const placeholders = placeholdersIn(written);
  if (written === HIDDEN) {
    const fix = 'Write the value in its place, or {{NAME}} to take it from the environment.';
    report({ position, message: `${what} has "${HIDDEN}", which stands for its value where it is shown`, fix });
    return undefined;
  }
  // a secret may well hold braces: only what was meant as a placeholder is wrong
  if (strayBraces(written)?.endsWith('}}')) {
    const fix = 'Write {{NAME}}, with letters, digits, - and _.';
    report({ position, message: `the value of ${what} has {{...}} that is no placeholder`, fix });
  } else if (placeholders.length > 0 && !namesVariables(owner)) {
    report({ position, message: `no variable can be named after ${what}`, fix: 'Use letters, digits, - and _.' });
  } else if (placeholders.length === 0 || !variables) return written;
  else {
    const { environment, readable, allowUnset } = variables;
    const filled = (placeholder: string): string => environment[variableName(owner, placeholder)] ?? '';
    const named = [...new Set(placeholders.map((placeholder) => variableName(owner, placeholder)))];
    const closed = named.filter((variable) => readable?.has(variable) === false);
    const missing = named.filter((variable) => !closed.includes(variable) && !environment[variable]);
    if (closed.length + missing.length === 0) return substitute(written, filled);
    if (closed.length === 0 && allowUnset) return written;
    // whether a closed one is set is nobody's business
    for (const variable of closed) {
      const message = `${what} may not read the variable ${variable} in definitions that are no app's schema.graphql`;
      report({ position, message, fix: `Start the service with ${variable} in ${READABLE}.`, variable });
    }
    for (const variable of missing) {
      const fix = `Set ${variable} in the environment, or in .env.dev.local of the app for development.`;
      report({ position, message: `${what} needs the variable ${variable}`, fix, variable });
    }
  }
  return undefined;
}
