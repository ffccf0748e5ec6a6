// Types that an app's functions use to say more than TypeScript's own types can. A plain number fits Int, a plain
// string fits ID: the mark exists for the reader of types only and never at run time.

/** A whole number of 32 bits; a plain `number` becomes Float. */
export type Int = number | (number & { readonly __graphstead: 'Int' });

/** A whole number of 64 bits, as far as a number holds it exactly; `bigint` becomes Int64 too. */
export type Int64 = number | (number & { readonly __graphstead: 'Int64' });

/** An identifier; a plain `string` becomes String. */
export type ID = string | (string & { readonly __graphstead: 'ID' });

/** Any JSON value. */
export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [key: string]: Json }
  | { readonly __graphstead: 'JSON' };
