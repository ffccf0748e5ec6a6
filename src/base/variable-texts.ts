import { GraphsteadError } from './errors.js';

const HAS_ONE_TEXT: ReadonlySet<string> = new Set(['string', 'boolean', 'bigint']);

/** Variables of the graph language, which are texts. One that is undefined is not given. Throws INVALID_VALUE. */
export function variableTexts(call: string, variables: Readonly<Record<string, unknown>>): Record<string, string> {
  const given = Object.entries(variables).filter(([, value]) => value !== undefined);
  for (const [name, value] of given) {
    if (HAS_ONE_TEXT.has(typeof value) || Number.isFinite(value)) continue;
    throw new GraphsteadError('INVALID_VALUE', `the variable ${name} of ${call} is no text`, {
      fix: 'give the text that the query is to read in its place',
    });
  }
  return Object.fromEntries(given.map(([name, value]) => [name, String(value)]));
}
