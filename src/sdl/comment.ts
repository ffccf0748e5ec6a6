import { type DocumentNode, type Token, TokenKind } from 'graphql';
import { type Names, type Position, Secret } from '../base/index.js';
import { readAuthorization } from './authorization.js';
import type { Authorization } from './model.js';
import type { Problem } from './rule.js';

/** What the comment lines of a definition text declare. */
export interface Declarations {
  readonly secrets: ReadonlyMap<string, Secret>;
  readonly authorization?: Authorization;
  readonly allowedOrigins: readonly string[];
}

export type Report = (problem: Problem) => void;

const DECLARATION = /^\s*(Service|Dgraph)\.(Secret|Authorization|Allow-Origin)(?![\w-])(.*)$/s;
const SECRET = /^(?:"([^"]*)"|([^\s"]+))\s+(?:"((?:[^"\\]|\\.)*)"|([^\s"]+))$/;

/**
 * Reads `# Service.Secret name value`, `# Service.Authorization {json}` and `# Service.Allow-Origin "url"`. Under
 * `--compat dgraph` the peer's spelling of the first word counts as well. Texts of problems never hold a secret's value.
 */
export function readComments(document: DocumentNode, names: Names, report: Report): Declarations {
  const secrets = new Map<string, Secret>();
  const allowedOrigins: string[] = [];
  let authorization: Authorization | undefined;
  let authorizations = 0;
  for (const comment of comments(document)) {
    const match = DECLARATION.exec(comment.value);
    if (!match) continue;
    const position = { line: comment.line, column: comment.column };
    const [, prefix, word, written] = match;
    const rest = written.trim();
    if (prefix === 'Dgraph' && !names.dgraph) {
      report(otherSpelling(word, position));
    } else if (word === 'Secret') {
      readSecret(rest, position, secrets, names, report);
    } else if (word === 'Allow-Origin') {
      const origin = readOrigin(rest, position, report);
      if (origin !== undefined) allowedOrigins.push(origin);
    } else if (authorizations++ > 0) {
      report({
        position,
        message: 'the authorization is declared more than once',
        fix: 'Keep one Authorization comment.',
      });
    } else authorization = readAuthorization(rest, position, report);
  }
  return { secrets, authorization, allowedOrigins };
}

interface Comment {
  readonly value: string;
  readonly line: number;
  readonly column: number;
}

function* comments(document: DocumentNode): Generator<Comment> {
  let token: Token | null = document.loc?.startToken ?? null;
  for (; token; token = token.next) {
    if (token.kind === TokenKind.COMMENT) yield { value: token.value, line: token.line, column: token.column };
  }
}

const otherSpelling = (word: string, position: Position): Problem => ({
  position,
  message: `"# Dgraph.${word}" is not read in this mode`,
  fix: `Write "# Service.${word}", or start the service with --compat dgraph.`,
});

function readSecret(
  rest: string,
  position: Position,
  secrets: Map<string, Secret>,
  names: Names,
  report: Report,
): void {
  const match = SECRET.exec(rest);
  const name = match?.[1] ?? match?.[2];
  if (!match || !name) {
    report({
      position,
      message: 'a secret needs a name and a value',
      fix: `Write it as: # ${names.dgraph ? 'Dgraph' : 'Service'}.Secret NAME "value".`,
    });
    return;
  }
  if (secrets.has(name)) {
    report({ position, message: `the secret ${name} is declared more than once`, fix: 'Keep one of them.' });
    return;
  }
  secrets.set(name, new Secret(match[3]?.replace(/\\"/g, '"') ?? match[4]));
}

function readOrigin(rest: string, position: Position, report: Report): string | undefined {
  const origin = /^"([^"]*)"$/.exec(rest)?.[1] ?? (/^\S+$/.test(rest) ? rest : undefined);
  if (origin === '*') return origin;
  if (origin !== undefined && /^https?:\/\/[^\s/]+$/.test(origin)) return origin;
  report({
    position,
    message: `"${rest}" is not an origin`,
    fix: 'Write scheme and host alone: # Service.Allow-Origin "https://app.example.com".',
  });
  return undefined;
}
