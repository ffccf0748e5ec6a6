import type { Custom, Model } from '../../sdl/index.js';

/** Headers of a request that answers may hang on: the one of the token, and those that custom logic passes on. */
export function callerHeaders({ authorization, objects, queries }: Model): readonly string[] {
  const calls: (Custom | undefined)[] = [...queries, ...objects.flatMap(({ fields }) => fields)].map(
    ({ custom }) => custom,
  );
  const forwarded = calls.flatMap((custom) => (custom?.kind === 'http' ? custom.http.forwardHeaders : []));
  const names = [...(authorization ? [authorization.header] : []), ...forwarded.map(({ local }) => local)];
  return [...new Map(names.map((name) => [name.toLowerCase(), name])).values()];
}
