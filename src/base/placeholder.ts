const PLACEHOLDER = /\{\{\s*([A-Za-z0-9_-]+)\s*\}\}/g;
const WHOLE = new RegExp(`^${PLACEHOLDER.source}$`);

/** Values by the names of their variables. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The environment variable behind `{{placeholder}}` of a connection or a secret: APP_<ITS_NAME>_<PLACEHOLDER>. */
export function variableName(owner: string, placeholder: string): string {
  return `APP_${owner}_${placeholder}`.toUpperCase().replace(/-/g, '_');
}

/** Names of all placeholders in the texts of a value, each once. */
export function placeholdersIn(value: unknown): string[] {
  const found = new Set<string>();
  const visit = (entry: unknown): void => {
    if (typeof entry === 'string') for (const match of entry.matchAll(PLACEHOLDER)) found.add(match[1]);
    else if (entry !== null && typeof entry === 'object') Object.values(entry).forEach(visit);
  };
  visit(value);
  return [...found];
}

/** The value with every placeholder replaced. `lookup` answers for every name that `placeholdersIn` gave. */
export function substitute<T>(value: T, lookup: (placeholder: string) => string): T {
  return withTexts(value, (text) => text.replace(PLACEHOLDER, (_, name: string) => lookup(name)));
}

/** A JSON value with other texts in it; keys stay. */
export function withTexts<T>(value: T, change: (text: string) => string): T {
  if (typeof value === 'string') return change(value) as T;
  if (Array.isArray(value)) return value.map((entry: unknown) => withTexts(entry, change)) as T;
  if (value !== null && typeof value === 'object') {
    return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, withTexts(entry, change)])) as T;
  }
  return value;
}

/** Braces that are no placeholder: they would be sent as they stand. */
export function strayBraces(text: string): string | undefined {
  return /\{\{[^{}]*\}*/.exec(text.replace(PLACEHOLDER, ''))?.[0];
}

/** Whether a variable can be named after it. */
export function namesVariables(owner: string): boolean {
  return /^[A-Za-z0-9_-]+$/.test(owner);
}

/** Whether a text is one placeholder and nothing else. */
export function isPlaceholder(text: string): boolean {
  return WHOLE.test(text);
}
