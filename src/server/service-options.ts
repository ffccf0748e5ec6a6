import type { Clock, GraphsteadError, Limits } from '../base/index.js';
import type { AppHostOptions } from './app-host.js';
import type { TlsFiles } from './tls.js';

export interface ServiceOptions {
  /** data directory; undefined keeps everything in memory, unless there is a `store` */
  readonly data?: string;
  /** address of a database that holds the store in place of the data directory */
  readonly store?: string;
  /** answers from a store that another process writes; runs no code of an app */
  readonly readOnly?: boolean;
  /** address of the service that writes: where one that only reads sends what it does not answer */
  readonly writer?: string;
  /** where that one speaks gRPC */
  readonly writerGrpc?: string;
  readonly host?: string;
  /** 0 takes any free one */
  readonly port?: number;
  /** HTTP and gRPC speak TLS alone; undefined speaks neither with TLS */
  readonly tls?: TlsFiles;
  /** undefined serves no gRPC */
  readonly grpcPort?: number;
  readonly compat?: 'dgraph';
  readonly explorer?: boolean;
  /** folder with app.json; undefined serves store and API alone */
  readonly appDir?: string;
  /** reload on change; env files are read */
  readonly dev?: boolean;
  /** console output and stacks of app code reach `extensions`; default: dev */
  readonly stacks?: boolean;
  readonly limits?: Partial<Record<keyof Limits, number>>;
  readonly environment?: Readonly<Record<string, string | undefined>>;
  readonly logLevel?: string;
  /** the log as lines for people; JSON otherwise */
  readonly readable?: boolean;
  readonly version?: string;
  /** tests put a fake one in its place */
  readonly clock?: Clock;
  /** changes the resolved connections before host processes get them: tests put scripted models in */
  readonly connections?: AppHostOptions['connections'];
  /** where a call of custom logic is sent in place of its address: tests put scripts there */
  readonly outgoing?: (url: string) => string;
  /** for those who only read the schema: variables that are not set are no mistake, and connections that need them are left out */
  readonly allowUnset?: boolean;
  /** ends the process as SIGTERM does, for the admin API; without it that refuses */
  readonly shutdown?: () => void;
  /**
   * Told once, when another process has taken over the database, or one that only reads has missed commits: nothing is written
   * from then on, and what is read grows old.
   */
  readonly fenced?: (error: GraphsteadError) => void;
}
