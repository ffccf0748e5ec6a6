/** What landed stays landed: somebody who is told of it and throws keeps neither the commit nor those behind him from it. */
export function tell(listener: () => void): void {
  try {
    listener();
  } catch (thrown) {
    process.emitWarning(thrown instanceof Error ? thrown : String(thrown), 'CommitListenerWarning');
  }
}
