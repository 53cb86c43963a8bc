/**
 * Private EC keys as PEM in the form of SEC1 (RFC 5915), as client-go writes them (`k8s.io/client-go@v0.36.0/util/keyutil/key.go`). Not every client
 * reads PKCS#8: the fabric8 client for Java does not.
 */
import { createPrivateKey, type KeyObject } from "node:crypto";
import { keepFile } from "../../apimachinery/keep-file.ts";
import type { Logger } from "../../apimachinery/logger.ts";

/** @param key of an elliptic curve */
export function formatSec1Key(key: KeyObject): string {
  return key.export({ type: "sec1", format: "pem" }).toString();
}

/**
 * Rewrites a file that this server wrote before it used SEC1.
 *
 * @param file of the server itself, never one that the user supplied
 * @param pem content of the file
 * @returns the key in SEC1, also when the file cannot be written; other forms and other kinds of keys stay as they are
 * @throws Error for PKCS#8 that cannot be read
 */
export async function upgradeKeyFile(file: string, pem: string, logger: Logger): Promise<string> {
  if (!pem.startsWith("-----BEGIN PRIVATE KEY-----")) return pem;
  const key = createPrivateKey(pem);
  if (key.asymmetricKeyType !== "ec") return pem;
  const sec1 = formatSec1Key(key);
  await keepFile(file, { contents: sec1, mode: 0o600 }, logger);
  return sec1;
}
