import { Kind, print, type TypeNode } from 'graphql';
import { asError, GraphsteadError, groupBy, type Names } from '../../base/index.js';
import {
  type HttpClient,
  introspect,
  outgoingHeaders,
  type RemoteField,
  type RemoteInput,
  type RemoteSchema,
  type RemoteTypeRef,
  remoteTypeName,
  remoteTypeText,
} from '../../outbound/index.js';
import {
  baseName,
  type BodyNode,
  type Field,
  type HttpCall,
  type Model,
  type ObjectType,
  type RemoteOperation,
  type RootField,
} from '../../sdl/index.js';
import { hidingSecrets } from './failure.js';
import { literalFits } from './remote-literal.js';
import { objectMismatches } from './remote-result.js';
import { inputFits, inputMismatches, needsValue, resultFits, variableFits } from './remote-type.js';

/** One @custom field with a `graphql` text. */
interface Site {
  readonly field: Field | RootField;
  /** the type of a type's field; undefined for Query and Mutation */
  readonly type?: ObjectType;
  readonly http: HttpCall;
  readonly graphql: RemoteOperation;
}

const MOST_AT_ONCE = 8;

/**
 * Asks every GraphQL remote that the definitions name (unless skipIntrospection is set) what it offers, and compares
 * operation, arguments, input types and result types. Answers every mismatch; empty when there is none. A remote that
 * cannot be asked is one mismatch for each of its fields.
 */
export async function checkRemotes(model: Model, client: HttpClient, names: Names): Promise<GraphsteadError[]> {
  const groups = groupBy(sitesOf(model), ({ http }) => JSON.stringify([http.url.text, http.introspectionHeaders]));
  const waiting = [...groups.values()];
  const found = new Map<Site, readonly GraphsteadError[]>();
  const work = async (): Promise<void> => {
    for (let sites = waiting.shift(); sites; sites = waiting.shift()) {
      await checkGroup(sites, model, client, names, found);
    }
  };
  await Promise.all(Array.from({ length: MOST_AT_ONCE }, work));
  return sitesOf(model).flatMap((site) => [...found].find(([known]) => known.field === site.field)?.[1] ?? []);
}

async function checkGroup(
  sites: readonly Site[],
  model: Model,
  client: HttpClient,
  names: Names,
  found: Map<Site, readonly GraphsteadError[]>,
): Promise<void> {
  const [{ http }] = sites;
  // a secret whose variable is missing is told by itself: the remote would only refuse the call
  if (http.introspectionHeaders.some(({ local }) => model.secrets.get(local)?.reveal() === '')) return;
  const headers = outgoingHeaders({ secret: http.introspectionHeaders, secrets: model.secrets });
  try {
    const remote = await introspect(client, http.url.text, headers);
    for (const site of sites) found.set(site, new Comparison(site, model, remote, names).run());
  } catch (thrown) {
    const error = asError(thrown);
    for (const site of sites) {
      found.set(site, [problem(site, `introspection failed: ${hidingSecrets(model)(error.message)}`, error.fix)]);
    }
  }
}

function sitesOf(model: Model): Site[] {
  const roots = [...model.queries, ...model.mutations].flatMap((field) => siteOf(field));
  const fields = model.objects.flatMap((type) =>
    type.fields.filter((field) => field.owner === type.name).flatMap((field) => siteOf(field, type)),
  );
  return [...roots, ...fields];
}

function siteOf(field: Field | RootField, type?: ObjectType): Site[] {
  const http = field.custom?.kind === 'http' ? field.custom.http : undefined;
  return http?.graphql && !http.skipIntrospection ? [{ field, type, http, graphql: http.graphql }] : [];
}

function problem(site: Site, message: string, fix: string): GraphsteadError {
  const where = site.type
    ? `${site.type.name}.${site.field.name}`
    : `${(site.field as RootField).root}.${site.field.name}`;
  return new GraphsteadError('INVALID_SDL', `@custom on ${where}: ${message}`, {
    position: site.graphql.position,
    fix,
  });
}

/** One field compared with what its remote offers. */
class Comparison {
  readonly #problems: GraphsteadError[] = [];

  constructor(
    readonly site: Site,
    readonly model: Model,
    readonly remote: RemoteSchema,
    readonly names: Names,
  ) {}

