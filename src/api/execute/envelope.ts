import { JsonWriter } from '../../base/index.js';
import type { Request } from './request.js';

const BEGIN = '{"data":';

/** A writer that stands where the `data` of an answer begins. */
export function beginAnswer(request: Request): JsonWriter {
  const out = new JsonWriter(request.engine.limits.answerBytes);
  out.ascii(BEGIN);
  return out;
}

/** `{"errors":[..],"data":..,"extensions":{..}}`: ends an answer whose `data` stands. */
export function endAnswer(request: Request, out: JsonWriter): Buffer {
  out.raw(`,"extensions":${JSON.stringify({ touched_uids: request.touched, ...request.context.extensions })}}`);
  const { list } = request.errors;
  const body = out.take();
  if (list.length === 0) return body;
  return Buffer.concat([Buffer.from(`{"errors":${JSON.stringify(list)},`), body.subarray(1)]);
}
