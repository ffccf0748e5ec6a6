/** A reply as it is stored under an idempotency key. */
export function encodeReply(reply: string | undefined): Uint8Array {
  return Buffer.from(JSON.stringify({ reply }), 'utf8');
}

export function decodeReply(bytes: Uint8Array): string | undefined {
  return (JSON.parse(Buffer.from(bytes).toString('utf8')) as { reply?: string }).reply;
}