  #wrong(message: string, fix: string): void {
    this.#problems.push(problem(this.site, message, fix));
  }

  run(): readonly GraphsteadError[] {
    const { kind, field } = this.site.graphql;
    const root = kind === 'query' ? this.remote.queryType : this.remote.mutationType;
    const plural = kind === 'query' ? 'queries' : 'mutations';
    const fields = root === undefined ? undefined : this.remote.type(root)?.fields;
    const offered = fields?.find((one) => one.name === field);
    if (!fields) this.#wrong(`the remote has no ${plural}`, 'Check the url.');
    else if (!offered) this.#wrong(`the remote has no ${kind} ${field}`, `It has ${listed(fields)}.`);
    else {
      this.#arguments(offered);
      this.#result(offered);
    }
    return this.#problems;
  }

  #arguments(offered: RemoteField): void {
    const { graphql, http } = this.site;
    const given = new Set(graphql.arguments.map((argument) => argument.name));
    for (const argument of offered.args.filter((one) => needsValue(one) && !given.has(one.name))) {
      this.#wrong(`${offered.name} of the remote needs the argument ${argument.name}`, 'Add it to the graphql text.');
    }
    for (const { name, variable } of graphql.arguments) {
      const taken = offered.args.find((one) => one.name === name);
      if (!taken)
        this.#wrong(`${offered.name} of the remote has no argument ${name}`, `It takes ${listed(offered.args)}.`);
      else if (variable === undefined) this.#literal(taken);
      else if (http.mode === 'BATCH') this.#batch(variable, taken);
      else this.#variable(variable, taken);
    }
  }

  #literal(taken: RemoteInput): void {
    if (this.names.dgraph) return;
    const [call] = this.site.graphql.operation.selectionSet.selections;
    const given = call.kind === Kind.FIELD && call.arguments?.find(({ name }) => name.value === taken.name);
    if (!given || literalFits(this.remote, given.value, taken.type)) return;
    const theirs = remoteTypeText(taken.type);
    this.#wrong(`${print(given.value)} is no ${theirs}, which the remote's argument ${taken.name} is`, 'Correct it.');
  }

  #variable(name: string, taken: RemoteInput): void {
    const declared = this.#declared(name, taken);
    const local = declared && this.#localType(name);
    if (!local) return;
    const enums = !this.names.dgraph;
    for (const mismatch of inputMismatches(this.model, this.remote, baseName(local), baseName(declared), enums)) {
      this.#wrong(`$${name}: ${mismatch}`, `Make the input ${baseName(local)} like the remote's.`);
    }
  }

  /** The type of a variable, when it may stand for the argument; else that is told. */
  #declared(name: string, taken: RemoteInput): TypeNode | undefined {
    const definition = this.site.graphql.operation.variableDefinitions?.find((one) => one.variable.name.value === name);
    if (!definition) return undefined;
    const hasDefault = definition.defaultValue !== undefined || taken.defaultValue !== null;
    if (variableFits(definition.type, taken.type, hasDefault)) return definition.type;
    const theirs = remoteTypeText(taken.type);
    this.#wrong(
      `$${name} is ${print(definition.type)}, but the remote's argument ${taken.name} is ${theirs}`,
      `Declare it as $${name}: ${theirs}.`,
    );
    return undefined;
  }

  /** The type of the argument or sibling field that a variable stands for. */
  #localType(name: string): TypeNode | undefined {
    const { field, type } = this.site;
    if (type) return type.field(name)?.type.node;
    return field.arguments.find((argument) => argument.name.value === name)?.type;
  }

  /** The list that BATCH sends: the remote takes a list of input objects that the body template fills. */
  #batch(name: string, taken: RemoteInput): void {
    if (!this.#declared(name, taken)) return;
    const item = this.remote.type(remoteTypeName(taken.type));
    if (item?.kind !== 'INPUT_OBJECT' || !isList(taken.type)) {
      const theirs = remoteTypeText(taken.type);
      this.#wrong(
        `BATCH sends a list of objects, but the remote's argument ${taken.name} is ${theirs}`,
        'Use a remote operation that takes a list of an input type, or mode: SINGLE.',
      );
      return;
    }
    const root = this.site.http.body?.root;
    if (root?.kind === 'object') this.#body(root, item.name, item.inputFields ?? []);
  }

  #body(root: Extract<BodyNode, { kind: 'object' }>, name: string, taken: readonly RemoteInput[]): void {
    // the peer compares names of variables in place of keys, so under compatibility either will do
    const keysOf = ({ key, value }: (typeof root.fields)[number]): string[] =>
      this.names.dgraph && value.kind === 'variable' ? [key, value.name] : [key];
    const sent = new Set(root.fields.flatMap(keysOf));
    for (const field of taken.filter((one) => needsValue(one) && !sent.has(one.name))) {
      this.#wrong(`the remote's input ${name} needs ${field.name}, which the body lacks`, 'Add it to the body.');
    }
    for (const field of root.fields) {
      const their = taken.find((one) => keysOf(field).includes(one.name));
      if (!their) {
        this.#wrong(`the body has ${field.key}, which the remote's input ${name} lacks`, `It has ${listed(taken)}.`);
      } else if (field.value.kind === 'variable') this.#sibling(field.value.name, name, their);
    }
  }

  /** The field beside the custom one whose value the body sends: Dgraph lets it be of any type. */
  #sibling(own: string, input: string, their: RemoteInput): void {
    const local = this.#localType(own);
    if (this.names.dgraph || !local || inputFits(local, their.type)) return;
    this.#wrong(
      `$${own} is ${print(local)}, but ${their.name} of the remote's input ${input} is ${remoteTypeText(their.type)}`,
      'Send a field that fits.',
    );
  }

  #result(offered: RemoteField): void {
    const { field, http } = this.site;
    const batch = http.mode === 'BATCH';
    const item = batch ? listItem(offered.type) : offered.type;
    const expected = batch ? `[${field.type.text}]` : field.type.text;
    // the items of a batch may be null one by one: each is completed by itself
    if (!item || !resultFits(batch ? nullable(field.type.node) : field.type.node, item)) {
      this.#wrong(
        `${offered.name} of the remote gives ${remoteTypeText(offered.type)}, where ${expected} is expected`,
        "Change the field's type, or call another operation.",
      );
      return;
    }
    if (this.names.dgraph) return;
    for (const mismatch of objectMismatches(this.model, this.remote, field.type.name)) {
      this.#wrong(mismatch, "Make the type like the remote's.");
    }
  }
}

const listed = (items: readonly { readonly name: string }[]): string =>
  items.length === 0 ? 'none' : items.map((item) => item.name).join(', ');

function bare(type: RemoteTypeRef): RemoteTypeRef {
  return type.kind === 'NON_NULL' && type.ofType ? type.ofType : type;
}

const isList = (type: RemoteTypeRef): boolean => bare(type).kind === 'LIST';

function listItem(type: RemoteTypeRef): RemoteTypeRef | undefined {
  return isList(type) ? (bare(type).ofType ?? undefined) : undefined;
}

function nullable(type: TypeNode): TypeNode {
  return type.kind === 'NonNullType' ? type.type : type;
}
