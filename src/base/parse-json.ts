/** A string, or a number; numbers inside strings are stepped over so. */
const STRING_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
const LONG_INTEGER = /^-?\d{16,}$/;

/** JSON with integers beyond 2^53 as strings, which lose no digit. Undefined for what is no JSON. */
export function parseJson(text: string): { readonly value: unknown } | undefined {
  const whole = /\d{16}/.test(text) ? text.replace(STRING_OR_NUMBER, exact) : text;
  try {
    return { value: JSON.parse(whole) as unknown };
  } catch {
    return undefined;
  }
}

function exact(token: string): string {
  return LONG_INTEGER.test(token) && !Number.isSafeInteger(Number(token)) ? `"${token}"` : token;
}
