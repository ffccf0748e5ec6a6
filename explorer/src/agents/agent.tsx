import { json } from '@codemirror/lang-json';
import { type FormEvent, useState } from 'react';
import type { AgentInspection, AgentType } from '../../../src/agents/info';
import { Editor } from '../query/editor';
import { useLoaded } from '../shell/hooks';
import { Badge, CopyButton, count, duration, Empty, Failure, Field, Scroll, Table, Tabs, time } from '../shell/parts';
import { Alarms } from './alarms';
import { EventStream } from './events';
import { History } from './history';
import { contentOf, inspect, pretty, replay, send, stop } from './model';
import { StatusBadge } from './status-badge';

export function AgentView({ id, active, types }: { id: string; active: boolean; types: readonly AgentType[] }) {
  const [at, setAt] = useState('state');
  const [failure, setFailure] = useState<Error>();
  const loaded = useLoaded(() => inspect(id), { active, everyMs: 2_000 });
  const { value } = loaded;
  if (!value) return loaded.error ? <Failure error={loaded.error} /> : <p className="loading">Loading…</p>;
  const { info } = value;
  const doing = async (work: Promise<unknown>) => {
    setFailure(undefined);
    await work.catch((error: Error) => setFailure(error));
    loaded.reload();
  };
  const tabs = [
    { id: 'state', label: 'State' },
    { id: 'events', label: 'Events' },
    { id: 'history', label: 'History' },
    { id: 'alarms', label: 'Alarms', count: info.alarms || undefined },
    { id: 'messages', label: 'Messages', count: info.waiting + info.deadLetters || undefined },
  ];
  return (
    <div className="agent">
      <header className="agent-head">
        <div>
          <h2>
            {info.name} <StatusBadge status={info.status} />
          </h2>
          <p className="uid">
            {info.id} · started {new Date(info.startedAt).toLocaleString()} · {count(info.turns, 'turn')}
          </p>
        </div>
        <span className="gap" />
        <CopyButton label="Copy id" text={() => info.id} />
        {info.status !== 'terminated' && <StopButton onStop={() => doing(stop(id))} />}
      </header>
      {failure && <Failure error={failure} />}
      <div className="toolbar">
        <Tabs label="Agent" tabs={tabs} at={at} onChange={setAt} />
      </div>
      <div className="agent-body">
        {at === 'state' && <State inspection={value} />}
        {at === 'events' && <EventStream id={id} begin={value.beforeFirstEvent} active={active} />}
        {at === 'history' && <History id={id} turns={info.turns} active={active} />}
        {at === 'alarms' && <Alarms inspection={value} />}
        {at === 'messages' && <Messages inspection={value} onReplay={(letter) => doing(replay(id, letter))} />}
      </div>
      {info.status !== 'terminated' && (
        <Send id={id} type={types.find((type) => type.name === info.name)} onSent={loaded.reload} />
      )}
    </div>
  );
}

/** Stopping is for good, so it asks once more, in place. */
function StopButton({ onStop }: { onStop(): void }) {
  const [sure, setSure] = useState(false);
  if (!sure) {
    return (
      <button type="button" onClick={() => setSure(true)}>
        Stop…
      </button>
    );
  }
  return (
    <span className="sure">
      Stop it for good?
      <button
        type="button"
        className="danger"
        onClick={() => {
          setSure(false);
          onStop();
        }}
      >
        Stop the agent
      </button>
      <button type="button" className="quiet" onClick={() => setSure(false)}>
        Keep it
      </button>
    </span>
  );
}

function State({ inspection: { state } }: { inspection: AgentInspection }) {
  if (state === undefined) {
    return (
      <Empty title="No state">
        <p>The agent has stored none yet. Send it a message that changes its state.</p>
      </Empty>
    );
  }
  return <Editor label="State as JSON" value={pretty(state)} language={json()} readOnly />;
}

