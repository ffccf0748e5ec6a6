import { type FormEvent, useEffect, useRef, useState } from 'react';
import { apiKey, onKeyWanted, setApiKey } from '../http';

/** Asks for the API key when the service wants one; the whole page starts afresh with it. */
export function KeyDialog() {
  const dialog = useRef<HTMLDialogElement>(null);
  const [wrong, setWrong] = useState(false);
  useEffect(
    () =>
      onKeyWanted(() => {
        if (dialog.current?.open) return;
        setWrong(apiKey() !== '');
        dialog.current?.showModal();
      }),
    [],
  );
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    setApiKey(String(new FormData(event.currentTarget).get('key')).trim());
    location.reload();
  };
  return (
    <dialog ref={dialog} className="dialog" aria-labelledby="key-title">
      <form onSubmit={submit}>
        <h2 id="key-title">This service needs an API key</h2>
        <p>
          It is one of <code>GRAPHSTEAD_API_KEYS</code>. It stays in this tab and is sent as{' '}
          <code>Authorization: Bearer</code>.
        </p>
        {wrong && <p className="wrong">The key that was given is not one of them.</p>}
        <label htmlFor="api-key">API key</label>
        <input id="api-key" name="key" type="password" autoComplete="off" required />
        <div className="actions">
          <button type="submit" className="primary">
            Use this key
          </button>
        </div>
      </form>
    </dialog>
  );
}
