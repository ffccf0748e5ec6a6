import { Kind, type TypeNode } from 'graphql';
import type { Position } from '../../base/index.js';
import { readCustom } from '../custom.js';
import { type CustomSite, customSites, refusedName } from '../custom-site.js';
import { baseName, listDepth } from '../definition.js';
import { isForeignKey, isGeo, isIdType, kindOf } from '../lookup.js';
import type { HttpCall } from '../model.js';
import type { Rule, RuleContext } from '../rule.js';
import { directive } from '../definition.js';

/** What url and body templates use exists, is a scalar, and is non-null where a path needs it. */
export const customTemplate: Rule = {
  name: 'custom-template',
  check(context) {
    for (const site of customSites(context.definitions)) {
      const custom = readCustom(site.node, site.where, () => {});
      if (custom?.kind === 'http') new Check(context, site, custom.http).run();
    }
  },
};

class Check {
  constructor(
    readonly context: RuleContext,
    readonly site: CustomSite,
    readonly http: HttpCall,
  ) {}

  #refuse(position: Position, message: string, fix: string): void {
    this.context.report({ position, message: `@custom on ${this.site.where}: ${message}`, fix });
  }

  run(): void {
    const { url, body, graphql, mode } = this.http;
    this.#parts();
    for (const name of url.pathVariables) this.#used(name, 'the url path', this.http.urlPosition, true);
    for (const name of url.queryVariables) this.#used(name, 'the url query', this.http.urlPosition, false);
    for (const name of body?.variables ?? []) this.#used(name, 'the body', this.#bodyPosition, false);
    if (!this.context.lax) this.#otherForms(url.text);
    if (!this.context.lax && /^[^/]+\/\/[^/?#]*@/.test(url.text)) this.#credentials();
    if (body && !this.context.lax) this.#strictBody();
    if (body && this.context.lax && this.site.object) this.#names(body.variables);
    const parameters = [...url.pathVariables, ...url.queryVariables];
    if (parameters.length > 0 && graphql) {
      this.#refuse(this.http.urlPosition, 'the url has variables, but graphql sends its own', 'Use them in graphql.');
    }
    if (parameters.length > 0 && mode === 'BATCH') {
      this.#refuse(
        this.http.urlPosition,
        'the url has variables, but BATCH is one call for many',
        'Use them in the body.',
      );
    }
  }

  get #bodyPosition(): Position {
    return this.http.bodyPosition ?? this.http.position;
  }

  /** Which of url, body and graphql may stand together. */
  #parts(): void {
    const { body, graphql, mode } = this.http;
    if (body && graphql && mode !== 'BATCH') {
      this.#refuse(this.http.position, 'body and graphql cannot stand together', 'Keep one of them.');
    }
    if (!body && mode === 'BATCH') {
      this.#refuse(this.http.position, 'BATCH needs body: what is sent for each node', 'Write body: "{ id: $id }".');
    }
  }

  #used(name: string, place: string, position: Position, inPath: boolean): void {
    const { site } = this;
    const refused = refusedName(site, name, place);
    if (refused) this.#refuse(position, ...refused);
    const known = site.names.get(name);
    if (!known) return;
    this.#scalar(name, known.type, place, position);
    if (inPath && known.type.kind !== Kind.NON_NULL_TYPE) {
      this.#refuse(
        position,
        `${place} uses $${name}, which can be null`,
        `Make the ${site.what} ${name} non-null, or move it to the query: ?${name}=$${name}.`,
      );
    }
  }

  #scalar(name: string, type: TypeNode, place: string, position: Position): void {
    const named = baseName(type);
    const kind = kindOf(this.context.definitions, named);
    const isPlain = (kind === 'scalar' && !isGeo(named)) || kind === 'enum';
    if (kind === undefined || (isPlain && listDepth(type) === 0)) return;
    if (this.context.lax && (kind === 'scalar' || kind === 'enum' || kind === 'input')) return;
    const what = listDepth(type) > 0 ? 'a list' : kind === 'scalar' ? 'the object' : `the ${kind}`;
    this.#refuse(
      position,
      `${place} uses $${name}, which is not a scalar but ${what} of ${named}`,
      'Use scalars in templates.',
    );
  }

  /** `:id` and `{id}`, as routes are written elsewhere, would be sent as they stand. */
  #otherForms(url: string): void {
    for (const [written, afterColon, inBraces] of url.matchAll(/(?<=[/=]):(\w+)|\{(\w+)\}/g)) {
      const name = afterColon ?? inBraces;
      if (!this.site.names.has(name)) continue;
      this.#refuse(
        this.http.urlPosition,
        `the url has ${written}, which would be sent as it stands`,
        `Write $${name}.`,
      );
    }
  }

  /** A url is shown to whoever may read the definitions. */
  #credentials(): void {
    this.#refuse(
      this.http.urlPosition,
      'the url holds a user or a password',
      'Declare them, # Service.Secret NAME "Basic {{CREDENTIALS}}", and send secretHeaders: ["Authorization:NAME"].',
    );
  }

  #strictBody(): void {
    const { body } = this.http;
    for (const { key } of body?.keys ?? []) {
      if (/^[A-Za-z0-9]+$/.test(key)) continue;
      this.#refuse(this.#bodyPosition, `the body has the key "${key}"`, 'Use letters and digits in keys.');
    }
    for (const { text } of body?.constants ?? []) {
      this.#refuse(this.#bodyPosition, `the body has the constant ${text}`, 'Use arguments and fields: $name.');
    }
  }

  /** The peer wants the node's own name in what it sends. */
  #names(variables: readonly string[]): void {
    const fields = variables.flatMap((name) => this.site.names.get(name)?.field ?? []);
    if (fields.some((f) => isIdType(f.node.type) || isForeignKey(f) || directive(f.node, 'id'))) return;
    this.#refuse(
      this.#bodyPosition,
      'the body uses no field of type ID and none with @id',
      'Send the field that names the node.',
    );
  }
}
