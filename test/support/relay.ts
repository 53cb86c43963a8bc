/** A TCP relay in front of a server whose connections a test can break. */
import net from "node:net";

export interface Relay {
  readonly port: number;
  /** Breaks all connections; later ones work again. */
  cut(): void;
  close(): void;
}

/** @param port the port of the server on 127.0.0.1 */
export async function openRelay(port: number): Promise<Relay> {
  const sockets = new Set<net.Socket>();
  const relay = net.createServer((incoming) => {
    const outgoing = net.connect(port, "127.0.0.1");
    for (const socket of [incoming, outgoing]) {
      sockets.add(socket);
      socket.on("error", () => socket.destroy());
      socket.on("close", () => {
        sockets.delete(socket);
        incoming.destroy();
        outgoing.destroy();
      });
    }
    incoming.pipe(outgoing);
    outgoing.pipe(incoming);
  });
  await new Promise<void>((resolve) => relay.listen(0, "127.0.0.1", resolve));
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: (relay.address() as net.AddressInfo).port,
    cut,
    close() {
      relay.close();
      cut();
    },
  };
}
