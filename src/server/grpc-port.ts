import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import type { FastifyBaseLogger } from 'fastify';

/** A gRPC server without a port of its own. */
export interface GrpcConnections {
  /** serves a connection from its first byte, also when some have arrived */
  take(socket: Socket): void;
  close(): Promise<void>;
}

interface GrpcPortOptions {
  readonly host: string;
  /** 0 takes any free one */
  readonly port: number;
  readonly log: FastifyBaseLogger;
}

export interface GrpcPort {
  readonly port: number;
  close(): Promise<void>;
}

/**
 * Listens at once and loads gRPC with the first connection: its libraries take a third of the time of a start, and many a
 * service is never asked over it. Throws what the system says of a port that cannot be had.
 */
export async function openGrpcPort(options: GrpcPortOptions, load: () => Promise<GrpcConnections>): Promise<GrpcPort> {
  let loading: Promise<GrpcConnections> | undefined;
  const server = createServer((socket) => {
    // until gRPC has it, a connection that breaks off must not end the process
    socket.on('error', () => socket.destroy());
    loading ??= load();
    loading.then(
      (grpc) => grpc.take(socket),
      (error: unknown) => {
        options.log.error({ err: error }, 'gRPC could not be loaded');
        socket.destroy();
      },
    );
  });
  server.listen({ host: options.host, port: options.port });
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      await (await loading?.catch(() => undefined))?.close();
      await closed;
    },
  };
}
