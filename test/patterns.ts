// A pattern where a text is expected is matched. Without this `toMatchObject({ message: /x/ })` holds for every message.
import { expect } from 'vitest';

expect.addEqualityTesters([
  (received: unknown, expected: unknown) =>
    expected instanceof RegExp && !(received instanceof RegExp)
      ? typeof received === 'string' && expected.test(received)
      : undefined,
]);
