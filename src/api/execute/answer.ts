import { type FieldNode, getLocation, type GraphQLError } from 'graphql';
import { asError, type GraphsteadError, toWire, type WireError } from '../../base/index.js';
import { fixOfMessage } from '../schema/message-fix.js';

type Path = readonly (string | number)[];

/** More errors than this say nothing new; the nulls that they explain stay. */
const MOST_ERRORS = 1_000;

/** Places of an answer lie no deeper, whatever paths a remote tells. */
const MOST_PARTS = 200;

/** Errors of one answer, in the order in which they arose. */
export class Errors {
  readonly list: WireError[] = [];
  /** places at or below which a remote told an error */
  readonly #explained = new Set<string>();

  /** An error at a field: its place in the client's text and its path in the answer. */
  at(nodes: readonly FieldNode[], path: Path, error: GraphsteadError): void {
    this.add({ ...toWire(error, [...path]), ...locations(nodes) });
  }

  /** An error as it came from elsewhere. */
  add(error: WireError): void {
    if (this.list.length < MOST_ERRORS) this.list.push(error);
  }

  /** A remote told an error at this place, which is why there is nothing there, or in what that lies in. */
  explain(path: Path): void {
    const most = Math.min(path.length, MOST_PARTS);
    for (let length = 1; length <= most; length++) this.#explained.add(placeKey(path.slice(0, length)));
  }

  isExplained(path: Path): boolean {
    return this.#explained.size > 0 && this.#explained.has(placeKey(path));
  }

  /** Anything that was thrown while a root field was executed. */
  thrown(nodes: readonly FieldNode[], path: Path, thrown: unknown): void {
    if (isGraphqlError(thrown)) this.add({ ...graphqlWire(thrown), path: [...path] });
    else this.at(nodes, path, asError(thrown));
  }
}

const placeKey = (path: Path): string => path.join('\n');

export function isGraphqlError(thrown: unknown): thrown is GraphQLError {
  return thrown instanceof Error && thrown.name === 'GraphQLError';
}

function locations(nodes: readonly FieldNode[]): Pick<WireError, 'locations'> {
  const places = nodes.flatMap((node) => (node.loc ? [getLocation(node.loc.source, node.loc.start)] : []));
  return places.length > 0 ? { locations: places.slice(0, 1).map(({ line, column }) => ({ line, column })) } : {};
}

/** A mistake that graphql-js found, in our form. */
export function graphqlWire(error: GraphQLError): WireError {
  return {
    message: error.message,
    ...(error.locations ? { locations: error.locations.map(({ line, column }) => ({ line, column })) } : {}),
    ...(error.path ? { path: [...error.path] } : {}),
    extensions: { code: 'INVALID_GRAPHQL', fix: fixOfMessage(error.message), ...error.extensions },
  };
}
