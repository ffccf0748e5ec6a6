import { Kind, type ValueNode } from 'graphql';
import type { RemoteSchema, RemoteTypeRef } from '../../outbound/index.js';
import { needsValue } from './remote-type.js';

const STANDARD: Readonly<Record<string, readonly Kind[]>> = {
  Int: [Kind.INT],
  Float: [Kind.INT, Kind.FLOAT],
  String: [Kind.STRING],
  ID: [Kind.STRING, Kind.INT],
  Boolean: [Kind.BOOLEAN],
};

/** A value written in an operation's text may stand where the remote takes a type. Variables inside are let be. */
export function literalFits(remote: RemoteSchema, value: ValueNode, type: RemoteTypeRef): boolean {
  if (value.kind === Kind.VARIABLE) return true;
  if (type.kind === 'NON_NULL') return value.kind !== Kind.NULL && below(remote, value, type);
  if (value.kind === Kind.NULL) return true;
  if (type.kind === 'LIST') {
    const items = value.kind === Kind.LIST ? value.values : [value];
    return items.every((item) => below(remote, item, type));
  }
  const named = remote.type(type.name ?? '');
  if (named?.kind === 'ENUM') {
    return value.kind === Kind.ENUM && (named.enumValues ?? []).some((one) => one.name === value.value);
  }
  if (named?.kind !== 'INPUT_OBJECT') return STANDARD[type.name ?? '']?.includes(value.kind) ?? true;
  if (value.kind !== Kind.OBJECT) return false;
  const fields = named.inputFields ?? [];
  const given = new Map(value.fields.map((field) => [field.name.value, field.value]));
  return (
    fields.every((field) => given.has(field.name) || !needsValue(field)) &&
    [...given].every(([name, item]) => {
      const field = fields.find((one) => one.name === name);
      return field !== undefined && literalFits(remote, item, field.type);
    })
  );
}

const below = (remote: RemoteSchema, value: ValueNode, type: RemoteTypeRef): boolean =>
  type.ofType === null || literalFits(remote, value, type.ofType);
