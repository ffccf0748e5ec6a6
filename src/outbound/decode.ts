import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';
import { codeOf, GraphsteadError } from '../base/index.js';

/** Nothing is asked for compressed, but some answer so all the same. */
const DECODERS: Readonly<Record<string, (body: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>>> = {
  gzip: promisify(gunzip),
  'x-gzip': promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
  identity: (body) => Promise.resolve(body),
};
export const LARGER = 'Ask the endpoint for less, a page at a time, or raise the limit.';
const MARK = Buffer.from('\uFEFF');

/**
 * The body of a reply as UTF-8 without a byte order mark. Throws REMOTE_REPLY, with the end of a sentence, for one that
 * cannot be decompressed or is larger than `most` bytes then.
 */
export async function decoded(body: Buffer, headers: Headers, most: number): Promise<Buffer> {
  let plain = body;
  const encodings = one(headers['content-encoding']).split(',').reverse();
  for (const encoding of body.length === 0 ? [] : encodings) plain = await unpacked(plain, encoding, most);
  const utf8 = inUtf8(plain, /;\s*charset\s*=\s*"?([^\s;"]+)/i.exec(one(headers['content-type']))?.[1]);
  return utf8.subarray(0, MARK.length).equals(MARK) ? utf8.subarray(MARK.length) : utf8;
}

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

const one = (header: string | readonly string[] | undefined): string => [header ?? []].flat().join(',');

async function unpacked(body: Buffer, encoding: string, most: number): Promise<Buffer> {
  const name = encoding.trim().toLowerCase() || 'identity';
  const decoder = Object.hasOwn(DECODERS, name) ? DECODERS[name] : undefined;
  if (!decoder)
    throw new GraphsteadError('REMOTE_REPLY', `the reply is compressed by ${name}, which is not known`, {
      fix: `Let the endpoint answer with ${Object.keys(DECODERS).join(', ')}.`,
    });
  try {
    return await decoder(body, { maxOutputLength: most });
  } catch (error) {
    const tooLarge = codeOf(error) === 'ERR_BUFFER_TOO_LARGE';
    const reason = tooLarge ? `is larger than ${most} bytes (limits.outboundReplyBytes)` : `is no ${name}, as it says`;
    const fix = tooLarge ? LARGER : 'Let the endpoint name the encoding that it uses.';
    throw new GraphsteadError('REMOTE_REPLY', `the reply ${reason}`, { fix });
  }
}

/** What names no encoding that is known is taken as UTF-8, which JSON is. */
function inUtf8(body: Buffer, charset: string | undefined): Buffer {
  if (charset === undefined || /^(?:utf-?8|us-ascii)$/i.test(charset)) return body;
  try {
    return Buffer.from(new TextDecoder(charset).decode(body));
  } catch {
    return body;
  }
}
