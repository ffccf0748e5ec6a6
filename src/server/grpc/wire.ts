/** A field of a message: its number, and a varint's value or the bytes of anything longer. */
export type WireField = readonly [number: number, value: number | Buffer];

const VARINT = 0;
const FIXED_64 = 1;
const BYTES = 2;
const FIXED_32 = 5;

/**
 * The fields of a protobuf message in the order they came, for the few messages that the published client of the
 * protocol does not know. Whole numbers beyond 2^53 lose their last digits. Throws RangeError when the bytes end early.
 */
export function wireFields(bytes: Buffer): WireField[] {
  const fields: WireField[] = [];
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = bytes.readUInt8(at++);
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
    }
  };
  const take = (length: number): Buffer => {
    if (at + length > bytes.length) throw new RangeError('the message ends inside of a field');
    at += length;
    return bytes.subarray(at - length, at);
  };
  while (at < bytes.length) {
    const tag = varint();
    const number = Math.floor(tag / 8);
    const kind = tag % 8;
    if (kind === VARINT) fields.push([number, varint()]);
    else if (kind === BYTES) fields.push([number, take(varint())]);
    else if (kind === FIXED_64) fields.push([number, take(8)]);
    else if (kind === FIXED_32) fields.push([number, take(4)]);
    else throw new RangeError(`the message has a field of the unknown kind ${kind}`);
  }
  return fields;
}

/** A message whose fields 1, 2 ... are these whole numbers, none of them negative. */
export function wireNumbers(values: readonly number[]): Buffer {
  const bytes: number[] = [];
  for (const [index, value] of values.entries()) {
    bytes.push((index + 1) * 8 + VARINT);
    let rest = value;
    for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
    bytes.push(rest);
  }
  return Buffer.from(bytes);
}
