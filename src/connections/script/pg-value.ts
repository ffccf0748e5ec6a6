type Row = Readonly<Record<string, unknown>>;

/** Names of a result's columns with the numbers of their types in PostgreSQL. */
export type Columns = readonly { readonly name: string; readonly type: number }[];

const TYPE = { boolean: 16, bigint: 20, int: 23, text: 25, double: 701, timestamp: 1184, json: 3802, bytes: 17 };

/** The columns that these rows have: the client makes values of their texts by their types. */
export function columnsOf(rows: readonly Row[]): Columns {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  return names.map((name) => ({ name, type: typeOf(rows.map((row) => row[name])) }));
}

function typeOf(values: readonly unknown[]): number {
  const known = values.filter((value) => value !== null && value !== undefined);
  const [first] = known;
  switch (typeof first) {
    case 'boolean':
      return TYPE.boolean;
    case 'bigint':
      return TYPE.bigint;
    case 'number':
      return known.every((value) => value === (value as number) << 0) ? TYPE.int : TYPE.double;
    case 'object':
      if (first instanceof Date) return TYPE.timestamp;
      return first instanceof Uint8Array ? TYPE.bytes : TYPE.json;
    default:
      return TYPE.text;
  }
}

/** A value as it travels in a row. */
export function textOfValue(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  if (typeof value === 'boolean') return value ? 't' : 'f';
  if (typeof value !== 'object') return String(value);
  if (value instanceof Date) return value.toISOString().replace('T', ' ').replace('Z', '+00');
  return value instanceof Uint8Array ? `\\x${Buffer.from(value).toString('hex')}` : JSON.stringify(value);
}
