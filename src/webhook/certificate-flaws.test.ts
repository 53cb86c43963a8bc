import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { test } from "node:test";
import { loadX509 } from "../../test/support/load-x509.ts";
import { reportFlaws } from "./certificate-flaws.ts";

const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };

async function certificate(hash: string, names: readonly string[], issuer = "CN=authority"): Promise<X509Certificate> {
  const { SubjectAlternativeNameExtension, X509CertificateGenerator } = await loadX509();
  const keys = await crypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  const made = await X509CertificateGenerator.create({
    serialNumber: "01",
    subject: "CN=api.default.svc",
    issuer,
    publicKey: keys.publicKey,
    signingKey: keys.privateKey,
    signingAlgorithm: { name: "ECDSA", hash },
    extensions:
      names.length === 0
        ? []
        : [new SubjectAlternativeNameExtension(names.map((value) => ({ type: "dns" as const, value })))],
  });
  return new X509Certificate(made.toString("pem"));
}

const sound = await certificate("SHA-256", ["a"]);
const sha1 = await certificate("SHA-1", ["a"]);
const unnamed = await certificate("SHA-256", []);

const rows: [what: string, leaf: X509Certificate, rejection: Parameters<typeof reportFlaws>[1], reported: string][] = [
  ["a sound certificate", sound, undefined, ""],
  ["a certificate with names, for another server", sound, "other", ""],
  ["an accepted certificate without names", unnamed, undefined, "missing SAN"],
  ["a certificate whose common name would be valid", unnamed, "legacy name", "missing SAN"],
  ["an expired certificate without names", unnamed, "other", ""],
  ["an accepted SHA-1 signature", sha1, undefined, "SHA-1"],
  ["a SHA-1 signature that is not verified", sha1, "authority", "SHA-1"],
  ["a SHA-1 signature of a certificate for another server", sha1, "other", ""],
  [
    "a SHA-1 signature of a certificate that signed itself",
    await certificate("SHA-1", ["a"], "CN=api.default.svc"),
    undefined,
    "",
  ],
];
for (const [what, leaf, rejection, reported] of rows) {
  test(`${what} reports ${reported === "" ? "nothing" : reported}`, () => {
    const seen: string[] = [];
    const observer = { missingSan: () => seen.push("missing SAN"), insecureSha1: () => seen.push("SHA-1") };
    reportFlaws(leaf, rejection, observer);
    assert.equal(seen.join(), reported);
  });
}
