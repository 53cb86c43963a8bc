import assert from "node:assert/strict";
import { generateKeyPairSync, X509Certificate } from "node:crypto";
import { test } from "node:test";
import { oddCertificate } from "../testing/odd-certificates.ts";
import { createAuthority, issueCertificate, type Leaf } from "./x509.ts";

const notBefore = Date.UTC(2026, 0, 1);
const leaf: Leaf = { subject: { commonName: "leaf" }, usage: "client", names: [], notBefore, notAfter: Date.UTC(2060, 0, 1) };
const readable = (pem: string): X509Certificate => new X509Certificate(pem);

test("an authority that others made: its name is taken to the byte, whatever it is written in", async () => {
  const authority = await oddCertificate({ subject: [{ C: ["DE"] }, { O: ["ü"] }, { "2.5.4.3": ["odd"] }], authority: {} });
  const made = readable(issueCertificate(authority, leaf).cert);
  assert.ok(made.checkIssued(readable(authority.cert)) && made.verify(readable(authority.cert).publicKey));
  assert.equal(made.validToDate.getTime(), leaf.notAfter);
});

test("names of people and groups are any text", () => {
  const authority = createAuthority({ subject: { commonName: "ca" }, notBefore, notAfter: leaf.notAfter });
  const { cert } = issueCertificate(authority, { ...leaf, subject: { commonName: "zoë@example.com", organizations: ["b", "a", "b"] } });
  assert.equal(readable(cert).subject, "O=b\nO=a\nO=b\nCN=zoë@example.com");
});

test("an authority with another kind of key is refused", () => {
  const { cert } = createAuthority({ subject: { commonName: "ca" }, notBefore, notAfter: leaf.notAfter });
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-384" });
  const authority = { cert, key: privateKey.export({ type: "pkcs8", format: "pem" }).toString() };
  assert.throws(() => issueCertificate(authority, leaf), { message: "the authority's key is not of the curve P-256" });
});
