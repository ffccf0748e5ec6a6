import { isOwnHeader } from '../../base/index.js';
import { readCustom } from '../custom.js';
import { type CustomSite, customSites } from '../custom-site.js';
import type { HttpCall } from '../model.js';
import type { Rule, RuleContext } from '../rule.js';

/** Secrets that headers name are declared, and no header is both forwarded and secret, or one that the service sets. */
export const customHeader: Rule = {
  name: 'custom-header',
  check(context) {
    for (const site of customSites(context.definitions)) {
      const custom = readCustom(site.node, site.where, () => {});
      if (custom?.kind !== 'http') continue;
      declared(context, site, custom.http, 'secretHeaders');
      declared(context, site, custom.http, 'introspectionHeaders');
      overlap(context, site, custom.http);
      // Dgraph takes such definitions: there the calls just leave them out
      if (context.lax) continue;
      own(context, site, custom.http);
      for (const key of LISTS) repeated(context, site, custom.http, key);
    }
  },
};

function declared(
  { definitions, names, report }: RuleContext,
  site: CustomSite,
  http: HttpCall,
  key: 'secretHeaders' | 'introspectionHeaders',
): void {
  for (const { local } of http[key]) {
    if (definitions.secrets.has(local)) continue;
    const word = names.dgraph ? 'Dgraph' : 'Service';
    report({
      position: http.position,
      message: `@custom on ${site.where}: ${key} names the secret ${local}, which is not declared`,
      fix: `Add a line: # ${word}.Secret ${local} "value".`,
    });
  }
}

/** Of two headers with one name only one would be sent. */
function repeated({ report }: RuleContext, site: CustomSite, http: HttpCall, key: (typeof LISTS)[number]): void {
  const names = http[key].map((header) => header.remote.toLowerCase());
  for (const name of new Set(names.filter((one, at) => names.indexOf(one) !== at))) {
    report({
      position: http.position,
      message: `@custom on ${site.where}: ${key} has the header ${name} more than once`,
      fix: 'Keep one of them.',
    });
  }
}

const LISTS = ['forwardHeaders', 'secretHeaders', 'introspectionHeaders'] as const;

function own({ report }: RuleContext, site: CustomSite, http: HttpCall): void {
  for (const key of LISTS) {
    for (const { remote } of http[key].filter((header) => isOwnHeader(header.remote))) {
      report({
        position: http.position,
        message: `@custom on ${site.where}: ${key} has ${remote}, which each call sets by itself`,
        fix: `Remove it from ${key}, or send it by another name: "X-${remote}:${remote}".`,
      });
    }
  }
}

function overlap({ report }: RuleContext, site: CustomSite, http: HttpCall): void {
  const forwarded = new Set(http.forwardHeaders.map((header) => header.remote.toLowerCase()));
  for (const { remote } of http.secretHeaders) {
    if (!forwarded.has(remote.toLowerCase())) continue;
    report({
      position: http.position,
      message: `@custom on ${site.where}: the header ${remote} is both forwarded and secret`,
      fix: 'Keep it in one of the two lists.',
    });
  }
}
