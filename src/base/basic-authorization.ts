/** The user and the password of an address as the header that says the same: HTTP libraries leave them out or refuse them. */
export function basicAuthorization({ username, password }: URL): Record<string, string> {
  if (username === '' && password === '') return {};
  const pair = [username, password].map(unescaped).join(':');
  return { authorization: `Basic ${Buffer.from(pair).toString('base64')}` };
}

/** As it stands where it holds a % that escapes nothing. */
function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
