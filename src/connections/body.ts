/** bytes of a refusal that are read: an error shows its beginning */
export const REFUSAL_BYTES = 64 * 1024;

/** What a reply's body is read from; null where it has none. */
export type Body = AsyncIterable<Uint8Array> | null;

/** The text of a body up to so many bytes, where the reading ends, and whether that was all of it. */
export async function textUpTo(body: Body, bytes: number): Promise<{ readonly text: string; readonly whole: boolean }> {
  const decoder = new TextDecoder();
  let text = '';
  let size = 0;
  for await (const part of body ?? []) {
    text += decoder.decode(part.subarray(0, bytes - size), { stream: true });
    size += part.length;
    if (size > bytes) return { text, whole: false };
  }
  return { text: text + decoder.decode(), whole: true };
}

/** The same parts; throws what `tooLarge` makes behind so many bytes. */
export async function* upTo(body: Body, bytes: number, tooLarge: () => Error): AsyncIterable<Uint8Array> {
  let size = 0;
  for await (const part of body ?? []) {
    size += part.length;
    if (size > bytes) throw tooLarge();
    yield part;
  }
}
