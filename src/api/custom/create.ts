import { GraphsteadError, internal, type Limits, withTexts } from '../../base/index.js';
import type { HttpClient } from '../../outbound/index.js';
import type { HttpCall, Model } from '../../sdl/index.js';
import type { CustomFieldCall, CustomLogic, CustomResult, CustomRootCall } from '../execute/custom-logic.js';
import type { CallSite } from './call.js';
import { failed, hidingSecrets } from './failure.js';
import { callField } from './field-call.js';
import { callRoot } from './root-call.js';

interface CustomLogicOptions {
  readonly client: HttpClient;
  readonly limits: Pick<Limits, 'outboundConcurrency'>;
  /** types are compared with those of their remotes at upload */
  readonly comparesTypes?: boolean;
  /** Runs the text of `@custom(dql: ...)` with the field's arguments as variables; the answer's blocks by name. */
  readonly runDql?: (text: string, call: CustomRootCall) => Promise<Readonly<Record<string, unknown>>>;
}

/** Runs @custom fields against their remotes, and custom queries in the graph language. */
export function createCustomLogic(options: CustomLogicOptions): CustomLogic {
  const { client, limits, comparesTypes = false } = options;
  const siteOf = (
    { model, context, shared }: CustomRootCall | CustomFieldCall,
    http: HttpCall,
    shares: boolean,
  ): CallSite => ({
    client,
    http,
    secrets: model.secrets,
    context,
    comparesTypes,
    ...(shares ? { shared } : {}),
  });
  return {
    async root(call) {
      const { custom } = call.field;
      if (custom.kind === 'dql') return await runDql(call, custom.dql, options);
      if (custom.kind === 'lambda')
        return failed(`custom ${call.field.root.toLowerCase()} ${call.field.name}`, noLambda());
      const site = siteOf(call, custom.http, call.field.root === 'Query');
      return withoutSecrets([await callRoot(call, site)], call.model)[0];
    },
    async fields(call) {
      const { custom } = call.field;
      if (custom?.kind !== 'http') return call.parents.map(() => ({ value: null, errors: [] }));
      const site = siteOf(call, custom.http, true);
      return withoutSecrets(await callField(call, site, limits.outboundConcurrency), call.model);
    },
  };
}

function withoutSecrets(results: readonly CustomResult[], model: Model): readonly CustomResult[] {
  if (model.secrets.size === 0 || results.every(({ errors }) => errors.length === 0)) return results;
  const hide = hidingSecrets(model);
  return results.map((result) => ({ ...result, errors: withTexts(result.errors, hide) }));
}

function noLambda(): GraphsteadError {
  return new GraphsteadError('NOT_EXECUTED', '@lambda has no server to run on', {
    fix: 'Use a function of the app, or @custom with an address.',
  });
}

/** The block that has the field's name is its value: the whole of it for a list, its only item otherwise. */
async function runDql(call: CustomRootCall, text: string, options: CustomLogicOptions): Promise<CustomResult> {
  try {
    if (!options.runDql) throw internal('queries in the graph language are not available here');
    const value = (await options.runDql(text, call))[call.field.name];
    const single = !call.field.type.list && Array.isArray(value);
    return { value: single ? (value as unknown[])[0] : value, errors: [] };
  } catch (error) {
    return failed(`custom query ${call.field.name}`, error);
  }
}
