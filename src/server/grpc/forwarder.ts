import { createSecureContext } from 'node:tls';
import * as grpc from '@grpc/grpc-js';
import { isOwnHeader } from '../../base/index.js';
import { clientLeft, FORWARDED, type ForwardTerms, outcomeUnknown, writerAway } from '../forward/index.js';

/** A call as it came. */
interface ReceivedCall {
  /** as `/api.Dgraph/Query` */
  readonly path: string;
  readonly request: Buffer;
  readonly metadata: grpc.Metadata;
  readonly deadline: grpc.Deadline;
  /** aborted when the client goes away */
  readonly signal: AbortSignal;
}

/** How the service that writes has refused a call: handed on as it is. */
export class RefusedThere extends Error {
  constructor(readonly status: grpc.ServiceError) {
    super(status.details);
  }
}

/** Whether another service has sent it on: sent on again it would go in circles. */
export function wasSentOn(metadata: grpc.Metadata): boolean {
  return metadata.get(FORWARDED).length > 0;
}

const OPTIONS: grpc.ClientOptions = {
  'grpc.max_receive_message_length': -1,
  // whoever asks decides what is asked again
  'grpc.enable_retries': 0,
  // a connection of its own, for what `Forwarder` has one for
  'grpc.use_local_subchannel_pool': 1,
  'grpc.enable_http_proxy': 0,
  'grpc.service_config_disable_resolution': 1,
};

/** Statuses that a connection which breaks off gives, too. */
const OF_CONNECTION: ReadonlySet<grpc.status> = new Set([
  grpc.status.UNAVAILABLE,
  grpc.status.CANCELLED,
  grpc.status.UNKNOWN,
  grpc.status.INTERNAL,
  grpc.status.DEADLINE_EXCEEDED,
]);

/** Sends calls on to the service that writes, in the client's name. */
export class GrpcForwarder {
  readonly #address: URL;
  readonly #terms: ForwardTerms;
  readonly #credentials: grpc.ChannelCredentials;

  constructor(address: URL, terms: ForwardTerms) {
    this.#address = address;
    this.#terms = terms;
    // trusts whom HTTP trusts, whatever the library's own variables say
    const secure = () => grpc.credentials.createFromSecureContext(createSecureContext());
    this.#credentials = address.protocol === 'https:' ? secure() : grpc.credentials.createInsecure();
  }

  /**
   * Answers with the bytes of its answer. Throws RefusedThere, READ_ONLY_STORE where that service cannot be reached, OUTCOME_UNKNOWN where it
   * may have done what was asked and did not say so, OVERLOADED.
   */
  async ask(call: ReceivedCall): Promise<Buffer> {
    const { limits, trace, places } = this.#terms;
    const leave = places.take();
    const client = new grpc.Client(this.#target, this.#credentials, OPTIONS);
    try {
      const facts = { 'rpc.system': 'grpc', 'server.address': this.#address.hostname };
      return await trace.step(`forward ${call.path.slice(1)}`, { kind: 'client', facts }, async () => {
        const until = Math.min(Date.now() + limits.forwardMs, Number(call.deadline));
        await this.#connected(client.getChannel(), until);
        return this.#answer(client, call, until);
      });
    } finally {
      client.close();
      leave();
    }
  }

  get #target(): string {
    const { hostname, port, protocol } = this.#address;
    return `dns:${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`;
  }

  /** Until then nothing was sent. */
  async #connected(channel: ReturnType<grpc.Client['getChannel']>, until: number): Promise<void> {
    for (;;) {
      const state = channel.getConnectivityState(true);
      if (state === grpc.connectivityState.READY) return;
      if (state === grpc.connectivityState.TRANSIENT_FAILURE) throw this.#away();
      await new Promise<void>((resolve, reject) => {
        channel.watchConnectivityState(state, until, (late) => (late ? reject(this.#away(late)) : resolve()));
      });
    }
  }

  #answer(client: grpc.Client, call: ReceivedCall, deadline: number): Promise<Buffer> {
    const { path, request, signal } = call;
    return new Promise((resolve, reject) => {
      const metadata = metadataOn(call.metadata, this.#terms.trace.headers());
      const asking = client.makeUnaryRequest(path, asItIs, asItIs, request, metadata, { deadline }, (error, answer) => {
        signal.removeEventListener('abort', leave);
        if (error === null) resolve(answer as Buffer);
        else if (signal.aborted) reject(clientLeft());
        else reject(isItsOwn(error) ? new RefusedThere(error) : unknown(error));
      });
      const leave = () => asking.cancel();
      if (signal.aborted) leave();
      else signal.addEventListener('abort', leave, { once: true });
    });
  }

  #away(cause?: unknown) {
    return writerAway(this.#address.host, '--writer-grpc', cause);
  }
}

function asItIs(bytes: Buffer): Buffer {
  return bytes;
}

function unknown(cause: unknown) {
  return outcomeUnknown('Look whether it was done before it is sent again.', cause);
}

/** Said by the service itself, which tells its codes, or of a call that it does not take. */
function isItsOwn({ code, metadata }: grpc.ServiceError): boolean {
  return metadata.get('graphstead-code').length > 0 || !OF_CONNECTION.has(code);
}

/** What the client has said, but for what is of its connection. */
function metadataOn(given: grpc.Metadata, traced: Readonly<Record<string, string>>): grpc.Metadata {
  const on = given.clone();
  for (const name of Object.keys(given.getMap())) {
    if (isOwnHeader(name) || name.startsWith('grpc-') || name === 'user-agent') on.remove(name);
  }
  for (const [name, value] of Object.entries(traced)) on.set(name, value);
  on.set(FORWARDED, '1');
  return on;
}
