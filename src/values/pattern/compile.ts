import type { Pattern, TrigramQuery } from '../contract.js';
import { invalidValue } from '../failure.js';
import { Automaton } from './automaton.js';
import { parsePattern } from './parse.js';
import { programOf } from './program.js';
import type { Flags, PatternNode } from './syntax.js';
import { trigramQueryOf } from './trigram.js';

/**
 * A pattern in the syntax of RE2, matched anywhere in a text in time linear in its length. Flags: any of i (ignore case),
 * m (^ and $ at lines) and s (. takes line ends). Throws INVALID_VALUE for a pattern that is malformed, too large, or
 * has no linear-time answer (back references, lookaround).
 */
export function compilePattern(source: string, flags: string): Pattern {
  const automaton = new Automaton(programOf(parse(source, flags)));
  return { test: (text) => automaton.test(text) };
}

/** The trigrams that every match of a pattern holds, for the trigram index. Throws as compilePattern does. */
export function requiredTrigrams(source: string, flags: string): TrigramQuery {
  return trigramQueryOf(parse(source, flags));
}

function parse(source: string, letters: string): PatternNode {
  const unknown = [...letters].find((letter) => !'ims'.includes(letter));
  if (unknown !== undefined) {
    throw invalidValue(`a pattern has no flag "${unknown}"`, 'Use i (ignore case), m (lines) or s (dot takes all).');
  }
  const flags: Flags = {
    ignoreCase: letters.includes('i'),
    multiLine: letters.includes('m'),
    dotAll: letters.includes('s'),
  };
  return parsePattern(source, flags);
}
