import { Kind, type TypeNode } from 'graphql';
import {
  type RemoteInput,
  type RemoteSchema,
  type RemoteType,
  type RemoteTypeRef,
  remoteTypeName,
} from '../../outbound/index.js';
import { baseName, type EnumType, type InputType, type Model } from '../../sdl/index.js';

/** Scalars of ours whose values a remote's other scalars hold without loss. */
const LOSSLESS: Readonly<Record<string, readonly string[]>> = {
  ID: ['ID', 'String', 'Int'],
  Int: ['Int', 'Float', 'ID'],
  Float: ['Float', 'Int'],
  String: ['String', 'ID'],
  Boolean: ['Boolean'],
};
const STANDARD = new Set(Object.keys(LOSSLESS));

/** A variable of a type may stand where the remote takes another: GraphQL's own rule (names alike, lists alike). */
export function variableFits(variable: TypeNode, remote: RemoteTypeRef, hasDefault: boolean): boolean {
  if (remote.kind === 'NON_NULL') {
    if (variable.kind === Kind.NON_NULL_TYPE) return variableFits(variable.type, inner(remote), false);
    return hasDefault && variableFits(variable, inner(remote), false);
  }
  if (variable.kind === Kind.NON_NULL_TYPE) return variableFits(variable.type, remote, false);
  if (remote.kind === 'LIST')
    return variable.kind === Kind.LIST_TYPE && variableFits(variable.type, inner(remote), false);
  return variable.kind === Kind.NAMED_TYPE && variable.name.value === remote.name;
}

/** A result of the remote's type may be answered as ours: lists alike, never null where ours is not, names alike. */
export function resultFits(local: TypeNode, remote: RemoteTypeRef): boolean {
  if (local.kind === Kind.NON_NULL_TYPE) return remote.kind === 'NON_NULL' && resultFits(local.type, inner(remote));
  if (remote.kind === 'NON_NULL') return resultFits(local, inner(remote));
  if (local.kind === Kind.LIST_TYPE) return remote.kind === 'LIST' && resultFits(local.type, inner(remote));
  return remote.kind !== 'LIST' && namesFit(local.name.value, remote);
}

function inner(type: RemoteTypeRef): RemoteTypeRef {
  return type.ofType ?? { kind: 'SCALAR', name: '', ofType: null };
}

function namesFit(local: string, remote: RemoteTypeRef): boolean {
  if (local === remote.name) return true;
  if (remote.kind !== 'SCALAR') return remote.kind === 'ENUM' && local === 'String';
  if (!STANDARD.has(local)) return local === 'DateTime' || local === 'Int64';
  return !STANDARD.has(remote.name ?? '') || LOSSLESS[local].includes(remote.name ?? '');
}

/** A value of our input type may be sent as the remote's. */
export function inputFits(local: TypeNode, remote: RemoteTypeRef): boolean {
  if (remote.kind === 'NON_NULL') return local.kind === Kind.NON_NULL_TYPE && inputFits(local.type, inner(remote));
  if (local.kind === Kind.NON_NULL_TYPE) return inputFits(local.type, remote);
  if (local.kind === Kind.LIST_TYPE) return remote.kind === 'LIST' && inputFits(local.type, inner(remote));
  if (remote.kind === 'LIST') return false;
  if (remote.kind === 'INPUT_OBJECT' || remote.kind === 'ENUM') return true;
  // an enum's value is sent as a string
  return namesFit(local.name.value, remote) || (remote.name === 'String' && !STANDARD.has(local.name.value));
}

export function needsValue(input: RemoteInput): boolean {
  return input.type.kind === 'NON_NULL' && input.defaultValue === null;
}

/**
 * Every difference between an input or enum of ours and the remote's type that its values are sent as.
 * @param enums false: values of enums are not compared
 */
export function inputMismatches(
  model: Model,
  remote: RemoteSchema,
  local: string,
  name: string,
  enums = true,
): string[] {
  const found: string[] = [];
  const seen = new Set<string>();
  const visit = (input: InputType, remoteName: string): void => {
    if (seen.has(`${input.name} ${remoteName}`)) return;
    seen.add(`${input.name} ${remoteName}`);
    const type = remote.type(remoteName);
    const theirs = type?.inputFields ?? [];
    if (type?.kind !== 'INPUT_OBJECT') {
      found.push(`the remote has no input type ${remoteName}`);
      return;
    }
    const names = new Set(input.fields.map((field) => field.name.value));
    for (const field of theirs.filter((one) => needsValue(one) && !names.has(one.name))) {
      found.push(`the remote's input ${remoteName} needs ${field.name}, which ${input.name} lacks`);
    }
    for (const field of input.fields) {
      const their = theirs.find((one) => one.name === field.name.value);
      if (!their) found.push(`the remote's input ${remoteName} has no field ${field.name.value}`);
      else if (!inputFits(field.type, their.type)) {
        found.push(`${input.name}.${field.name.value} does not fit ${remoteName}.${field.name.value} of the remote`);
      } else into(baseName(field.type), remoteTypeName(their.type));
    }
  };
  const into = (ours: string, theirs: string): void => {
    const type = model.types.get(ours);
    if (type?.kind === 'input') visit(type, theirs);
    else if (enums && type?.kind === 'enum') found.push(...enumMismatches(type, remote.type(theirs)));
  };
  into(local, name);
  return [...new Set(found)];
}

/** Values of our enum that the remote's does not take. */
function enumMismatches(ours: EnumType, theirs: RemoteType | undefined): string[] {
  const known = new Set(theirs?.enumValues?.map((value) => value.name));
  return ours.values
    .filter(({ name }) => theirs?.kind === 'ENUM' && !known.has(name))
    .map(({ name }) => `the remote's enum ${theirs?.name} has no value ${name}`);
}
