const FALLBACK = 'en';
const known = new Map<string, string>();

/**
 * The base language of a tag (BCP 47): `en-US` -> `en`, `ca-ES-valencia` -> `ca`, the old `sh` -> `sr`. No tag, and one
 * that names no language, give `en`.
 */
export function langBase(lang: string): string {
  const found = known.get(lang);
  if (found !== undefined) return found;
  const base = resolve(lang);
  if (known.size < 1_000) known.set(lang, base);
  return base;
}

function resolve(lang: string): string {
  try {
    return new Intl.Locale(lang.replaceAll('_', '-')).language || FALLBACK;
  } catch {
    return FALLBACK;
  }
}
