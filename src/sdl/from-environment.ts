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

/** Where a value is declared, and where what is wrong with it goes. */
export interface Declaring {
  readonly position: Position;
  /** undefined leaves placeholders as they stand: for tools that look at definitions and call nothing */
  readonly environment?: Environment;
  report(problem: Problem): void;
}

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
  { position, environment, report }: Declaring,
): string | undefined {
  const placeholders = placeholdersIn(written);
  // a secret may well hold braces: only what was meant as a placeholder is wrong
  if (strayBraces(written)?.endsWith('}}')) {
    const fix = 'Write {{NAME}}, with letters, digits, - and _.';
    report({ position, message: `the value of ${what} has {{...}} that is no placeholder`, fix });
  } else if (placeholders.length > 0 && !namesVariables(owner)) {
    report({ position, message: `no variable can be named after ${what}`, fix: 'Use letters, digits, - and _.' });
  } else if (placeholders.length === 0 || !environment) return written;
  else {
    const filled = (placeholder: string): string => environment[variableName(owner, placeholder)] ?? '';
    const missing = placeholders.filter((placeholder) => filled(placeholder) === '');
    if (missing.length === 0) return substitute(written, filled);
    const variables = new Set(missing.map((placeholder) => variableName(owner, placeholder)));
    for (const variable of variables) {
      const fix = `Set ${variable} in the environment, or in .env.dev.local of the app for development.`;
      report({ position, message: `${what} needs the variable ${variable}`, fix, variable });
    }
  }
  return undefined;
}
