/** A service of gRPC on a Unix socket, such as a plugin of the server. */
import { Server, ServerCredentials, status, type UntypedServiceImplementation } from "@grpc/grpc-js";
import { decodeMessage, encodeMessage } from "../../src/lib/grpc/codec.ts";
import type { Method } from "../../src/lib/grpc/socket-client.ts";

/** What the service does with calls; tests replace its parts. */
export interface ServiceState {
  /** The error of all calls. */
  failure: { readonly code: number; readonly details: string } | undefined;
  /** The names of the methods that have been called. */
  readonly calls: string[];
}

export const unavailable = { code: status.UNAVAILABLE, details: "the vault is sealed" };

/**
 * Starts a service.
 *
 * @param socket the path of the socket, which must not exist
 * @returns a function that ends it
 */
export async function startService(
  socket: string,
  state: ServiceState,
  answers: readonly (readonly [Method, (request: never) => object])[],
): Promise<() => void> {
  const server = new Server();
  server.addService(
    Object.fromEntries(
      answers.map(([{ path, request, response }]) => [
        path,
        {
          path,
          requestStream: false,
          responseStream: false,
          requestSerialize: (value: object) => encodeMessage(request, value),
          requestDeserialize: (bytes: Buffer) => decodeMessage<object>(request, bytes),
          responseSerialize: (value: object) => encodeMessage(response, value),
          responseDeserialize: (bytes: Buffer) => decodeMessage<object>(response, bytes),
        },
      ]),
    ),
    Object.fromEntries(
      answers.map(([{ path }, answer]) => [
        path,
        (call: { request: never }, done: (error: object | null, response?: object) => void) => {
          state.calls.push(path.slice(path.lastIndexOf("/") + 1));
          if (state.failure === undefined) done(null, answer(call.request));
          else done(state.failure);
        },
      ]),
    ) as unknown as UntypedServiceImplementation,
  );
  await new Promise<void>((resolve, reject) =>
    server.bindAsync(`unix:${socket}`, ServerCredentials.createInsecure(), (error) =>
      error === null ? resolve() : reject(error),
    ),
  );
  return () => server.forceShutdown();
}
