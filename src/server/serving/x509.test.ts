import assert from "node:assert/strict";
import { createPublicKey, generateKeyPairSync, type KeyObject, X509Certificate } from "node:crypto";
import { test } from "node:test";
import { loadX509 } from "../../../test/support/load-x509.ts";
import { createAuthority, issueCertificate, type KeyPair } from "./x509.ts";

const x509 = await loadX509();
const start = Date.UTC(2026, 0, 2, 3, 4, 5);
const life = { notBefore: start, notAfter: start + 3_600_000 };
const leaf = { subject: { commonName: "leaf" }, usage: "client", names: [], ...life } as const;

/** Authorities of other programs: their kinds of keys, their names, and the identifiers that they chose for their keys. */
const authorityRows: [
  what: string,
  algorithm: { name: string; namedCurve?: string; modulusLength?: number },
  keyId: string | undefined,
][] = [
  ["P-256", { name: "ECDSA", namedCurve: "P-256" }, "0102"],
  ["P-384, and 20 bytes of SHA-256", { name: "ECDSA", namedCurve: "P-384" }, "ab".repeat(20)],
  ["P-521, without an identifier", { name: "ECDSA", namedCurve: "P-521" }, undefined],
  ["RSA", { name: "RSASSA-PKCS1-v1_5", modulusLength: 2048 }, "cd".repeat(32)],
];
for (const [what, algorithm, keyId] of authorityRows) {
  test(`issues a certificate with the key of another program: ${what}`, async () => {
    const authority = await foreignAuthority(algorithm, keyId);
    const issuer = new X509Certificate(authority.cert);
    const issued = new X509Certificate((await issueCertificate(authority, leaf)).cert);
    assert.ok(issued.checkIssued(issuer), "also compares the identifiers of the key");
    assert.ok(issued.verify(issuer.publicKey));
    assert.equal(issued.issuer, issuer.subject);
  });
}

test("rejects an authority whose key cannot sign certificates", async () => {
  const { cert } = await createAuthority({ subject: { commonName: "ca" }, ...life });
  const { privateKey } = generateKeyPairSync("ed25519");
  await assert.rejects(issueCertificate({ cert, key: pem(privateKey) }, leaf), {
    message: "keys of type ed25519 cannot sign here: RSA, P-256, P-384 and P-521 can",
  });
});

test("certificates have the fields of their options", async () => {
  const authority = await createAuthority({ subject: { commonName: "ca" }, ...life });
  const subject = { commonName: 'Zoë #"\\', organizations: ["a", `b_${"c".repeat(300)}`] };
  const names = ["example.com", "127.0.0.1", "::1", "2001:db8::ffff:1.2.3.4"];
  const { cert, key } = await issueCertificate(authority, { ...leaf, subject, usage: "server", names });
  const read = new x509.X509Certificate(cert);
  assert.deepEqual(
    read.subjectName.toJSON().flatMap((rdn) => Object.entries(rdn)),
    [...subject.organizations.map((one) => ["O", [one]]), ["CN", [subject.commonName]]],
  );
  assert.equal(read.issuer, "CN=ca");
  assert.deepEqual([read.notBefore.getTime(), read.notAfter.getTime()], [life.notBefore, life.notAfter]);
  assert.deepEqual(
    Array.from(read.extensions, ({ type, critical }) => [type, critical]),
    [
      ["2.5.29.19", true],
      ["2.5.29.15", true],
      ["2.5.29.37", false],
      ["2.5.29.35", false],
      ["2.5.29.17", false],
    ],
  );
  assert.equal(read.getExtension(x509.KeyUsagesExtension)?.usages, x509.KeyUsageFlags.digitalSignature);
  assert.deepEqual(
    read.getExtension(x509.SubjectAlternativeNameExtension)?.names.items.map(({ value }) => value),
    ["example.com", "127.0.0.1", "::1", "2001:db8::ffff:102:304"],
  );
  assert.ok(new X509Certificate(cert).publicKey.equals(createPublicKey(key)));
  const { usages } = new x509.X509Certificate(authority.cert).getExtension(x509.KeyUsagesExtension) ?? {};
  const { digitalSignature, keyCertSign, cRLSign } = x509.KeyUsageFlags;
  assert.equal(usages, digitalSignature | keyCertSign | cRLSign);
});

for (const [what, notAfter] of [
  ["the last second with a year of two digits", Date.UTC(2049, 11, 31, 23, 59, 59)],
  ["the first second with a year of four digits", Date.UTC(2050, 0, 1)],
] as const) {
  test(`a certificate is valid until ${what}`, async () => {
    const { cert } = await createAuthority({ subject: { commonName: "ca" }, notBefore: start + 999, notAfter });
    const { validFromDate, validToDate } = new X509Certificate(cert);
    assert.deepEqual([validFromDate.getTime(), validToDate.getTime()], [start, notAfter]);
  });
}

test("serial numbers are positive, and differ", async () => {
  const created = Array.from({ length: 20 }, () => createAuthority({ subject: { commonName: "ca" }, ...life }));
  const serials = (await Promise.all(created)).map(({ cert }) => new X509Certificate(cert).serialNumber);
  assert.equal(new Set(serials).size, serials.length);
  for (const serial of serials) assert.match(serial, /^[4-7][0-9A-F]{31}$/);
});

const pem = (key: KeyObject): string => key.export({ type: "pkcs8", format: "pem" }).toString();

async function foreignAuthority(algorithm: object, keyId: string | undefined): Promise<KeyPair> {
  const parameters = { hash: "SHA-256", publicExponent: new Uint8Array([1, 0, 1]), ...algorithm };
  const keys: { publicKey: CryptoKey; privateKey: CryptoKey } = await crypto.subtle.generateKey(
    parameters as never,
    true,
    ["sign", "verify"] as never,
  );
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: "O=Example + OU=Tests, CN=root",
    notBefore: new Date(life.notBefore),
    notAfter: new Date(life.notAfter),
    signingAlgorithm: parameters as never,
    keys,
    extensions: [
      new x509.BasicConstraintsExtension(true, undefined, true),
      ...(keyId === undefined ? [] : [new x509.SubjectKeyIdentifierExtension(keyId)]),
    ],
  });
  const key = await crypto.subtle.exportKey("pkcs8", keys.privateKey);
  return {
    cert: certificate.toString("pem"),
    key: `-----BEGIN PRIVATE KEY-----\n${Buffer.from(key).toString("base64")}\n-----END PRIVATE KEY-----\n`,
  };
}
