/** Which socket an error belongs to: an error that nothing catches has only the stack of node's event loop. */
import { Socket } from "node:net";
import { TLSSocket } from "node:tls";

const socketOf = new WeakMap<object, string>();
const destroy = Socket.prototype._destroy;

/** Remembers the socket of each error that destroys one. */
export function watchSockets(): void {
  Socket.prototype._destroy = function watched(error, done) {
    if (error !== null && error !== undefined) socketOf.set(error, describe(this));
    return destroy.call(this, error, done);
  };
}

/** The kind and local port of the socket that the error destroyed, and what listens to it; undefined for other errors. */
export function describeSocketOf(error: unknown): string | undefined {
  return typeof error === "object" && error !== null ? socketOf.get(error) : undefined;
}

function describe(socket: Socket): string {
  const protocol = socket instanceof TLSSocket ? `TLS with the protocol ${socket.alpnProtocol || "none"}` : "TCP";
  const isServer = "server" in socket && Boolean(socket.server);
  return `${isServer ? "accepted" : "opened"} socket, ${protocol}, port ${socket.localPort}, listeners of ${socket.eventNames().map(String).join()}`;
}
