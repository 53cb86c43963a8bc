/** A TLS connection for hand-written HTTP/1.1, for tests of bytes that no library sends. */
import { once } from "node:events";
import tls from "node:tls";
import { credentialsOf } from "./kubeconfig-fields.ts";

export interface RawSocket {
  readonly socket: tls.TLSSocket;
  /** All received bytes, one character for each. */
  received(): string;
  /**
   * Waits until the received text matches or the connection is closed.
   *
   * @returns all received text
   */
  until(pattern: RegExp): Promise<string>;
  /** Waits until the connection is closed. @returns all received text */
  all(): Promise<string>;
}

/**
 * @param kubeconfig the text of a kubeconfig that this project wrote
 * @param credentials those of its user, unless given
 */
export async function rawSocket(
  kubeconfig: string,
  credentials: tls.ConnectionOptions = credentialsOf(kubeconfig),
): Promise<RawSocket> {
  const { hostname, port } = new URL(/server: (\S+)/.exec(kubeconfig)?.[1] as string);
  const options: tls.ConnectionOptions & { readonly allowHalfOpen: boolean } = {
    host: hostname,
    port: Number(port),
    ALPNProtocols: ["http/1.1"],
    allowHalfOpen: true,
    ...credentials,
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
  // A server may close the connection with a reset.
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

/**
 * A frame of a client.
 *
 * @param length the announced length, if it differs from that of the payload; below 65,536
 */
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
