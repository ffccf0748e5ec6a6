import { Lexer, Source, type Token, TokenKind } from 'graphql';
import { declarationIn, originOf } from './comment.js';

/** A comment that declares something, and what it declares. */
interface DeclaringComment {
  readonly token: Token;
  readonly declared: NonNullable<ReturnType<typeof declarationIn>>;
}

/**
 * The text with another one in place of each comment that declares something; all else stays as it is, comments in strings
 * too. The text must be one that can be parsed.
 */
export function withDeclarations(text: string, other: (comment: DeclaringComment) => string): string {
  let [made, from] = ['', 0];
  for (const comment of declaringComments(text)) {
    made += text.slice(from, comment.token.start) + other(comment);
    from = comment.token.end;
  }
  return made + text.slice(from);
}

function* declaringComments(text: string): Generator<DeclaringComment> {
  const lexer = new Lexer(new Source(text));
  let token = lexer.token;
  while (token.kind !== TokenKind.EOF) {
    lexer.advance();
    for (; token !== lexer.token && token.next; token = token.next) {
      const declared = token.kind === TokenKind.COMMENT ? declarationIn(token.value) : undefined;
      if (declared) yield { token, declared };
    }
  }
}

/** The origins that a text allows, also one that is refused. The text must be one that can be parsed. */
export function originsIn(text: string): readonly string[] {
  return [...declaringComments(text)].flatMap(({ declared: { word, rest } }) => {
    const origin = word === 'Allow-Origin' ? originOf(rest.trimEnd()) : undefined;
    return origin === undefined ? [] : [origin];
  });
}

/** Definitions as they are read without `--compat dgraph`: those that were stored under it may have the peer's words in comments. */
export function inOwnWords(text: string): string {
  return withDeclarations(text, ({ token, declared: { word, rest } }) => {
    const before = text.slice(token.start, token.end - rest.length);
    return before.replace(`Dgraph.${word}`, `Service.${word}`) + rest;
  });
}
