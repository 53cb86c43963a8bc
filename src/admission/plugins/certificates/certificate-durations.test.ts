/** Which durations of certificates count as honored. */
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { loadX509 } from "../../../../test/support/load-x509.ts";
import type { AdmissionAttributes } from "../../../registry/admission-attributes.ts";
import { certificateDurations } from "./certificate-durations.ts";

interface Row {
  readonly what: string;
  readonly spec?: object;
  readonly issuedSeconds?: number;
  readonly change?: Partial<Pick<AdmissionAttributes, "dryRun" | "subresource">>;
  readonly old?: object;
  readonly seen: readonly unknown[];
}

const client = "kubernetes.io/kube-apiserver-client";
const rows: readonly Row[] = [
  { what: "the requested duration", seen: [client, true] },
  { what: "another signer", spec: { signerName: "example.com/a" }, seen: ["other", true] },
  { what: "a shorter duration, within the tolerance", issuedSeconds: 3600 - 479, seen: [client, true] },
  { what: "a shorter duration", issuedSeconds: 3600 - 480, seen: [client, false] },
  { what: "a longer duration", issuedSeconds: 3600 + 480, seen: [client, false] },
  { what: "no requested duration", spec: { expirationSeconds: undefined }, seen: [] },
  { what: "a dry run", change: { dryRun: true }, seen: [] },
  { what: "an approval", change: { subresource: "approval" }, seen: [] },
  { what: "an earlier certificate", old: { status: { certificate: "YQ==" } }, seen: [] },
  { what: "a certificate that cannot be read", issuedSeconds: 0, seen: [client, false] },
];
const certificates = new Map<number, string>();

before(async () => {
  const { X509CertificateGenerator } = await loadX509();
  const signingAlgorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
  const keys = await crypto.subtle.generateKey(signingAlgorithm, true, ["sign", "verify"]);
  const notBefore = new Date("2026-01-01T00:00:00Z");
  for (const { issuedSeconds = 3600 } of rows) {
    const notAfter = new Date(notBefore.getTime() + 1000 * issuedSeconds);
    const generated = await X509CertificateGenerator.createSelfSigned({
      name: "CN=a",
      keys,
      signingAlgorithm,
      notBefore,
      notAfter,
    });
    const text = issuedSeconds === 0 ? "nothing" : generated.toString("pem");
    certificates.set(issuedSeconds, Buffer.from(text).toString("base64"));
  }
});

for (const { what, spec = {}, issuedSeconds = 3600, change = {}, old = {}, seen } of rows)
  test(what, async () => {
    const issued: unknown[] = [];
    const plugin = certificateDurations({ issued: (...one) => void issued.push(...one) });
    const object = { spec: { signerName: client, expirationSeconds: 3600, ...spec } };
    const definition = { group: "certificates.k8s.io", resource: "certificatesigningrequests" };
    const attributes = {
      target: { resource: { definition } },
      operation: "UPDATE",
      subresource: "status",
      dryRun: false,
      oldObject: { ...object, ...old },
      object: { ...object, status: { certificate: certificates.get(issuedSeconds) } },
      done: [] as (() => void)[],
      ...change,
    };
    await plugin.authorize?.(attributes as unknown as AdmissionAttributes);
    assert.deepEqual(issued, []);
    for (const run of attributes.done) run();
    assert.deepEqual(issued, seen);
  });
