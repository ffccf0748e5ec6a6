import type { Ranges } from './char-class.js';

/** A parsed pattern. Captures and greediness are gone: only whether a text matches is asked. */
export type PatternNode =
  | { readonly kind: 'empty' }
  /** one character out of a set */
  | { readonly kind: 'set'; readonly ranges: Ranges }
  | { readonly kind: 'concat'; readonly parts: readonly PatternNode[] }
  | { readonly kind: 'alternate'; readonly parts: readonly PatternNode[] }
  /** `max` may be infinite */
  | { readonly kind: 'repeat'; readonly node: PatternNode; readonly min: number; readonly max: number }
  | { readonly kind: 'assert'; readonly at: Assertion };

export type Assertion = 'textStart' | 'textEnd' | 'lineStart' | 'lineEnd' | 'wordBoundary' | 'noWordBoundary';

export interface Flags {
  readonly ignoreCase: boolean;
  readonly multiLine: boolean;
  readonly dotAll: boolean;
}
