/** Checks that a certificate and a private key belong together. Messages are those of Go's `tls.X509KeyPair`. */
import { createPrivateKey, type KeyObject } from "node:crypto";
import tls from "node:tls";
import { parseCertificates } from "../../lib/x509/pem.ts";
import type { KeyPair } from "./x509.ts";

/** @throws Error with the problem, without any part of the key */
export function checkKeyPair({ cert, key }: KeyPair): void {
  const found = blockNames(cert);
  if (!found.includes("CERTIFICATE")) {
    if (found.length === 0) throw new Error("tls: failed to find any PEM data in certificate input");
    if (found.length === 1 && found[0]?.endsWith("PRIVATE KEY"))
      throw new Error(
        "tls: failed to find certificate PEM data in certificate input, but did find a private key; PEM inputs may have been switched",
      );
    throw new Error(
      `tls: failed to find "CERTIFICATE" PEM block in certificate input after skipping PEM blocks of the following types: [${found.join(" ")}]`,
    );
  }
  const blocks = blockNames(key);
  if (!blocks.some((name) => name.endsWith("PRIVATE KEY"))) {
    if (blocks.length === 0) throw new Error("tls: failed to find any PEM data in key input");
    if (blocks.length === 1 && blocks[0] === "CERTIFICATE")
      throw new Error("tls: found a certificate rather than a key in the PEM for the private key");
    throw new Error(
      `tls: failed to find PEM block with type ending in "PRIVATE KEY" in key input after skipping PEM blocks of the following types: [${blocks.join(" ")}]`,
    );
  }
  const [leaf] = parseCertificates(cert);
  if (leaf?.checkPrivateKey(readKey(key)) !== true) throw new Error("tls: private key does not match public key");
  tls.createSecureContext({ cert, key }); // OpenSSL has further rules, such as minimum key lengths.
}

function readKey(pem: string): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch (error) {
    throw new Error("tls: failed to parse private key", { cause: error });
  }
}

function blockNames(pem: string): string[] {
  return [...pem.matchAll(/-----BEGIN ([A-Z0-9 ]+)-----/g)].map(([, name]) => name as string);
}