function Messages({ inspection, onReplay }: { inspection: AgentInspection; onReplay(id: string): void }) {
  const { info, waiting, deadLetters } = inspection;
  if (waiting.length + deadLetters.length === 0) {
    return (
      <Empty title="No message waits">
        <p>Messages sent in the background wait here until their turn; those that keep failing stay as dead letters.</p>
      </Empty>
    );
  }
  return (
    <Scroll label="Messages">
      {deadLetters.length > 0 && (
        <Table caption="Dead letters" count={info.deadLetters} columns={['Message', 'Why', 'Data', 'Failed', 'Again']}>
          {deadLetters.map((letter) => (
            <tr key={letter.id}>
              <th scope="row">{letter.name}</th>
              <td className="wrap wrong">{letter.error}</td>
              <td className="wrap">
                <code>{letter.data}</code>
              </td>
              <td>
                {time(letter.failedAt)}, {count(letter.attempts, 'try', 'tries')}
              </td>
              <td>
                <button type="button" onClick={() => onReplay(letter.id)}>
                  Retry
                </button>
              </td>
            </tr>
          ))}
        </Table>
      )}
      {waiting.length > 0 && (
        <Table caption="Waiting" count={info.waiting} columns={['Message', 'From', 'Data', 'Tries', 'Why', 'Due']}>
          {waiting.map((message, i) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: waiting messages have no id
            <tr key={i}>
              <th scope="row">{message.name}</th>
              <td>{message.from || 'outside'}</td>
              <td className="wrap">
                <code>{message.data}</code>
              </td>
              <td>{message.attempts}</td>
              <td className="wrap wrong">{message.error}</td>
              <td>{message.notBefore ? time(message.notBefore) : 'now'}</td>
            </tr>
          ))}
        </Table>
      )}
    </Scroll>
  );
}

interface Reply {
  readonly text?: string;
  readonly note: string;
  readonly error?: Error;
}

function Send({ id, type, onSent }: { id: string; type: AgentType | undefined; onSent(): void }) {
  const [busy, setBusy] = useState(false);
  const [reply, setReply] = useState<Reply>();
  const [name, setName] = useState('');
  const isHandler = type?.handlers.includes(name.trim()) ?? false;
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const message = name.trim();
    const content = contentOf(String(form.get('data')), isHandler);
    const background = form.get('background') === 'on';
    setBusy(true);
    try {
      const answer = await send(id, message, content, background);
      setReply(
        background
          ? { note: `in the mailbox as ${answer.id}` }
          : { note: `${message} answered in ${duration(answer.ms ?? 0)}`, text: answer.reply ?? '(no reply)' },
      );
    } catch (error) {
      setReply({ note: `${message} failed`, error: error as Error });
    }
    setBusy(false);
    onSent();
  };
  return (
    <form className="send" onSubmit={submit} aria-label="Send a message">
      <Field label="Message">
        {(field) => (
          <>
            <input
              id={field}
              required
              value={name}
              onChange={(event) => setName(event.target.value)}
              autoComplete="off"
              list={`${field}-known`}
              placeholder="its name"
            />
            <datalist id={`${field}-known`}>
              {[...new Set([...(type?.handlers ?? []), ...(type?.readOnly ?? [])])].map((known) => (
                <option key={known} value={known} />
              ))}
            </datalist>
          </>
        )}
      </Field>
      <Field label={isHandler ? 'Arguments (a JSON list, or one)' : 'Data (optional)'}>
        {(field) => (
          <input
            id={field}
            name="data"
            autoComplete="off"
            placeholder={isHandler ? '["text", 1]' : 'text, often JSON'}
          />
        )}
      </Field>
      <label className="check">
        <input type="checkbox" name="background" /> in the background
      </label>
      <button type="submit" className="primary" disabled={busy}>
        {busy ? 'Sending…' : 'Send'}
      </button>
      <div className="reply" role="status">
        {reply && !reply.error && (
          <>
            <Badge tone="good">{reply.note}</Badge>
            {reply.text !== undefined && <pre>{pretty(reply.text)}</pre>}
          </>
        )}
        {reply?.error && <Failure error={reply.error} />}
      </div>
    </form>
  );
}
