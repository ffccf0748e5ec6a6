import { createPublicKey } from 'node:crypto';
import { placeholdersIn, Secret } from '../base/index.js';
import { type Declaring, fromEnvironment } from './from-environment.js';
import type { Authorization } from './model.js';

/** Algorithms a token may be signed with. */
const ALGORITHMS = /^(?:(?:HS|RS|ES|PS)(?:256|384|512)|EdDSA)$/;
const OLD_FORM = /^(\S+)\s+(\S+)\s+(\S+)\s+"(.*)"$/;

const FIX =
  'Write it as JSON: # Service.Authorization {"Header":"X-Auth","Namespace":"https://app/claims","Algo":"HS256","VerificationKey":"..."}.';

/**
 * Reads what follows the word Authorization: JSON, or the older `header namespace algorithm "key"`.
 * @param lax tokens of one key need not name an audience, as the peer has it
 */
export function readAuthorization(rest: string, declaring: Declaring, lax: boolean): Authorization | undefined {
  const problems: string[] = [];
  const written = rest.startsWith('{') ? fromJson(rest, lax, problems) : fromWords(rest, problems);
  const authorization = written && withKey(written, declaring, problems);
  for (const message of problems) declaring.report({ position: declaring.position, message, fix: FIX });
  return problems.length === 0 ? authorization : undefined;
}

/** The key may come from the environment: `{{KEY}}` is APP_AUTHORIZATION_KEY. It is sent nowhere, so that any text may read it. */
function withKey(authorization: Authorization, declaring: Declaring, problems: string[]): Authorization | undefined {
  const { algorithm, verificationKey: written } = authorization;
  if (!written) return authorization;
  const value = fromEnvironment(written.reveal(), 'authorization', 'the authorization', withAll(declaring));
  if (value === undefined) return undefined;
  if (value === written.reveal() && placeholdersIn(value).length > 0) return authorization;
  // a variable of one line holds a key of many with its line ends escaped
  const key = isPublic(algorithm) ? value.replace(/\\n/g, '\n') : value;
  checkPublicKey(algorithm, key, problems);
  return { ...authorization, verificationKey: new Secret(key) };
}

function withAll({ variables, ...declaring }: Declaring): Declaring {
  return variables ? { ...declaring, variables: { ...variables, readable: undefined } } : declaring;
}

function fromWords(rest: string, problems: string[]): Authorization | undefined {
  const match = OLD_FORM.exec(rest);
  if (!match) {
    problems.push('the authorization is neither JSON nor `header namespace algorithm "key"`');
    return undefined;
  }
  const [, header, namespace, algorithm, written] = match;
  const key = written.replace(/\\n/g, '\n');
  checkAlgorithm(algorithm, problems);
  return {
    header,
    namespace,
    algorithm,
    verificationKey: new Secret(key),
    jwkUrls: [],
    audience: [],
    demandsAudience: false,
    closedByDefault: false,
  };
}

function fromJson(rest: string, lax: boolean, problems: string[]): Authorization | undefined {
  const json = parse(rest);
  if (json === undefined) {
    problems.push('the authorization is not valid JSON');
    return undefined;
  }
  const header = string(json, 'Header', problems);
  const namespace = string(json, 'Namespace', problems);
  const key = string(json, 'VerificationKey', problems);
  const algorithm = string(json, 'Algo', problems) ?? '';
  const jwkUrl = string(json, 'JWKURL', problems);
  const jwkUrls = [...(jwkUrl ? [jwkUrl] : []), ...strings(json, 'JWKURLs', problems)];
  if (!header) problems.push('the authorization lacks Header, the name of the header with the token');
  if (!namespace) problems.push("the authorization lacks Namespace, the claim that holds the app's own claims");
  const audience = strings(json, 'Audience', problems);
  checkKeys(key, algorithm, jwkUrl, jwkUrls, problems);
  // issuers sign for many services with the keys of one set
  if (jwkUrls.length > 0 && audience.length === 0) {
    problems.push('the authorization has a key-set url but lacks Audience, whose tokens are meant for this service');
  }
  return {
    header: header ?? '',
    namespace: namespace ?? '',
    algorithm,
    ...(key ? { verificationKey: new Secret(key) } : {}),
    jwkUrls,
    audience,
    demandsAudience: !lax || jwkUrls.length > 0,
    closedByDefault: flag(json, 'ClosedByDefault', problems),
  };
}

function checkKeys(
  key: string | undefined,
  algorithm: string,
  jwkUrl: string | undefined,
  jwkUrls: readonly string[],
  problems: string[],
): void {
  if (key && jwkUrls.length > 0) problems.push('the authorization has both VerificationKey and a key-set url');
  if (!key && jwkUrls.length === 0) problems.push('the authorization has neither VerificationKey nor a key-set url');
  if (algorithm && !key && jwkUrls.length > 0) {
    problems.push('the authorization has Algo beside a key-set url, whose keys name their own');
  }
  if (jwkUrl && jwkUrls.length > 1) problems.push('the authorization has both JWKURL and JWKURLs');
  if (key && !algorithm) problems.push('the authorization has a VerificationKey but lacks Algo');
  if (algorithm) checkAlgorithm(algorithm, problems);
  for (const url of jwkUrls) if (!/^https?:\/\/\S+$/.test(url)) problems.push(`"${url}" is not a key-set url`);
}

function checkAlgorithm(algorithm: string, problems: string[]): void {
  if (!ALGORITHMS.test(algorithm)) problems.push(`"${algorithm}" is not a signing algorithm that is supported`);
}

const isPublic = (algorithm: string): boolean => ALGORITHMS.test(algorithm) && !algorithm.startsWith('HS');

/** Every algorithm but HS* verifies with a public key, which must be one that can be read. */
function checkPublicKey(algorithm: string, key: string, problems: string[]): void {
  if (!isPublic(algorithm)) return;
  try {
    createPublicKey(key);
  } catch {
    problems.push(`the VerificationKey of the authorization is not a public key in PEM form, which ${algorithm} needs`);
  }
}

type Json = Readonly<Record<string, unknown>>;

function parse(text: string): Json | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    return Object.fromEntries(Object.entries(value).map(([key, v]) => [key.toLowerCase(), v]));
  } catch {
    return undefined;
  }
}

const absent = (value: unknown): boolean => value === undefined || value === null || value === '';

function string(json: Json, key: string, problems: string[]): string | undefined {
  const value = json[key.toLowerCase()];
  if (absent(value)) return undefined;
  if (typeof value === 'string') return value;
  problems.push(`${key} of the authorization must be a string`);
  return undefined;
}

function strings(json: Json, key: string, problems: string[]): string[] {
  const value = json[key.toLowerCase()];
  if (absent(value)) return [];
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value;
  problems.push(`${key} of the authorization must be a list of strings`);
  return [];
}

function flag(json: Json, key: string, problems: string[]): boolean {
  const value = json[key.toLowerCase()];
  if (absent(value)) return false;
  if (typeof value === 'boolean') return value;
  problems.push(`${key} of the authorization must be true or false`);
  return false;
}
