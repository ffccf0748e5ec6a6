import { readFileSync } from 'node:fs';

/** Names the file that a test keeps the time in; set by "graphstead/testing" alone. */
const TEST_CLOCK = 'APP_TEST_CLOCK_FILE';

/**
 * App code under test sees the test's time: `Date` without arguments and `Date.now()` read milliseconds from a file.
 * Nothing is changed without the variable.
 */
export function followTestClock(): void {
  const file = process.env[TEST_CLOCK];
  if (file === undefined) return;
  const System = globalThis.Date;
  let last = System.now();
  const now = (): number => {
    const read = Number(readFileSync(file, 'utf8') || Number.NaN);
    // empty for a moment while it is being written
    if (Number.isFinite(read)) last = read;
    return last;
  };
  globalThis.Date = new Proxy(System, {
    construct: (target, args, made) => Reflect.construct(target, args.length === 0 ? [now()] : args, made),
    apply: () => new System(now()).toString(),
    get: (target, key, receiver) => (key === 'now' ? now : Reflect.get(target, key, receiver)),
  });
}
