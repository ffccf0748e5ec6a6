import { ToolbarButton, useEditorContext } from '@graphiql/react';
import { GraphiQL } from 'graphiql';
import { useEffect, useRef, useState } from 'react';
import { keepAccessible } from './accessible';
import { curlOf } from './curl';
import { fetcher } from './fetcher';
import { useLoaded } from '../shell/hooks';
import { welcome } from './welcome';

export default function GraphqlPane() {
  const place = useRef<HTMLDivElement>(null);
  const first = useLoaded(welcome, { active: true });
  useEffect(() => keepAccessible(place.current as HTMLElement), []);
  return (
    <div className="pane" ref={place}>
      {first.value !== undefined && <Editor welcome={first.value} />}
    </div>
  );
}

function Editor({ welcome }: { welcome: string }) {
  return (
    <GraphiQL
      fetcher={fetcher as never}
      defaultQuery={welcome}
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
