import type * as grpc from '@grpc/grpc-js';
import { wireFields, type WireField, wireNumbers } from './wire.js';

/** A text of the graph language of any kind, with no transaction around it. */
export interface RunDqlRequest {
  readonly text: string;
  readonly variables: Readonly<Record<string, string>>;
  readonly readOnly: boolean;
  readonly bestEffort: boolean;
  readonly rdf: boolean;
}

/** What is leased: namespaces, uids or timestamps. */
const LEASES = ['namespaces', 'uids', 'timestamps'] as const;

export interface AllocateRequest {
  readonly count: number;
  readonly what: (typeof LEASES)[number] | 'unknown';
}

/** The first and the last of what was leased. */
export interface Allocated {
  readonly first: number;
  readonly last: number;
}

/** Methods of the protocol that are newer than the published client whose definitions serve the others. */
export function newerMethods<Answer>(responseSerialize: grpc.serialize<Answer>) {
  return {
    runDQL: { ...unary('RunDQL'), requestDeserialize: readRunDql, responseSerialize },
    allocateIDs: {
      ...unary('AllocateIDs'),
      requestDeserialize: readAllocate,
      responseSerialize: ({ first, last }: Allocated) => wireNumbers([first, last]),
    },
  };
}

function unary(name: string) {
  // a server only reads requests and writes answers
  const unused = (): never => {
    throw new TypeError(`${name} is not called from here`);
  };
  const path = `/api.Dgraph/${name}`;
  return { path, requestStream: false, responseStream: false, requestSerialize: unused, responseDeserialize: unused };
}

function readRunDql(bytes: Buffer): RunDqlRequest {
  const fields = wireFields(bytes);
  const last = new Map<number, WireField[1]>(fields);
  const variables = fields.filter(([number]) => number === 2).map(([, entry]) => variableOf(entry as Buffer));
  return {
    text: String(last.get(1) ?? ''),
    variables: Object.fromEntries(variables),
    readOnly: last.get(3) === 1,
    bestEffort: last.get(4) === 1,
    rdf: last.get(5) === 1,
  };
}

function variableOf(entry: Buffer): [name: string, text: string] {
  const parts = new Map(wireFields(entry));
  return [String(parts.get(1) ?? ''), String(parts.get(2) ?? '')];
}

function readAllocate(bytes: Buffer): AllocateRequest {
  const fields = new Map(wireFields(bytes));
  return { count: Number(fields.get(1) ?? 0), what: LEASES[Number(fields.get(2) ?? 0)] ?? 'unknown' };
}
