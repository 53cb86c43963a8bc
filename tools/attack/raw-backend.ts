/** A server over TLS that answers with any bytes: a webhook or a kubelet that misbehaves. */
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import tls from "node:tls";
import { createAuthority, issueCertificate } from "../../src/server/serving/x509.ts";

export interface RawBackend {
  readonly port: number;
  /** PEM of the authority of its certificate. */
  readonly ca: string;
  close(): Promise<void>;
}

/** A whole request. */
export interface BackendRequest {
  /** From the first line. */
  readonly path: string;
  readonly body: string;
}

const hour = 3_600_000;

/** @param answer the bytes of the answer, after which the connection ends */
export async function startRawBackend(host: string, answer: (request: BackendRequest) => string): Promise<RawBackend> {
  const validity = { notBefore: Date.now() - hour, notAfter: Date.now() + hour };
  const authority = await createAuthority({ subject: { commonName: "attack" }, ...validity });
  const subject = { commonName: "backend" };
  const serving = await issueCertificate(authority, { subject, usage: "server", names: [host], ...validity });
  const sockets = new Set<tls.TLSSocket>();
  const server = tls.createServer({ ...serving, ALPNProtocols: ["http/1.1"] }, (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => socket.destroy()); // The attacked server may reset the connection.
    let received = "";
    socket.on("data", (piece: Buffer) => {
      received += piece.toString("latin1");
      const request = wholeRequest(received);
      if (request !== undefined) socket.end(answer(request), "latin1");
    });
  });
  server.listen(0, host);
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    ca: authority.cert,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

function wholeRequest(text: string): BackendRequest | undefined {
  const end = text.indexOf("\r\n\r\n");
  if (end < 0) return undefined;
  const length = Number(/^content-length: *(\d+)/im.exec(text.slice(0, end))?.[1] ?? 0);
  const body = text.slice(end + 4);
  return body.length < length ? undefined : { path: text.split(" ", 2)[1] ?? "", body };
}
