import type { GraphQLScalarType } from 'graphql';
import type { Agents, AgentType, HostLog, Hosts } from '../agents/index.js';
import type { Operation } from '../api/index.js';
import type { GraphsteadError, Limits, Position } from '../base/index.js';

/** A type of an argument or a result, as plain data. `name` refers to a definition or to a scalar. */
export interface TypeUse {
  readonly kind: 'named' | 'list';
  /** for named */
  readonly name?: string;
  /** for list */
  readonly of?: TypeUse;
  readonly nullable: boolean;
  /** null itself belongs to the type; otherwise app code gets undefined for it */
  readonly null?: boolean;
  /** null belongs to the type and undefined does not: app code gets null for what is not given */
  readonly present?: boolean;
  /** 64-bit integers arrive as bigint */
  readonly bigint?: boolean;
  /** the numbers of a union of them, or the one text or Boolean of a literal type: it has no other values */
  readonly oneOf?: readonly (number | string | boolean)[];
}

export type ScalarName = 'String' | 'Float' | 'Int' | 'Int64' | 'ID' | 'Boolean' | 'DateTime' | 'JSON';

export interface FieldDescription {
  readonly name: string;
  readonly type: TypeUse;
  readonly description?: string;
  /** JSON value of a literal default */
  readonly defaultValue?: unknown;
}

/** `position` is where a signature first uses the type. */
export type TypeDefinition = { readonly position?: Position } & (
  | {
      readonly kind: 'object' | 'input';
      readonly name: string;
      readonly description?: string;
      readonly fields: readonly FieldDescription[];
    }
  | {
      readonly kind: 'enum';
      readonly name: string;
      readonly description?: string;
      readonly values: readonly EnumValue[];
    }
  | {
      readonly kind: 'union';
      readonly name: string;
      readonly description?: string;
      /** property that tells the members apart */
      readonly discriminant: string;
      readonly members: readonly { readonly type: string; readonly values: readonly string[] }[];
    }
);

interface EnumValue {
  /** GraphQL name */
  readonly name: string;
  /** the string in app code */
  readonly value: string;
}

export interface OperationDescription {
  /** GraphQL name: the function's with a lower-case first letter */
  readonly name: string;
  /** the export's name; of a handler `Class.method` */
  readonly export: string;
  /** for a handler of an agent: the type that it belongs to, and the message that it answers */
  readonly handler?: { readonly type: string; readonly message: string };
  readonly kind: 'query' | 'mutation' | 'subscription';
  readonly description?: string;
  readonly args: readonly FieldDescription[];
  readonly result: TypeUse;
  /** the function gives nothing: the operation answers true */
  readonly void?: boolean;
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** Everything read from an app's TypeScript, as JSON: written by `build`, cached by content hash in `dev`. */
export interface AppManifest {
  readonly format: 1;
  readonly operations: readonly OperationDescription[];
  readonly types: readonly TypeDefinition[];
}

/** Names that stored types take in the API. */
export interface Taken {
  readonly operations: ReadonlySet<string>;
  readonly types: ReadonlySet<string>;
}

/** Scalars the composed schema shares; a scalar absent here is made by this room. */
export type SharedScalars = Partial<Record<'Int64' | 'DateTime' | 'JSON', GraphQLScalarType>>;

export interface LoadAppOptions {
  /** an app's source folder, or what `buildApp` wrote */
  readonly appDir: string;
  /** reload on change */
  readonly dev: boolean;
  /** console output and stacks go into `extensions`; default: dev */
  readonly stacks?: boolean;
  readonly hosts: Hosts;
  readonly agents: Agents;
  readonly limits: Limits;
  readonly scalars?: SharedScalars;
  /** names of types and operations that the stored schema takes; asked at every load */
  readonly taken?: () => Taken;
  /** plain data handed to hosts for connections and models; asked at every load; may throw GraphsteadErrors */
  readonly connections?: () => unknown;
  /** default: <appDir>/.graphstead */
  readonly cacheDir?: string;
  readonly log?: (entry: HostLog) => void;
}

/** What a check of an app's TypeScript found. */
export interface CheckedTypes {
  /** code TYPE, in the order of files and lines */
  readonly mistakes: readonly GraphsteadError[];
  /** why nothing could be checked */
  readonly unchecked?: string;
}

export interface App {
  /** newest loaded operations of functions; `agentEvent` is not among them (see agents: eventOperation) */
  readonly operations: readonly Operation[];
  readonly agentTypes: readonly AgentType[];
  /** Reads, checks, bundles and swaps; throws GraphsteadErrors and keeps what ran before. */
  reload(): Promise<void>;
  /**
   * Checks the sources as `tsc --noEmit` does, beside everything else; nothing that runs is changed by it. undefined where a
   * later check or `close` ended this one.
   */
  checkTypes(): Promise<CheckedTypes | undefined>;
  /**
   * Called after each successful reload (also those that dev starts itself) with the time at which it was asked for, on
   * the clock of `performance.now()`. Returns the way to stop.
   */
  onReload(listener: (since: number) => void): () => void;
  close(): Promise<void>;
}
