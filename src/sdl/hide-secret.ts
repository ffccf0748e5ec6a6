const SECRET_LINE = /^([ \t,]*#[ \t]*(?:Service|Dgraph)\.Secret[ \t]+(?:"[^"\n]*"|[^\s"]+)[ \t]+)\S.*$/gm;
const AUTHORIZATION_LINE = /^[ \t,]*#[ \t]*(?:Service|Dgraph)\.Authorization\b.*$/gm;
const KEY = /("VerificationKey"\s*:\s*)"(?:[^"\\]|\\.)*"/gi;

/** Type definitions as they may be shown: secrets' values and the key that verifies tokens are left out. */
export function hideSecrets(text: string): string {
  return text
    .replace(SECRET_LINE, '$1"[hidden]"')
    .replace(AUTHORIZATION_LINE, (line) => line.replace(KEY, '$1"[hidden]"'));
}
