const EDITORS: readonly (readonly [selector: string, label: string])[] = [
  ['.graphiql-query-editor', 'GraphQL'],
  ['.result-window', 'Answer'],
  ['.graphiql-editor-tool .graphiql-editor:nth-child(1)', 'Variables as JSON'],
  ['.graphiql-editor-tool .graphiql-editor', 'Headers as JSON'],
];

/**
 * Gives GraphiQL's editors the names that they lack, lets the keyboard scroll them, and makes the button inside a tab the
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
  return () => {
    watch.disconnect();
    cancelAnimationFrame(asked);
  };
}
