import {
  type FieldNode,
  getNamedType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  isAbstractType,
  isObjectType,
} from 'graphql';
import type { CollectScope } from '../execute/collect.js';
import { askedFields } from '../execute/complete.js';

/** Below the field that a call answers. */
export type Path = readonly (string | number)[];

/** An object or a list of the reply, and what the client asks of it. */
interface Place {
  readonly types: readonly GraphQLObjectType[];
  readonly nodes: readonly FieldNode[];
  readonly value: unknown;
}

interface Told {
  readonly path: Path;
  /** the client asks for all of it */
  readonly whole: boolean;
}

/** A path of more parts leads to nothing that a client can ask for. */
const MOST_PARTS = 200;

/** Aliases beyond these are not told of an error that they share with others. */
const MOST_ALIASES = 64;

/**
 * The paths of a GraphQL remote's error below the field that it answers, as the client wrote its request: its aliases in
 * place of the remote's names, and each of them where several ask for the same or lost something by it. What else the
 * client did not ask for stays as the remote calls it.
 * @param value what the remote answered, which tells of what type an object is
 */
export function clientPaths(
  scope: CollectScope,
  type: GraphQLOutputType,
  nodes: readonly FieldNode[],
  value: unknown,
  path: Path,
): readonly Path[] {
  if (path.length > MOST_PARTS) return [path];
  const told = below(scope, { types: objectsOf(scope, type, value), nodes, value }, path, { left: MOST_ALIASES });
  const whole = told.filter((one) => one.whole);
  return (whole.length > 0 ? whole : told.slice(0, 1)).map((one) => one.path);
}

function below(scope: CollectScope, at: Place, path: Path, aliases: { left: number }): Told[] {
  if (path.length === 0) return [{ path, whole: true }];
  const [part, ...rest] = path;
  const value = member(at.value, part);
  if (typeof part === 'number') {
    const types = at.types.length > 1 ? ofValue(at.types, value) : at.types;
    return behind(part, below(scope, { ...at, types, value }, rest, aliases));
  }
  const found = new Map<string, Told[]>();
  const asked = at.types.flatMap((object) => askedFields(scope, object, at.nodes));
  for (const { key, nodes, definition, alias, replyKey } of asked) {
    if ((alias ?? replyKey) !== part || found.has(key)) continue;
    if (found.size > 0 && --aliases.left < 0) break;
    const types = definition ? objectsOf(scope, definition.type, value) : [];
    found.set(key, behind(key, below(scope, { types, nodes, value }, rest, aliases)));
  }
  if (found.size > 0) return [...found.values()].flat();
  // an alias that did not ask for it lost all that it asked for by it
  return at.value === null || at.value === undefined ? [{ path: [], whole: true }] : [{ path, whole: false }];
}

const behind = (part: string | number, told: readonly Told[]): Told[] =>
  told.map(({ path, whole }) => ({ path: [part, ...path], whole }));

/** The types that an object of the reply can be of. */
function objectsOf({ schema }: CollectScope, type: GraphQLOutputType, value: unknown): readonly GraphQLObjectType[] {
  const named = getNamedType(type);
  if (isObjectType(named)) return [named];
  return isAbstractType(named) ? ofValue(schema.getPossibleTypes(named), value) : [];
}

function ofValue(types: readonly GraphQLObjectType[], value: unknown): readonly GraphQLObjectType[] {
  const own = types.filter(({ name }) => name === member(value, '__typename'));
  return own.length > 0 ? own : types;
}

function member(value: unknown, key: string | number): unknown {
  const holds = typeof value === 'object' && value !== null && Object.hasOwn(value, key);
  return holds ? (value as Record<string | number, unknown>)[key] : undefined;
}
