const PLACEHOLDER = /\{\{\s*([A-Za-z0-9_-]+)\s*\}\}/g;

/** The environment variable behind `{{placeholder}}` of a connection: APP_<CONNECTION_NAME>_<PLACEHOLDER>. */
export function variableName(connection: string, placeholder: string): string {
  return `APP_${connection}_${placeholder}`.toUpperCase().replace(/-/g, '_');
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
  if (typeof value === 'string') return value.replace(PLACEHOLDER, (_, name: string) => lookup(name)) as T;
  if (Array.isArray(value)) return value.map((entry: unknown) => substitute(entry, lookup)) as T;
  if (value !== null && typeof value === 'object') {
    return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, substitute(entry, lookup)])) as T;
  }
  return value;
}

/** Braces that are no placeholder: they would be sent as they stand. */
export function strayBraces(text: string): string | undefined {
  return /\{\{[^{}]*\}*/.exec(text.replace(PLACEHOLDER, ''))?.[0];
}

/** An address that calls can go to. */
export function isHttpAddress(text: string): boolean {
  return /^https?:\/\//i.test(text) && URL.canParse(text);
}
