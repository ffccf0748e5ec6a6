import { ToolbarButton, useEditorContext } from '@graphiql/react';
import { GraphiQL } from 'graphiql';
import { useEffect, useRef, useState } from 'react';
import { keepAccessible } from './accessible';
import { curlOf } from './curl';
import { fetcher } from './fetcher';

const WELCOME = `# Ctrl+Enter runs what stands here.
# The book on the left lists all operations.
# Subscriptions stream into the answer.

query Operations {
  __schema {
    queryType { fields { name description } }
  }
}
`;

export default function GraphqlPane() {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => keepAccessible(place.current as HTMLElement), []);
  return (
    <div className="pane" ref={place}>
      <GraphiQL
        fetcher={fetcher as never}
        defaultQuery={WELCOME}
        forcedTheme="system"
        defaultEditorToolsVisibility="variables"
        className="graphql-pane"
      >
        <GraphiQL.Logo>
          <span />
        </GraphiQL.Logo>
        <GraphiQL.Toolbar>
          {({ prettify, copy, merge }) => (
            <>
              {prettify}
              {merge}
              {copy}
              <CopyAsCurl />
            </>
          )}
        </GraphiQL.Toolbar>
      </GraphiQL>
    </div>
  );
}

function CopyAsCurl() {
  const { queryEditor, variableEditor, headerEditor } = useEditorContext({ nonNull: true });
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    const value = (editor: { getValue(): string } | null) => editor?.getValue() ?? '';
    await navigator.clipboard.writeText(curlOf(value(queryEditor), value(variableEditor), value(headerEditor)));
    setCopied(true);
    setTimeout(() => setCopied(false), 1_500);
  };
  return (
    <ToolbarButton label={copied ? 'Copied' : 'Copy as curl'} onClick={copy}>
      <svg viewBox="0 0 16 16" className="graphiql-toolbar-icon" aria-hidden="true" fill="none" stroke="currentColor">
        <path d={copied ? 'M3 8.5 6.5 12 13 4.5' : 'M2.5 4.5 6 8l-3.5 3.5M8 12h5.5'} strokeWidth="1.5" />
      </svg>
    </ToolbarButton>
  );
}
