import assert from "node:assert/strict";
import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { test } from "node:test";
import { readPublicKeys, readSigningKey } from "./keys.ts";

const ec = (namedCurve: string): KeyObject => generateKeyPairSync("ec", { namedCurve }).privateKey;
const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 });
const text = (key: KeyObject, type: "pkcs8" | "pkcs1" | "sec1" | "spki" = "pkcs8"): string =>
  key.export({ type: type as "pkcs8", format: "pem" }).toString();

const es256 = ec("P-256");
const es384 = ec("P-384");
const k1 = ec("secp256k1");
const ed25519 = generateKeyPairSync("ed25519").privateKey;
const parameters = "-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n";
const broken = "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n";

const signing: [what: string, pem: string, want: string | RegExp][] = [
  ["PKCS #8", text(es256), "ES256"],
  ["SEC 1 after its parameters", parameters + text(es256, "sec1"), "ES256"],
  ["PKCS #1", text(rsa.privateKey, "pkcs1"), "RS256"],
  [
    "after a public key, an invalid key and a key of another kind",
    text(rsa.publicKey, "spki") + broken + text(ed25519) + text(es384),
    "ES384",
  ],
  ["with surrounding text", `hello\n${text(es256)}bye\n`, "ES256"],
  ["the first of two", text(es384) + text(es256), "ES384"],
  [
    "another curve",
    text(k1),
    /^failed to build token generator: .*: unknown private key curve, must be 256, 384, or 521$/,
  ],
  [
    "a public key",
    text(rsa.publicKey, "spki"),
    /^failed to parse service-account-issuer-key-file: error reading private key file f: data does not contain a valid RSA or ECDSA private key$/,
  ],
  ["an empty file", "", /does not contain a valid RSA or ECDSA private key$/],
];
for (const [what, pem, want] of signing) {
  test(`signing key: ${what}`, () => {
    const read = (): string => readSigningKey(pem, "f").public.algorithm;
    if (typeof want === "string") assert.equal(read(), want);
    else assert.throws(read, { message: want });
  });
}

const accepted: [what: string, pem: string, want: string[] | RegExp][] = [
  [
    "public and private keys of several kinds",
    text(rsa.publicKey, "spki") + text(es256) + parameters + text(es384, "sec1"),
    ["RS256", "ES256", "ES384"],
  ],
  ["PKCS #1", text(rsa.publicKey, "pkcs1" as "spki"), ["RS256"]],
  ["with unsupported keys", broken + text(ed25519) + text(k1) + text(es256), ["ES256"]],
  [
    "unsupported keys only",
    broken + text(ed25519),
    /^error reading public key file f: data does not contain any valid RSA or ECDSA public keys$/,
  ],
];
for (const [what, pem, want] of accepted) {
  test(`public keys: ${what}`, () => {
    const read = (): string[] => readPublicKeys(pem, "f").map(({ algorithm }) => algorithm);
    if (Array.isArray(want)) assert.deepEqual(read(), want);
    else assert.throws(read, { message: want });
  });
}
