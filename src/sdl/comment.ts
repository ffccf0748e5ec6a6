import { type DocumentNode, type Token, TokenKind } from 'graphql';
import { isHeaderValue, type Names, type Position, Secret } from '../base/index.js';
import { readAuthorization } from './authorization.js';
import { type Declaring, fromEnvironment, type Variables } from './from-environment.js';
import type { Authorization } from './model.js';
import type { Problem } from './rule.js';

/** What the comment lines of a definition text declare. */
export interface Declarations {
  readonly secrets: ReadonlyMap<string, Secret>;
  readonly authorization?: Authorization;
  readonly allowedOrigins: readonly string[];
}

interface ReadOptions {
  readonly names: Names;
  readonly variables?: Variables;
  report(problem: Problem): void;
}

const DECLARATION = /^\s*(Service|Dgraph)\.(Secret|Authorization|Allow-Origin)(?![\w-])\s*(.*)$/s;
/** What stands in single quotes is meant as it stands, as in env files. */
const SECRET = /^(?:"([^"]*)"|'([^']*)'|([^\s"]+))\s+(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|([^\s"]+))$/;

/**
 * Reads `# Service.Secret name value`, `# Service.Authorization {json}` and `# Service.Allow-Origin "url"`, with
 * placeholders filled in. Under `--compat dgraph` the peer's spelling of the first word counts as well. Texts of problems
 * never hold a secret's value.
 */
export function readComments(document: DocumentNode, { names, variables, report }: ReadOptions): Declarations {
  const secrets = new Map<string, Secret>();
  const allowedOrigins: string[] = [];
  let authorization: Authorization | undefined;
  let authorizations = 0;
  for (const comment of comments(document)) {
    const declared = declarationIn(comment.value);
    if (!declared) continue;
    const position = { line: comment.line, column: comment.column };
    const declaring: Declaring = { position, report, ...(variables ? { variables } : {}) };
    const { prefix, word } = declared;
    const rest = declared.rest.trimEnd();
    if (prefix === 'Dgraph' && !names.dgraph) {
      report(otherSpelling(word, position));
    } else if (word === 'Secret') {
      readSecret(rest, secrets, names, declaring);
    } else if (word === 'Allow-Origin') {
      const origin = readOrigin(rest, position, report);
      if (origin !== undefined) allowedOrigins.push(origin);
    } else if (authorizations++ > 0) {
      report({
        position,
        message: 'the authorization is declared more than once',
        fix: 'Keep one Authorization comment.',
      });
    } else authorization = readAuthorization(rest, declaring, names.dgraph);
  }
  return { secrets, authorization, allowedOrigins };
}

/** What a comment declares, when it does: `rest` is the end of its text. */
export function declarationIn(
  comment: string,
): { readonly prefix: string; readonly word: string; readonly rest: string } | undefined {
  const match = DECLARATION.exec(comment);
  return match ? { prefix: match[1], word: match[2], rest: match[3] } : undefined;
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

function readSecret(rest: string, secrets: Map<string, Secret>, names: Names, declaring: Declaring): void {
  const { position, report } = declaring;
  const match = SECRET.exec(rest);
  const name = match?.[1] ?? match?.[2] ?? match?.[3];
  const written = match?.[4]?.replace(/\\"/g, '"') ?? match?.[5] ?? match?.[6];
  if (!name || !written?.trim()) {
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
  const value = fromEnvironment(written, name, `the secret ${name}`, declaring);
  // also without a value: what names it is not wrong
  secrets.set(name, new Secret(value ?? ''));
  if (value !== undefined && !isHeaderValue(value)) {
    report({
      position,
      message: `the value of the secret ${name} holds a character that no header can carry`,
      fix: 'Take out line ends and other control characters, and characters beyond Latin-1.',
    });
  }
}

/** The origin that an Allow-Origin line names; undefined where it names none. */
export function originOf(rest: string): string | undefined {
  const origin = /^(["'])(.*)\1$/.exec(rest)?.[2] ?? (/^\S+$/.test(rest) ? rest : undefined);
  const isOrigin = origin === '*' || (origin !== undefined && /^https?:\/\/[^\s/]+$/.test(origin));
  return isOrigin ? origin : undefined;
}

function readOrigin(rest: string, position: Position, report: Declaring['report']): string | undefined {
  const origin = originOf(rest);
  if (origin !== undefined) return origin;
  report({
    position,
    message: `"${rest}" is not an origin`,
    fix: 'Write scheme and host alone: # Service.Allow-Origin "https://app.example.com".',
  });
  return undefined;
}
