import { Lexer, Source, type Token, TokenKind } from 'graphql';
import { declarationIn } from './comment.js';

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
  const lexer = new Lexer(new Source(text));
  let token = lexer.token;
  let [made, from] = ['', 0];
  while (token.kind !== TokenKind.EOF) {
    lexer.advance();
    for (; token !== lexer.token && token.next; token = token.next) {
      const declared = token.kind === TokenKind.COMMENT ? declarationIn(token.value) : undefined;
      if (!declared) continue;
      made += text.slice(from, token.start) + other({ token, declared });
      from = token.end;
    }
  }
  return made + text.slice(from);
}

/** Definitions as they are read without `--compat dgraph`: those that were stored under it may have the peer's words in comments. */
export function inOwnWords(text: string): string {
  return withDeclarations(text, ({ token, declared: { word, rest } }) => {
    const before = text.slice(token.start, token.end - rest.length);
    return before.replace(`Dgraph.${word}`, `Service.${word}`) + rest;
  });
}
