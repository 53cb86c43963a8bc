import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { before, test } from "node:test";
import { createAuthority } from "../../server/serving/x509.ts";
import { keyPairProblem } from "./key-pair.ts";

const pem = (type: string, text = "junk"): string =>
  `-----BEGIN ${type}-----\n${Buffer.from(text).toString("base64")}\n-----END ${type}-----\n`;
const ecKey = (type: "pkcs8" | "sec1"): string =>
  generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({ type, format: "pem" }) as string;

let own: { readonly cert: string; readonly key: string };
before(async () => {
  const { cert, key } = await createAuthority({
    subject: { commonName: "a" },
    notBefore: Date.now() - 1000,
    notAfter: Date.now() + 1000,
  });
  own = { cert, key };
});

const rows: [what: string, certificate: () => string, key: () => string, problem: string | undefined][] = [
  ["a matching pair", () => own.cert, () => own.key, undefined],
  [
    "a matching pair after other PEM blocks",
    () => pem("X") + own.cert,
    () => pem("EC PARAMETERS") + own.key,
    undefined,
  ],
  ["no PEM data", () => "", () => "", "tls: failed to find any PEM data in certificate input"],
  ["no key", () => own.cert, () => "x", "tls: failed to find any PEM data in key input"],
  [
    "certificate and key switched",
    () => own.key,
    () => own.cert,
    "tls: failed to find certificate PEM data in certificate input, but did find a private key; PEM inputs may have been switched",
  ],
  [
    "a certificate instead of the key",
    () => own.cert,
    () => own.cert,
    "tls: found a certificate rather than a key in the PEM for the private key",
  ],
  [
    "other blocks instead of the certificate",
    () => pem("A") + pem("B"),
    () => own.key,
    'tls: failed to find "CERTIFICATE" PEM block in certificate input after skipping PEM blocks of the following types: [A B]',
  ],
  [
    "other blocks instead of the key",
    () => own.cert,
    () => pem("A") + pem("B"),
    'tls: failed to find PEM block with type ending in "PRIVATE KEY" in key input after skipping PEM blocks of the following types: [A B]',
  ],
  ["a damaged certificate", () => pem("CERTIFICATE"), () => own.key, "x509: malformed certificate"],
  ["a damaged key", () => own.cert, () => pem("PRIVATE KEY"), "tls: failed to parse private key"],
  ["another PKCS#8 key", () => own.cert, () => ecKey("pkcs8"), "tls: private key does not match public key"],
  ["another SEC 1 key", () => own.cert, () => ecKey("sec1"), "tls: private key does not match public key"],
  [
    "a key of another type",
    () => own.cert,
    () => generateKeyPairSync("ed25519").privateKey.export({ type: "pkcs8", format: "pem" }) as string,
    "tls: private key type does not match public key type",
  ],
  [
    "a key that cannot sign",
    () => own.cert,
    () => generateKeyPairSync("x25519").privateKey.export({ type: "pkcs8", format: "pem" }) as string,
    "tls: found unknown private key type in PKCS#8 wrapping",
  ],
  [
    "a key of a type that Go does not support",
    () => own.cert,
    () => generateKeyPairSync("x448").privateKey.export({ type: "pkcs8", format: "pem" }) as string,
    "tls: failed to parse private key",
  ],
];

for (const [what, certificate, key, problem] of rows)
  test(`${problem === undefined ? "accepts" : "rejects"} ${what}`, () =>
    assert.equal(keyPairProblem(certificate(), key()), problem));
