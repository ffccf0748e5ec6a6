import {
  forEachInSteps,
  GraphsteadError,
  type Limits,
  type Names,
  type Position,
  type Steps,
  TYPE_PREDICATE,
} from '../../base/index.js';
import type { ConflictKey } from '../../commit/index.js';
import { EVERYTHING, predicateKey } from '../conflict.js';
import type { AlterRequest, NamedDocument, NodeType } from '../contract.js';
import { isInternalName } from '../internal-name.js';
import { checkSchemaSize, type PredicateRecord, type SchemaVersion } from '../schema.js';
import { isReserved, NAME_BYTES, namedUid, reserved, UID_NAME } from '../stage.js';
import { checkUniqueIndex } from '../text/check.js';
import { parseSchemaInSteps } from '../text/parse.js';
import type { AlterPart, Declaration } from './part.js';

/** UTF-8 bytes of a type's name, which stands in a key. */
const TYPE_NAME_BYTES = 400;

const NOTHING: AlterPart = {
  kind: 'alter',
  declare: [],
  types: [],
  dropTypes: [],
  dropPredicates: [],
  drop: 'none',
};

/** What an alter asks for, checked against the schema of now, with the conflict keys that it takes. */
export interface AlterPlan {
  /** absent when everything is already so */
  readonly part?: AlterPart;
  readonly conflicts: readonly ConflictKey[];
  /** stored names of the predicates that it declares, changed or not */
  readonly declared: readonly string[];
}

/** Throws SYNTAX, INVALID_SCHEMA, INVALID_REQUEST and LIMIT_EXCEEDED. */
export function* planAlter(
  request: AlterRequest,
  schema: SchemaVersion,
  names: Names,
  limits: Limits,
): Steps<AlterPlan> {
  switch (request.kind) {
    case 'schema':
      return withDocument(yield* planSchema(request.text, schema, names, limits), request.document);
    case 'dropAll':
      return exclusive({ ...NOTHING, drop: 'all' }, [EVERYTHING]);
    case 'dropData':
      return exclusive({ ...NOTHING, drop: 'data' }, [EVERYTHING]);
    case 'dropType':
      return exclusive({ ...NOTHING, dropTypes: [names.stored(request.name)] }, []);
    case 'dropAttr': {
      const name = names.stored(request.name);
      if (name === TYPE_PREDICATE || isReserved(name, names)) throw reserved('alter predicate', name, names);
      return exclusive({ ...NOTHING, dropPredicates: [name] }, [predicateKey(name)]);
    }
  }
}

function withDocument(plan: AlterPlan, document: NamedDocument | undefined): AlterPlan {
  return document ? { ...plan, part: { ...(plan.part ?? NOTHING), document } } : plan;
}

function exclusive(part: AlterPart, keys: readonly string[]): AlterPlan {
  return { part, conflicts: keys.map((key) => ({ key, exclusive: true })), declared: [] };
}

function* planSchema(text: string, schema: SchemaVersion, names: Names, limits: Limits): Steps<AlterPlan> {
  const parsed = yield* parseSchemaInSteps(text, limits);
  const declarations = new Map<string, Declaration>();
  yield* forEachInSteps(parsed.declarations, ({ position, ...written }) => {
    const declaration = checkedDeclaration({ ...written, name: names.stored(written.name) }, schema, names, position);
    if (!declaration) return;
    if (declarations.has(declaration.name)) throw twice(`predicate ${names.shown(declaration.name)}`, position);
    declarations.set(declaration.name, declaration);
  });
  const named = new Set<string>();
  const types: NodeType[] = [];
  for (const { position, ...type } of parsed.types) {
    if (named.has(type.name)) throw twice(`type ${type.name}`, position);
    named.add(type.name);
    yield;
    if (isInternalName(names.stored(type.name))) continue;
    types.push(checkedType(type, declarations, schema, names, position));
  }
  const declare: Declaration[] = [];
  yield* forEachInSteps([...declarations.values()], (declaration) => {
    if (!isSame(declaration, schema.predicate(declaration.name))) declare.push(declaration);
  });
  const changedTypes = types.filter((type) => JSON.stringify(type) !== JSON.stringify(schema.type(type.name)));
  const declared = [...declarations.keys()];
  if (declare.length === 0 && changedTypes.length === 0) return { conflicts: [], declared };
  const predicates = declare.filter(({ name }) => schema.predicate(name) === undefined).length;
  checkSchemaSize('predicates', schema.predicates.length + predicates, limits);
  const added = changedTypes.filter(({ name }) => schema.type(name) === undefined).length;
  checkSchemaSize('types', schema.types.length + added, limits);
  const keys = declare.map((declaration) => predicateKey(declaration.name));
  return { ...exclusive({ ...NOTHING, declare, types: changedTypes }, keys), declared };
}

