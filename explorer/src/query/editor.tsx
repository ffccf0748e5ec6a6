import { closeBrackets, closeBracketsKeymap, completionKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { json } from '@codemirror/lang-json';
import {
  bracketMatching,
  codeFolding,
  foldGutter,
  foldKeymap,
  HighlightStyle,
  syntaxHighlighting,
} from '@codemirror/language';
import { Compartment, EditorState, type Extension } from '@codemirror/state';
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers, placeholder } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { useEffect, useRef } from 'react';

// Colours are the page's own variables, so that light and dark need no second theme.
const highlight = HighlightStyle.define([
  { tag: tags.comment, color: 'var(--muted)', fontStyle: 'italic' },
  { tag: tags.string, color: 'var(--code-string)' },
  { tag: [tags.number, tags.atom, tags.bool, tags.null], color: 'var(--code-number)' },
  { tag: tags.keyword, color: 'var(--code-keyword)' },
  { tag: [tags.meta, tags.special(tags.variableName)], color: 'var(--code-meta)' },
  { tag: tags.propertyName, color: 'var(--code-name)' },
  { tag: tags.labelName, color: 'var(--text)', fontWeight: '600' },
  { tag: tags.bracket, color: 'var(--muted)' },
]);

const look = EditorView.theme({
  '&': { height: '100%', backgroundColor: 'transparent', color: 'var(--text)', fontSize: '13.5px' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.55' },
  '.cm-content': { caretColor: 'var(--text)', padding: '10px 0' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '.cm-gutters': { backgroundColor: 'transparent', color: 'var(--faint)', border: 'none' },
  '.cm-activeLine': { backgroundColor: 'transparent' },
  '&.cm-focused .cm-activeLine': { backgroundColor: 'var(--line-active)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'var(--selection)',
  },
  '.cm-placeholder': { color: 'var(--muted)' },
  '.cm-tooltip': {
    backgroundColor: 'var(--panel)',
    border: '1px solid var(--line)',
    color: 'var(--text)',
    borderRadius: '6px',
  },
  '.cm-tooltip-autocomplete ul li[aria-selected]': { backgroundColor: 'var(--accent-soft)', color: 'var(--text)' },
  '.cm-completionDetail': { color: 'var(--muted)', fontStyle: 'normal', marginLeft: '1.5em' },
  '.cm-matchingBracket': { backgroundColor: 'var(--selection) !important' },
  '.cm-foldPlaceholder': { backgroundColor: 'var(--accent-soft)', border: 'none', color: 'var(--muted)' },
});

interface EditorProps {
  readonly label: string;
  readonly value: string;
  onChange?(text: string): void;
  onRun?(): void;
  readonly language?: Extension;
  readonly hint?: string;
  readonly readOnly?: boolean;
  readonly lines?: boolean;
}

/** A text editor; one view for the component's life, so that undo and scroll stay. */
export function Editor({
  label,
  value,
  onChange,
  onRun,
  language,
  hint = '',
  readOnly = false,
  lines = true,
}: EditorProps) {
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(undefined);
  const calls = useRef({ onChange, onRun });
  calls.current = { onChange, onRun };
  const first = useRef({ value, label, language: language ?? json(), hint, readOnly, lines });

  useEffect(() => {
    const start = first.current;
    const made = new EditorView({
      parent: place.current as HTMLElement,
      state: EditorState.create({ doc: start.value, extensions: extensions(start, calls) }),
    });
    view.current = made;
    return () => made.destroy();
  }, []);
  useEffect(() => {
    const current = view.current;
    if (!current || current.state.doc.toString() === value) return;
    current.dispatch({ changes: { from: 0, to: current.state.doc.length, insert: value } });
  }, [value]);
  return <div className="editor" ref={place} />;
}

interface Start {
  readonly label: string;
  readonly language: Extension;
  readonly hint: string;
  readonly readOnly: boolean;
  readonly lines: boolean;
}

function extensions(
  start: Start,
  calls: { readonly current: { onChange?(text: string): void; onRun?(): void } },
): Extension[] {
  const run = () => {
    calls.current.onRun?.();
    return calls.current.onRun !== undefined;
  };
  return [
    keymap.of([{ key: 'Mod-Enter', run, preventDefault: true }]),
    ...(start.lines ? [lineNumbers(), foldGutter(), codeFolding(), highlightActiveLine()] : []),
    history(),
    drawSelection(),
    bracketMatching(),
    new Compartment().of(start.language),
    syntaxHighlighting(highlight),
    look,
    EditorView.contentAttributes.of({ 'aria-label': start.label }),
    EditorView.lineWrapping,
    ...(start.readOnly
      ? [EditorState.readOnly.of(true), EditorView.contentAttributes.of({ tabindex: '0' })]
      : [closeBrackets(), placeholder(start.hint)]),
    // Escape, then Tab leaves the editor.
    keymap.of([
      ...closeBracketsKeymap,
      ...completionKeymap,
      ...defaultKeymap,
      ...historyKeymap,
      ...foldKeymap,
      ...(start.readOnly || !start.lines ? [] : [indentWithTab]),
    ]),
    EditorView.updateListener.of((update) => {
      if (update.docChanged) calls.current.onChange?.(update.state.doc.toString());
    }),
  ];
}
