import { stepsUp } from '../base/index.js';

/** An address that calls can go to. */
export function isHttpAddress(text: string): boolean {
  return /^https?:\/\//i.test(text) && URL.canParse(text);
}

/** What paths of calls are joined to: a folder. */
export function baseOf(baseUrl: string): URL {
  const base = new URL(baseUrl);
  if (!base.pathname.endsWith('/')) base.pathname += '/';
  return base;
}

/** Where a call goes; undefined where that is no address. */
export function joined(path: string, base: URL): URL | undefined {
  return URL.canParse(relative(path), base.href) ? new URL(relative(path), base) : undefined;
}

export function isBelow(url: URL, base: URL): boolean {
  return url.origin === base.origin && url.pathname.startsWith(base.pathname) && !stepsUp(url.pathname);
}

/** `documents:commit` is a path, though what stands before its colon would be a scheme. */
function relative(path: string): string {
  const below = path.replace(/^\/+/, '');
  return /^[^/?#]*:(?!\/\/)/.test(below) ? `./${below}` : below;
}
