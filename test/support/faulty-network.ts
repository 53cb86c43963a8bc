/** TCP connections between processes, which tests cut and stall. */
import net from "node:net";

/** Cut connections are closed, and new ones too; stalled ones stay open and transmit nothing. */
export type LinkState = "open" | "cut" | "stalled";

/** A port that forwards to another one. */
export interface Link {
  readonly port: number;
  /** @param source as `sourceOf` has returned it */
  set(state: LinkState, source?: string): void;
  close(): void;
}

interface Connection {
  /** Undefined until the first bytes have shown it. */
  source: string | undefined;
  readonly incoming: net.Socket;
  readonly outgoing: net.Socket;
}

/**
 * @param port the port of the server on 127.0.0.1
 * @param sourceOf finds the client in the first bytes that it sends; all are one when unset
 */
export async function openLink(port: number, sourceOf?: (first: Buffer) => string): Promise<Link> {
  const states = new Map<string, LinkState>();
  const connections = new Set<Connection>();
  const apply = (connection: Connection): void => {
    const { source, incoming, outgoing } = connection;
    const state = source === undefined ? "open" : (states.get(source) ?? "open");
    for (const socket of [incoming, outgoing]) {
      if (state === "cut") socket.destroy();
      else if (state === "stalled") socket.pause();
      else socket.resume();
    }
  };
  const server = net.createServer((incoming) => {
    const outgoing = net.connect(port, "127.0.0.1");
    const connection: Connection = { source: sourceOf === undefined ? "" : undefined, incoming, outgoing };
    connections.add(connection);
    const stateOf = (): LinkState => states.get(connection.source ?? "") ?? "open";
    const forward = (from: net.Socket, to: net.Socket): void => {
      from.on("data", (bytes: Buffer) => {
        if (connection.source === undefined && from === incoming) {
          connection.source = sourceOf?.(bytes) ?? "";
          if (stateOf() === "cut") return apply(connection);
        }
        if (!to.write(bytes)) from.pause();
        if (stateOf() === "stalled") apply(connection);
      });
      to.on("drain", () => stateOf() === "stalled" || from.resume());
      from.on("error", () => from.destroy());
      from.on("close", () => {
        connections.delete(connection);
        to.destroy();
      });
    };
    forward(incoming, outgoing);
    forward(outgoing, incoming);
    apply(connection);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as net.AddressInfo).port,
    set(state, source = "") {
      states.set(source, state);
      for (const connection of connections) if (connection.source === source) apply(connection);
    },
    close() {
      server.close();
      for (const { incoming, outgoing } of connections) {
        incoming.destroy();
        outgoing.destroy();
      }
    },
  };
}
