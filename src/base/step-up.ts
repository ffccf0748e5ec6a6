/** The `;` begins a parameter of a path's part, which some servers take off first. */
const STEP_UP = /(?:^|\/|%2f|%5c)(?:\.|%2e){2}(?=\/|%2f|%5c|;|$)/i;

/**
 * Whether a path leads out of its folder, also where its separators are escaped: `..%2fadmin` is one part for a URL, and a
 * step up for servers and proxies that unescape a path before they look at it.
 */
export function stepsUp(path: string): boolean {
  return STEP_UP.test(path);
}
