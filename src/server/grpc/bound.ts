import { constants, type ServerHttp2Stream } from 'node:http2';
import * as grpc from '@grpc/grpc-js';
import { GraphsteadError, type Limits } from '../../base/index.js';
import type { LargeAnswers } from '../answers.js';
import { COUNTED_BODY, type LargeBodies } from '../bodies.js';
import type { Answering } from '../signal.js';

interface BoundOptions {
  readonly limits: Pick<Limits, 'requestMs'>;
  readonly answers: LargeAnswers;
  readonly bodies: LargeBodies;
  statusOf(error: GraphsteadError): grpc.ServiceError;
}

/**
 * Bounds calls as requests over HTTP are bounded: how long one may take to come, the bytes of all that have not ended, and answers that
 * nobody reads. The library bounds one message alone, and holds what has come of it for as long as its connection lasts.
 */
export function boundCalls(options: BoundOptions): grpc.ServerInterceptor {
  return (_method, call) => {
    const stream = streamOf(call);
    if (stream === undefined) return new grpc.ServerInterceptingCall(call);
    boundRequest(call, stream, options);
    const sendMessage = (message: unknown, next: (message: unknown) => void): void => {
      next(message);
      options.answers.add(stream.writableLength, answeringOn(stream));
    };
    return new grpc.ServerInterceptingCall(call, { sendMessage });
  };
}

/**
 * The library shows it to nobody; only what comes on it tells how much has come of a message. Calls of a version that keeps it
 * elsewhere are answered without these bounds.
 */
function streamOf(call: unknown): ServerHttp2Stream | undefined {
  return (call as { readonly stream?: ServerHttp2Stream }).stream;
}

function boundRequest(
  call: grpc.ServerInterceptingCallInterface,
  stream: ServerHttp2Stream,
  { limits: { requestMs }, bodies, statusOf }: BoundOptions,
): void {
  const refuse = (error: GraphsteadError) => {
    if (stream.closed) return;
    call.sendStatus(statusOf(error));
    // what has come is held, and more is taken, for as long as it is open
    stream.close();
  };
  const late = setTimeout(() => refuse(tooLate(requestMs)), requestMs).unref();
  let own = 0;
  let counted = 0;
  stream.on('data', (part: Buffer) => {
    own += part.length;
    if (own < COUNTED_BODY) return;
    bodies.add(own - counted);
    counted = own;
    // Not from within the reading of its connection: of a stream that is closed there Node 26 sends no answer.
    if (!stream.closed && bodies.isFullBeside(own)) setImmediate(refuse, bodies.refusal());
  });
  stream.once('end', () => clearTimeout(late));
  stream.once('close', () => {
    clearTimeout(late);
    bodies.remove(counted);
  });
}

function tooLate(ms: number): GraphsteadError {
  return new GraphsteadError('TIMEOUT', 'the request did not come to its end in time', {
    fix: `limits.requestMs is ${ms}: send it at once`,
  });
}

/** Whose client takes nothing of it is closed by itself: its connection may have others. */
function answeringOn(stream: ServerHttp2Stream): Pick<Answering, 'once' | 'setTimeout'> {
  return {
    once: (event, listener) => stream.once(event, listener),
    setTimeout: (ms) => stream.setTimeout(ms, () => stream.close(constants.NGHTTP2_CANCEL)),
  };
}