/** Of two declarations one would be lost without a word. */
function twice(what: string, position: Position): GraphsteadError {
  return new GraphsteadError('INVALID_SCHEMA', `the ${what} is declared twice`, {
    position,
    fix: 'Join both into one declaration.',
  });
}

function checkedDeclaration(
  declaration: Declaration,
  schema: SchemaVersion,
  names: Names,
  position: Position,
): Declaration | undefined {
  const { name } = declaration;
  const before = schema.predicate(name);
  if (Buffer.byteLength(name) > NAME_BYTES) {
    throw new GraphsteadError('INVALID_SCHEMA', 'Predicate name length cannot be bigger than 2^16', {
      position,
      fix: 'Use a shorter name.',
    });
  }
  if (name === UID_NAME) throw namedUid('INVALID_SCHEMA', position);
  if (name === TYPE_PREDICATE || isReserved(name, names)) {
    // exports hold the lines of the service's own predicates: they say nothing new
    if (isInternalName(name) || (name === TYPE_PREDICATE && isSame(declaration, before))) return undefined;
    throw reserved('alter predicate', name, names);
  }
  if (!declaration.unique) return declaration;
  checkUniqueChange(declaration, before, names, position);
  checkUniqueIndex(declaration, position);
  return { ...declaration, upsert: true };
}

/** While @unique stands, what it rests on cannot be taken away. */
function checkUniqueChange(
  declaration: Declaration,
  before: PredicateRecord | undefined,
  names: Names,
  position: Position,
): void {
  if (!before?.unique) return;
  const { name } = declaration;
  const refuse = (what: string): never => {
    const message = `could not drop ${what} from [${name}] predicate when @unique directive specified`;
    throw new GraphsteadError('INVALID_SCHEMA', message, { position, fix: `Keep it, or leave @unique out.` });
  };
  // the peer has an unwritten @upsert stand in the schema, and takes a text without it as its removal
  if (names.dgraph && !declaration.upsert) refuse('@upsert');
  const gone = before.indexes.filter((index) => !declaration.indexes.some((kept) => kept.kind === index.kind));
  if (gone.length > 0 && declaration.indexes.length === 0)
    refuse(`index [${gone.map((index) => index.kind).join(', ')}]`);
}

function checkedType(
  type: NodeType,
  declarations: ReadonlyMap<string, Declaration>,
  schema: SchemaVersion,
  names: Names,
  position: Position,
): NodeType {
  const name = names.stored(type.name);
  if (isReserved(name, names)) throw reserved('alter type', name, names);
  if (Buffer.byteLength(name) > TYPE_NAME_BYTES) {
    throw new GraphsteadError('INVALID_SCHEMA', `a type's name has at most ${TYPE_NAME_BYTES} bytes`, {
      position,
      fix: 'Use a shorter name.',
    });
  }
  const fields = type.fields.map((field) =>
    field.startsWith('~') ? `~${names.stored(field.slice(1))}` : names.stored(field),
  );
  for (const field of fields) {
    const predicate = field.startsWith('~') ? field.slice(1) : field;
    const known = declarations.get(predicate) ?? schema.predicate(predicate);
    if (known && (known.type === 'uid' || !field.startsWith('~'))) continue;
    throw new GraphsteadError(
      'INVALID_SCHEMA',
      `Schema does not contain a matching predicate for field ${field} in type ${type.name}`,
      { position, fix: `Declare ${predicate} in the same text, or leave the field out.` },
    );
  }
  return { name, fields };
}

function isSame(declaration: Declaration, before: PredicateRecord | undefined): boolean {
  if (!before) return false;
  const { type, list, reverse, count, lang, upsert, unique, noconflict } = before;
  const indexes = before.indexes.map(({ kind, options }) => ({ kind, options }));
  const was: Declaration = { name: before.name, type, list, indexes, reverse, count, lang, upsert, unique, noconflict };
  const fields = Object.keys(was) as (keyof Declaration)[];
  return fields.every((field) => JSON.stringify(was[field]) === JSON.stringify(declaration[field]));
}
