import assert from "node:assert/strict";
import { test } from "node:test";
import { loadX509 } from "../../../test/support/load-x509.ts";
import { certificateRequestProblem, parseCertificateRequest } from "./certificate-request.ts";

const { Pkcs10CertificateRequestGenerator } = await loadX509();
const rsa = { modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]) };
const rows: [what: string, algorithm: { name: string; [parameter: string]: unknown }][] = [
  ["P-256 and SHA-256", { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" }],
  ["P-384 and SHA-384", { name: "ECDSA", namedCurve: "P-384", hash: "SHA-384" }],
  ["P-521 and SHA-512", { name: "ECDSA", namedCurve: "P-521", hash: "SHA-512" }],
  ["P-256 and SHA-1", { name: "ECDSA", namedCurve: "P-256", hash: "SHA-1" }],
  ["RSA and SHA-256", { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256", ...rsa }],
  ["RSA and SHA-512", { name: "RSASSA-PKCS1-v1_5", hash: "SHA-512", ...rsa }],
  ["RSA-PSS and SHA-384", { name: "RSA-PSS", hash: "SHA-384", saltLength: 48, ...rsa }],
  ["Ed25519", { name: "Ed25519" }],
];
for (const [what, algorithm] of rows) {
  test(`accepts a request that is signed with its own key, and no other: ${what}`, async () => {
    const [own, other] = await Promise.all([request(algorithm), request(algorithm)]);
    const parsed = await parseCertificateRequest(own);
    assert.ok(parsed.isSigned());
    assert.deepEqual(parsed.subject, { commonNames: ["Zoë"], organizations: ["a", "b"] });
    assert.equal(await certificateRequestProblem(fieldOf(own)), undefined);
    const mixed = Buffer.concat([own.subarray(0, own.length - 40), other.subarray(other.length - 40)]);
    assert.ok(!(await parseCertificateRequest(mixed)).isSigned());
    assert.equal(await certificateRequestProblem(fieldOf(mixed)), "x509: the signature is not that of the key");
  });
}

/** Object identifiers as DER; both are of the same length. */
const ecdsaSha256 = Buffer.from("2a8648ce3d040302", "hex");
test("rejects a signature whose algorithm is unknown", async () => {
  const der = await request({ name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" });
  der[der.lastIndexOf(ecdsaSha256) + ecdsaSha256.length - 1] = 0x7f;
  assert.equal(await certificateRequestProblem(fieldOf(der)), "asn1: the algorithm of the signature is unknown");
});

test("rejects a signature whose algorithm is not that of the key's kind", async () => {
  const der = await request({ name: "RSASSA-PKCS1-v1_5", hash: "SHA-256", ...rsa });
  // sha256WithRSAEncryption of nine bytes becomes ecdsa-with-SHA256 of eight, followed by a NULL of one byte more.
  const at = der.lastIndexOf(Buffer.from("06092a864886f70d01010b0500", "hex"));
  Buffer.from("06082a8648ce3d040302040100", "hex").copy(der, at);
  assert.equal(
    await certificateRequestProblem(fieldOf(der)),
    "asn1: the algorithm of the signature is for keys of type ec",
  );
});

test("rejects each beginning of a request", async () => {
  const der = await request({ name: "Ed25519" });
  for (let length = 0; length < der.length; length++)
    await assert.rejects(parseCertificateRequest(der.subarray(0, length)), Error, `${length} bytes`);
});

async function request(algorithm: object): Promise<Buffer> {
  const keys = (await crypto.subtle.generateKey(algorithm as never, true, ["sign", "verify"])) as unknown as {
    readonly publicKey: CryptoKey;
    readonly privateKey: CryptoKey;
  };
  const created = await Pkcs10CertificateRequestGenerator.create({
    name: "O=a, O=b, CN=Zoë",
    keys,
    signingAlgorithm: algorithm as never,
  });
  return Buffer.from(created.rawData);
}

function fieldOf(der: Buffer): string {
  const pem = `-----BEGIN CERTIFICATE REQUEST-----\n${der.toString("base64")}\n-----END CERTIFICATE REQUEST-----\n`;
  return Buffer.from(pem).toString("base64");
}
