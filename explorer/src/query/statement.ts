/** What a text of the graph language is, and so where it goes. */
export type Statement =
  | { readonly kind: 'query'; readonly variables: boolean }
  | { readonly kind: 'mutation'; readonly contentType: 'application/rdf' | 'application/json' };

export function statementOf(text: string): Statement {
  const bare = text.replace(/^\s*(#[^\n]*\n\s*)*/, '');
  if (/^\{\s*"/.test(bare)) return { kind: 'mutation', contentType: 'application/json' };
  if (/^upsert\b/.test(bare) || /^\{\s*(set|delete)\s*\{/.test(bare)) {
    return { kind: 'mutation', contentType: 'application/rdf' };
  }
  return { kind: 'query', variables: /^query\b[^{(]*\(/.test(bare) };
}
