import { SignJWT } from 'jose';

/** Signs the tokens of tests, as HS256 of `# Service.Authorization`. */
export const TOKEN_KEY = 'a key of at least thirty-two bytes, for HS256';

/**
 * The header of a request whose token has these claims, under the namespace "app".
 * @param exp when it expires, in seconds since 1970
 */
export async function tokenOf(claims: Record<string, string>, exp?: number): Promise<Record<string, string>> {
  const signed = new SignJWT({ app: claims, exp }).setProtectedHeader({ alg: 'HS256' });
  return { 'x-auth': await signed.sign(new TextEncoder().encode(TOKEN_KEY)) };
}
