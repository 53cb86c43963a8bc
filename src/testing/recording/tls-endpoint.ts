/** A server on 127.0.0.1 for one command: with an authority and a client certificate of its own. */
import type { Server } from "node:https";
import https from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { createCertificates } from "../../server/serving/certificates.ts";
import { formatKubeconfig } from "../../server/serving/kubeconfig.ts";

/** An open port, and what a client needs to use it. */
export interface TlsEndpoint {
  readonly server: Server;
  /** The only user that is accepted; its certificate ends with the process. */
  readonly kubeconfig: string;
  close(): Promise<void>;
}

/** Listens on a free port. Clients without the certificate of the kubeconfig are disconnected. */
export async function openTlsEndpoint(now: number): Promise<TlsEndpoint> {
  const { ca, serving, admin } = await createCertificates({ now, names: ["127.0.0.1", "localhost"] });
  const server = https.createServer({
    ...serving,
    ca: ca.cert,
    requestCert: true,
    rejectUnauthorized: true,
    requestTimeout: 0, // Bodies can be slow, and the command is trusted.
  });
  const sockets = new Set<Socket>(); // Upgraded connections are no longer those of the server.
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(0, "127.0.0.1", resolve);
  });
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    server,
    kubeconfig: formatKubeconfig(url, { caBundle: ca.cert, admin }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
