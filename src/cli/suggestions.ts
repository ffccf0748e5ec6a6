import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { buildSchema, type GraphQLSchema, parse, validate } from 'graphql';
import { isLoopback, type Service } from '../server/index.js';

/** Of which app, served where. */
interface Asked {
  readonly appDir?: string;
  readonly host: string;
}

/** Calls to copy: what fits the schema of the app's own queries/, with first comments, else one made from what is served. */
export function suggestions({ url, core }: Service, { appDir, host }: Asked): readonly string[] {
  const served = core.api.current();
  if (served === undefined) return [];
  const key = isLoopback(host) ? '' : ` -H "authorization: Bearer $GRAPHSTEAD_API_KEY"`;
  const call = (body: string) => `curl -s ${url}/graphql${key} -H 'content-type: application/graphql' ${body}`;
  const folder = appDir && join(appDir, 'queries');
  if (!folder || !existsSync(folder)) return [call("-d '{ __schema { queryType { fields { name } } } }'")];
  const schema = buildSchema(served.generated, { assumeValid: true });
  const names = readdirSync(folder).filter((name) => name.endsWith('.graphql'));
  return names.sort().flatMap((name) => {
    const path = join(folder, name);
    const text = readFileSync(path, 'utf8');
    if (!fits(schema, text)) return [];
    const comment = /^#\s*(.*)/.exec(text)?.[1];
    const asked = call(`--data-binary @${relative('', path)}`);
    return comment ? [`# ${comment}`, asked] : [asked];
  });
}

function fits(schema: GraphQLSchema, text: string): boolean {
  try {
    return validate(schema, parse(text)).length === 0;
  } catch {
    return false;
  }
}
