import type { Claims } from '../scope.js';

/**
 * The claim that a variable of a rule names. Issuers write names that GraphQL does not take (`x-hasura-role`, `cognito:groups`,
 * addresses): `_` stands for each character that a name cannot hold, and before a digit that it begins with. A claim of the
 * very name comes first; where several others look alike, none is meant.
 */
export function claimNamed(claims: Claims, variable: string): unknown {
  if (Object.hasOwn(claims, variable)) return claims[variable];
  const [name, ...others] = Object.keys(claims).filter((each) => sayable(each) === variable);
  return name === undefined || others.length > 0 ? undefined : claims[name];
}

const sayable = (claim: string): string => claim.replace(/\W/g, '_').replace(/^(?=\d)/, '_');
