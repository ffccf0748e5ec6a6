const EDITORS: readonly (readonly [selector: string, label: string])[] = [
  ['.graphiql-query-editor', 'GraphQL'],
  ['.result-window', 'Answer'],
  ['.graphiql-editor-tool .graphiql-editor:nth-child(1)', 'Variables as JSON'],
  ['.graphiql-editor-tool .graphiql-editor', 'Headers as JSON'],
];

const MODIFIERS: ReadonlySet<string> = new Set(['Shift', 'Control', 'Alt', 'Meta']);

/** GraphiQL's editors take each Tab for themselves: behind Escape it is the page's, as in the editor of the graph language. */
function letLeave(place: HTMLElement): () => void {
  let escaped = false;
  const press = (event: KeyboardEvent) => {
    if (event.key === 'Tab' && escaped) event.stopPropagation();
    if (!MODIFIERS.has(event.key)) escaped = event.key === 'Escape';
  };
  const enter = () => {
    escaped = false;
  };
  place.addEventListener('keydown', press, true);
  place.addEventListener('focusin', enter);
  return () => {
    place.removeEventListener('keydown', press, true);
    place.removeEventListener('focusin', enter);
  };
}

/**
 * Gives GraphiQL's editors the names that they lack, lets the keyboard scroll and leave them, and makes the button inside a tab the
 * tab itself. Returns the way to stop.
 */
export function keepAccessible(place: HTMLElement): () => void {
  let asked = 0;
  const apply = () => {
    asked = 0;
    for (const [selector, label] of EDITORS) {
      for (const area of place.querySelectorAll(`${selector} .CodeMirror textarea:not([aria-label])`)) {
        area.setAttribute('aria-label', label);
      }
    }
    for (const part of place.querySelectorAll('.CodeMirror-scroll[tabindex="-1"]')) part.setAttribute('tabindex', '0');
    for (const item of place.querySelectorAll('li.graphiql-tab')) {
      const button = item.querySelector('.graphiql-tab-button');
      if (item.getAttribute('role') === 'tab') item.setAttribute('role', 'presentation');
      item.removeAttribute('aria-selected');
      button?.setAttribute('role', 'tab');
      button?.setAttribute('aria-selected', String(item.classList.contains('graphiql-tab-active')));
    }
  };
  const watch = new MutationObserver(() => {
    asked ||= requestAnimationFrame(apply);
  });
  watch.observe(place, {
    childList: true,
    subtree: true,
    attributes: true,
    attributeFilter: ['class', 'aria-selected'],
  });
  apply();
  const stopLeaving = letLeave(place);
  return () => {
    watch.disconnect();
    stopLeaving();
    cancelAnimationFrame(asked);
  };
}
