import { GraphQLError } from 'graphql';
import { InvalidDocument } from '../execute/document.js';

const USERS =
  'There are no users to manage: keys of the service say who may ask (GRAPHSTEAD_API_KEYS), and @auth what of it.';
const ONE_GROUP = 'All data is in one group of one process: there is nothing to move, to join or to leave.';
const BACKUPS = 'A backup is a folder of its own: graphstead restore makes a data directory of it.';

/** What the peer's /admin has beside this one, with what is there for it. */
const ELSEWHERE: readonly (readonly [fields: RegExp, fix: string])[] = [
  [/^backup$/, 'Send POST /admin/backup?to=<a new folder there>, or run graphstead backup.'],
  [/^(restore|restoreTenant|listBackups)$/, BACKUPS],
  [/^login$/, 'Nobody logs in: send a key of GRAPHSTEAD_API_KEYS as Authorization: Bearer <key>.'],
  [/^(add|update|delete|get|query)(Current)?(User|Group|Namespace)$|^resetPassword$/, USERS],
  [/^(moveTablet|removeNode|enterpriseLicense)$/, ONE_GROUP],
  [/^assign$/, 'Send POST /assign?what=uids&num=<how many>.'],
  [/^config$/, 'Limits are set before the start: GRAPHSTEAD_LIMIT_<NAME>.'],
  [
    /^(getAllowedCORSOrigins|replaceAllowedCORSOrigins)$/,
    'Type definitions name them: # Service.Allow-Origin "https://app.example.com".',
  ],
];

const UNKNOWN = /^Cannot query field "(\w+)" on type "(?:Query|Mutation)"/;

/** The mistakes of a document, with a fix for what stands elsewhere than in the peer. */
export function withElsewhere(thrown: unknown): unknown {
  if (!(thrown instanceof InvalidDocument)) return thrown;
  const errors = thrown.errors.map((error) => {
    const name = UNKNOWN.exec(error.message)?.[1];
    const fix = name && ELSEWHERE.find(([fields]) => fields.test(name))?.[1];
    if (!fix) return error;
    return new GraphQLError(error.message, { nodes: error.nodes, extensions: { ...error.extensions, fix } });
  });
  return new InvalidDocument(errors);
}
