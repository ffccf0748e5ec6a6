/** Takes what must not be shown out of a text that will be. */
export type Hide = (text: string) => string;

/** Shorter values are words, flags and ports, which every message is full of. */
const SHORTEST = 4;

/**
 * Puts `{{PLACEHOLDER}}` where the value of one stands, also as JSON, addresses and headers write it.
 * @param values by placeholder, as app.json names them, or by secret
 */
export function hiding(values: Readonly<Record<string, string>> = {}): Hide {
  const hidden = Object.entries(values)
    .flatMap(([placeholder, value]) => formsOf(value).map((form) => [form, `{{${placeholder}}}`] as const))
    .filter(([form]) => form.length >= SHORTEST)
    .sort(([one], [other]) => other.length - one.length);
  return (text) => hidden.reduce((shown, [form, placeholder]) => shown.replaceAll(form, placeholder), text);
}

function formsOf(value: string): readonly string[] {
  const bare = value.trim().replace(/^(?:Bearer|Basic|Token)\s+/i, '');
  const written = (text: string) => [text, JSON.stringify(text).slice(1, -1), encodeURIComponent(text)];
  return [...new Set([value, value.trim(), bare].flatMap(written))];
}
