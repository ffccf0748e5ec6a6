import { GraphsteadError } from '../../base/index.js';

/** The parts of a pattern as filters write it, `/pattern/i`. Throws INVALID_VALUE. */
export function patternParts(text: string): { readonly source: string; readonly flags: string } {
  const match = /^\/(.*)\/([a-z]*)$/s.exec(text);
  if (match) return { source: match[1], flags: match[2] };
  throw new GraphsteadError('INVALID_VALUE', `regexp "${text}" is not written between slashes`, {
    fix: 'Write it as "/pattern/" or "/pattern/i".',
  });
}
