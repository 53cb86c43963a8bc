/** Waits until a webhook in another process can be called. */
import type { Socket } from "node:net";
import { waitUntil } from "../eventually.ts";
import type { WebhookAuthority } from "./authority.ts";
import type { WebhookTarget } from "./target.ts";

const listensMs = 10_000;
const connectMs = 2000;

/**
 * Waits for a connection, which for an `https` URL includes the check of the certificate.
 * @throws Error when there is none in ten seconds, or the caller has gone
 */
export async function waitForListener(
  { url, caBundle, signal }: WebhookTarget,
  authority: WebhookAuthority,
): Promise<void> {
  const { protocol, hostname, port } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, "");
  const isTls = protocol === "https:";
  const ca = caBundle ?? (isTls ? await authority.ca() : "");
  const isGone = (): boolean => signal?.aborted === true;
  try {
    await waitUntil(async () => {
      if (!isGone()) await connect({ host, port: Number(port || (isTls ? 443 : 80)), ...(isTls && { ca }) });
    }, listensMs);
  } catch (error) {
    const { cause } = error as Error;
    throw new Error(`the webhook ${url} cannot be called: ${cause instanceof Error ? cause.message : String(error)}`);
  }
  if (isGone()) throw new Error("the client has gone");
}

interface Target {
  readonly host: string;
  readonly port: number;
  /** For TLS. */
  readonly ca?: string;
}

/** Connects and disconnects. @throws Error when that is not possible */
async function connect({ host, port, ca }: Target): Promise<void> {
  const [net, tls] = await Promise.all([import("node:net"), ca === undefined ? undefined : import("node:tls")]);
  await new Promise<void>((resolve, reject) => {
    const ready = (): void => {
      socket.destroy();
      resolve();
    };
    const isName = net.isIP(host) === 0;
    const socket: Socket =
      tls === undefined
        ? net.connect({ host, port }, ready)
        : tls.connect({ host, port, ca: ca as string, ...(isName && { servername: host }) }, ready);
    socket.once("error", reject);
    socket.setTimeout(connectMs, () => socket.destroy(new Error("it does not accept the connection in time")));
  });
}
