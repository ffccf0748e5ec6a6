import type pg from 'pg';

/**
 * Ends a client's connection with what `tooLarge` makes behind so many bytes from its server: rows are kept until the last of
 * them is there, and the library sets no bound to them.
 * @returns begins to count anew, for the next statement
 */
export function boundReplies(client: pg.PoolClient, bytes: number, tooLarge: () => Error): () => void {
  let size = 0;
  const { stream } = client.connection;
  stream.on('data', (part: Buffer) => {
    size += part.length;
    if (size > bytes && !stream.destroyed) stream.destroy(tooLarge());
  });
  return () => {
    size = 0;
  };
}
