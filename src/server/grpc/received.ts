import type * as grpc from '@grpc/grpc-js';

/** A message as it came, and what stands in it. */
export interface Received<Message> {
  readonly bytes: Buffer;
  readonly message: Message;
}

/** The same methods, which hear of the bytes of each request, and may answer with bytes. */
export function handedOn(service: grpc.ServiceDefinition): grpc.ServiceDefinition {
  return Object.fromEntries(Object.entries(service).map(([name, method]) => [name, handed(method)]));
}

function handed(method: grpc.MethodDefinition<unknown, unknown>): grpc.MethodDefinition<unknown, unknown> {
  return {
    ...method,
    requestDeserialize: (bytes): Received<unknown> => ({ bytes, message: method.requestDeserialize(bytes) }),
    responseSerialize: (answer) => (Buffer.isBuffer(answer) ? answer : method.responseSerialize(answer)),
  };
}
