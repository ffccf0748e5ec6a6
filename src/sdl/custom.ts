import {
  type ConstDirectiveNode,
  type ConstValueNode,
  type DocumentNode,
  type FieldNode,
  GraphQLError,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  parse,
} from 'graphql';
import { GraphsteadError, type Position } from '../base/index.js';
import { argument, flag, member, position, text, texts } from './definition.js';
import type { Custom, Header, HttpCall, HttpMethod, RemoteOperation } from './model.js';
import type { Problem } from './rule.js';
import { parseBodyTemplate, parseUrlTemplate } from './template.js';

type Report = (problem: Problem) => void;

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
const MODES = ['SINGLE', 'BATCH'];
const KEYS = [
  'url',
  'method',
  'body',
  'graphql',
  'mode',
  'forwardHeaders',
  'secretHeaders',
  'introspectionHeaders',
  'skipIntrospection',
];
const HEADER_NAME = /^[!#$%&'*+.^`|~\w-]+$/;
const EXAMPLE = '@custom(http: {url: "https://api.example.com/$id", method: GET})';

/**
 * Reads a @custom directive by itself, its texts parsed; what depends on the field and its type is left to the rules.
 * Undefined where something was reported. Positions of problems inside a text are those of the text.
 */
export function readCustom(node: ConstDirectiveNode, where: string, report: Report): Custom | undefined {
  const refuse = (message: string, fix: string): undefined => {
    report({ position: position(node), message: `@custom on ${where}: ${message}`, fix });
    return undefined;
  };
  const http = argument(node, 'http');
  const dql = argument(node, 'dql');
  if ((http === undefined) === (dql === undefined)) {
    return refuse('it needs either http or dql', `Write it like ${EXAMPLE}.`);
  }
  if (dql) {
    const query = text(dql);
    if (query === undefined) return undefined;
    if (query.trim() === '') return refuse('dql is empty', 'Write the query text.');
    return { kind: 'dql', dql: query, position: position({ loc: dql.loc }) };
  }
  if (http?.kind !== Kind.OBJECT) return refuse('http must be an object', `Write it like ${EXAMPLE}.`);
  const call = new HttpReader(http, where, report).read();
  return call && { kind: 'http', http: call };
}

class HttpReader {
  #failed = false;

  constructor(
    readonly value: ConstValueNode & { readonly kind: Kind.OBJECT },
    readonly where: string,
    readonly report: Report,
  ) {}

  #refuse(at: ConstValueNode | undefined, message: string, fix: string): undefined {
    this.#failed = true;
    this.report({
      position: position({ loc: (at ?? this.value).loc }),
      message: `@custom on ${this.where}: ${message}`,
      fix,
    });
    return undefined;
  }

  read(): HttpCall | undefined {
    this.#keys();
    const url = this.#parsed('url', parseUrlTemplate);
    const method = this.#word('method', METHODS);
    const mode = this.#word('mode', MODES) ?? 'SINGLE';
    const body = this.#parsed('body', parseBodyTemplate);
    const graphql = this.#graphql();
    if (!member(this.value, 'url')) this.#refuse(undefined, 'http lacks url', `Write it like ${EXAMPLE}.`);
    if (!member(this.value, 'method')) this.#refuse(undefined, 'http lacks method', `Write it like ${EXAMPLE}.`);
    const headers = {
      forwardHeaders: this.#headers('forwardHeaders'),
      secretHeaders: this.#headers('secretHeaders'),
      introspectionHeaders: this.#headers('introspectionHeaders'),
    };
    if (this.#failed || !url || !method) return undefined;
    const bodyNode = member(this.value, 'body');
    const variables = graphql && !(mode === 'BATCH') ? graphql.variables.map((v) => v.name) : [];
    return {
      position: position({ loc: this.value.loc }),
      url,
      urlPosition: this.#at('url'),
      method: method as HttpMethod,
      ...(body ? { body, bodyPosition: position({ loc: bodyNode?.loc }) } : {}),
      ...(graphql ? { graphql } : {}),
      mode: mode as 'SINGLE' | 'BATCH',
      ...headers,
      skipIntrospection: flag(member(this.value, 'skipIntrospection')) ?? false,
      needs: [...new Set([...url.pathVariables, ...url.queryVariables, ...(body?.variables ?? []), ...variables])],
    };
  }

  #at(key: string): Position {
    return position({ loc: (member(this.value, key) ?? this.value).loc });
  }

  #keys(): void {
    const seen = new Set<string>();
    for (const field of this.value.fields) {
      const key = field.name.value;
      if (!KEYS.includes(key)) this.#refuse(field.value, `http has no field ${key}`, `It takes ${KEYS.join(', ')}.`);
      if (seen.has(key)) this.#refuse(field.value, `http has ${key} twice`, 'Keep one of them.');
      seen.add(key);
      const strings = key.endsWith('Headers');
      const boolean = key === 'skipIntrospection';
      if (boolean && field.value.kind !== Kind.BOOLEAN) {
        this.#refuse(field.value, `${key} must be true or false`, `Write ${key}: true.`);
      } else if (strings && !isStrings(field.value)) {
        this.#refuse(field.value, `${key} must be a list of strings`, `Write ${key}: ["Name"].`);
      }
    }
  }

  #parsed<T>(key: string, parser: (text: string, position: Position) => T): T | undefined {
    const node = member(this.value, key);
    if (!node) return undefined;
    if (node.kind !== Kind.STRING) return this.#refuse(node, `${key} must be a string`, `Write ${key}: "...".`);
    try {
      return parser(node.value, position({ loc: node.loc }));
    } catch (error) {
      if (!(error instanceof GraphsteadError)) throw error;
      return this.#refuse(node, `${key}: ${error.message}`, error.fix);
    }
  }

  #word(key: string, words: readonly string[]): string | undefined {
    const node = member(this.value, key);
    if (!node) return undefined;
    const word = text(node);
    if (word !== undefined && words.includes(word)) return word;
    return this.#refuse(node, `${key} must be one of ${words.join(', ')}`, `Write ${key}: ${words[0]}.`);
  }

  #headers(key: string): Header[] {
    const node = member(this.value, key);
    return texts(node).flatMap((entry) => {
      const parts = entry.split(':').map((part) => part.trim());
      const [remote, local = remote] = parts;
      if (parts.length <= 2 && HEADER_NAME.test(remote) && HEADER_NAME.test(local)) return [{ remote, local }];
      this.#refuse(node, `${key}: "${entry}" is not a header`, 'Write "Name", or "NameForTheRemote:local-name".');
      return [];
    });
  }

  #graphql(): RemoteOperation | undefined {
    const node = member(this.value, 'graphql');
    if (!node) return undefined;
    if (node.kind !== Kind.STRING) return this.#refuse(node, 'graphql must be a string', 'Write graphql: "...".');
    const fix = 'Write it like "query($id: ID!) { user(id: $id) }".';
    let document: DocumentNode;
    try {
      document = parse(node.value);
    } catch (error) {
      const reason = error instanceof GraphQLError ? error.message : String(error);
      return this.#refuse(node, `graphql cannot be parsed: ${reason}`, fix);
    }
    return this.#operation(node, document, fix);
  }

  #operation(
    node: ConstValueNode & { readonly kind: Kind.STRING },
    document: DocumentNode,
    fix: string,
  ): RemoteOperation | undefined {
    const [operation, ...more] = document.definitions;
    if (more.length > 0 || operation?.kind !== Kind.OPERATION_DEFINITION) {
      return this.#refuse(node, 'graphql holds more than one operation, or a fragment', fix);
    }
    if (operation.operation === OperationTypeNode.SUBSCRIPTION) {
      return this.#refuse(node, 'graphql is a subscription', 'Use a query or a mutation.');
    }
    if (operation.name)
      return this.#refuse(node, `the operation in graphql has the name ${operation.name.value}`, 'Remove the name.');
    if (operation.directives?.length)
      return this.#refuse(node, 'the operation in graphql has a directive', 'Remove it.');
    const [field, ...others] = operation.selectionSet.selections;
    if (others.length > 0 || field.kind !== Kind.FIELD) {
      return this.#refuse(node, 'graphql calls more than one field', 'Call one field.');
    }
    return this.#field(node, operation, field);
  }

  #field(
    node: ConstValueNode & { readonly kind: Kind.STRING },
    operation: OperationDefinitionNode,
    field: FieldNode,
  ): RemoteOperation | undefined {
    const name = field.name.value;
    if (field.alias) return this.#refuse(node, `${name} in graphql has an alias`, 'Remove the alias.');
    if (field.directives?.length) return this.#refuse(node, `${name} in graphql has a directive`, 'Remove it.');
    if (field.selectionSet) {
      return this.#refuse(node, `${name} in graphql has a selection`, "Remove it: the client's selection is sent.");
    }
    const variableNames = (operation.variableDefinitions ?? []).map((definition) => definition.variable.name.value);
    const argumentNames = (field.arguments ?? []).map((a) => a.name.value);
    const twice = repeated(variableNames.map((one) => `$${one}`)) ?? repeated(argumentNames);
    if (twice !== undefined) return this.#refuse(node, `graphql has ${twice} twice`, 'Keep one of them.');
    const variables = (operation.variableDefinitions ?? []).map((definition) => ({
      name: definition.variable.name.value,
      type: definition.type,
      nonNull: definition.type.kind === Kind.NON_NULL_TYPE,
    }));
    return {
      position: position({ loc: node.loc }),
      operation,
      kind: operation.operation === OperationTypeNode.MUTATION ? 'mutation' : 'query',
      field: name,
      variables,
      arguments: (field.arguments ?? []).map((a) => ({
        name: a.name.value,
        ...(a.value.kind === Kind.VARIABLE ? { variable: a.value.name.value } : {}),
      })),
    };
  }
}

const repeated = (names: readonly string[]): string | undefined => names.find((name, at) => names.indexOf(name) !== at);

const isStrings = (node: ConstValueNode): boolean =>
  node.kind === Kind.LIST && node.values.every((item) => item.kind === Kind.STRING);
