/** First words that say that a function only reads. */
const READING = new Set('get list find check count search is has fetch test read query show describe'.split(' '));

/** The first word of a name in camelCase, PascalCase or snake_case, in lower case. */
function firstWord(name: string): string {
  const match = /^_*([A-Z]+(?![a-z])|[A-Za-z][a-z]*)/.exec(name);
  return (match?.[1] ?? name).toLowerCase();
}

/** Query or mutation: the doc comment's tag decides, else the name's first word. */
export function kindOf(name: string, tags: readonly string[]): 'query' | 'mutation' {
  if (tags.includes('query')) return 'query';
  if (tags.includes('mutation')) return 'mutation';
  return READING.has(firstWord(name)) ? 'query' : 'mutation';
}

/** The GraphQL name of a function. */
export function operationName(name: string): string {
  return name.charAt(0).toLowerCase() + name.slice(1);
}
