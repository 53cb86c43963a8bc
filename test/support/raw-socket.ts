/** A TLS connection that speaks HTTP/1.1 by hand, for tests that send what no library would. */
import { once } from "node:events";
import tls from "node:tls";
import { field } from "./kubeconfig-fields.ts";

export interface RawSocket {
  readonly socket: tls.TLSSocket;
  /** All that came so far, a character a byte. */
  received(): string;
  /** Waits until what came matches, or the connection is over. @returns all that came so far */
  until(pattern: RegExp): Promise<string>;
  /** Waits until the connection is over. @returns all that came */
  all(): Promise<string>;
}

/** @param kubeconfig text that this project wrote */
export async function rawSocket(kubeconfig: string): Promise<RawSocket> {
  const { hostname, port } = new URL(/server: (\S+)/.exec(kubeconfig)?.[1] as string);
  const options: tls.ConnectionOptions & { readonly allowHalfOpen: boolean } = {
    host: hostname,
    port: Number(port),
    ALPNProtocols: ["http/1.1"],
    allowHalfOpen: true,
    ca: field(kubeconfig, "certificate-authority-data"),
    cert: field(kubeconfig, "client-certificate-data"),
    key: field(kubeconfig, "client-key-data"),
  };
  const socket = tls.connect(options);
  let received = "";
  let over = false;
  let look = (): void => {};
  const end = (): void => {
    over = true;
    look();
  };
  socket.on("data", (piece) => {
    received += piece.toString("latin1");
    look();
  });
  // A server that cuts the connection may do so with a reset.
  socket.on("end", end).on("close", end).on("error", end);
  await once(socket, "secureConnect");
  const until = (pattern: RegExp | undefined): Promise<string> =>
    new Promise((resolve) => {
      look = () => {
        if (!over && pattern?.test(received) !== true) return;
        look = () => {};
        resolve(received);
      };
      look();
    });
  return { socket, received: () => received, until, all: () => until(undefined) };
}

/** A frame as a client sends it. @param length announced, when it is another than the payload's; below 65,536 */
export function clientFrame(
  firstByte: number,
  payload: Buffer | string = "",
  length = Buffer.byteLength(payload),
): Buffer {
  const mask = Buffer.from([1, 2, 3, 4]);
  const masked = Buffer.from(payload).map((byte, index) => byte ^ (mask[index % 4] as number));
  const head =
    length < 126
      ? Buffer.from([firstByte, 0x80 | length])
      : Buffer.from([firstByte, 0x80 | 126, length >> 8, length & 0xff]);
  return Buffer.concat([head, mask, masked]);
}
