/**
 * The files with what is accepted: public keys or certificates of authorities in PEM (RFC 7468). A line before a block says until when it is accepted;
 * other programs ignore text between blocks.
 */
import { createPrivateKey, createPublicKey, type KeyObject, X509Certificate } from "node:crypto";
import { pemBlocks } from "../../lib/x509/pem-blocks.ts";

/** A public key, or the certificate of an authority. */
export interface AcceptedKey {
  readonly pem: string;
  readonly publicKey: KeyObject;
  /** Milliseconds since 1970, if its private key is no longer in use. */
  readonly until?: number;
}

const untilLine = /^# Accepted until (\S+)$/gm;

/** @throws Error when the text has something else, or nothing */
export function parseAccepted(text: string): AcceptedKey[] {
  let at = 0;
  const keys = pemBlocks(text).map(({ type, text: pem }) => {
    const before = text.slice(at, text.indexOf(pem, at));
    at = text.indexOf(pem, at) + pem.length;
    const [, until] = [...before.matchAll(untilLine)].at(-1) ?? [];
    const time = Date.parse(until ?? "");
    return { ...acceptedKey(pem.trim(), type), ...(!Number.isNaN(time) && { until: time }) };
  });
  if (keys.length === 0) throw new Error("it has no key and no certificate");
  return keys;
}

/** @throws Error when it is neither a certificate nor a public key; the message has no part of it */
function acceptedKey(pem: string, type: string): AcceptedKey {
  if (type !== "CERTIFICATE" && type !== "PUBLIC KEY") throw new Error(`a block is of the type ${type}`);
  try {
    return { pem, publicKey: type === "CERTIFICATE" ? new X509Certificate(pem).publicKey : createPublicKey(pem) };
  } catch (error) {
    throw new Error("a block is malformed", { cause: error });
  }
}

/** Formats what {@link parseAccepted} reads. */
export function formatAccepted(keys: readonly AcceptedKey[]): string {
  return keys
    .map(({ pem, until }) => {
      const line = until === undefined ? "" : `# Accepted until ${new Date(until).toISOString()}\n`;
      return `${line}${pem.trim()}\n`;
    })
    .join("");
}

/** Whether a private key belongs to a public one. @param privateKey PEM */
export function belongsTo(privateKey: string, { publicKey }: AcceptedKey): boolean {
  return createPublicKey(createPrivateKey(privateKey)).equals(publicKey);
}

/** When it is no longer accepted, in milliseconds since 1970; undefined: never. */
export function endOf({ pem, until }: AcceptedKey): number | undefined {
  const expiry = pem.includes("BEGIN CERTIFICATE") ? new X509Certificate(pem).validToDate.getTime() : undefined;
  if (until === undefined || expiry === undefined) return until ?? expiry;
  return Math.min(until, expiry);
}
