import assert from "node:assert/strict";
import { test } from "node:test";
import { anyCertificate, certificateRequest } from "../../../test/support/certificate-request.ts";
import { FieldErrors } from "../../apimachinery/field-errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import type { StrategyContext } from "../../catalog/strategy-contract.ts";
import { certificateSigningRequest } from "./signing-request.ts";

const context = { now: Date.parse("2026-01-02T03:04:05Z") } as StrategyContext;
const base64 = (text: string): string => Buffer.from(text).toString("base64");
/** Its signature is invalid, because the last byte differs. */
const tampered = base64(
  Buffer.from(certificateRequest, "base64")
    .toString()
    .replace(/.(=*\n-----END)/, (all) => (all[0] === "A" ? `B${all.slice(1)}` : `A${all.slice(1)}`)),
);

const csr = (spec: object, status: object = {}): KubeObject => ({ metadata: { name: "r" }, spec, status });
const good = { request: certificateRequest, signerName: "example.com/s", usages: ["client auth"] };
const specRows: [what: string, spec: object, want: string | RegExp][] = [
  ["a valid request", {}, ""],
  [
    "a request without PEM",
    { request: "eA==" },
    'spec.request: Invalid value: "eA==": PEM block type must be CERTIFICATE REQUEST',
  ],
  ["a certificate", { request: anyCertificate }, /: PEM block type must be CERTIFICATE REQUEST$/],
  [
    "a malformed request",
    { request: base64("-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n-----END CERTIFICATE REQUEST-----\n") },
    /: asn1: /,
  ],
  ["another signature", { request: tampered }, /^spec\.request: Invalid value: "[\w=]+": (?:x509|asn1): /],
  ["no signer", { signerName: "" }, "spec.signerName: Required value"],
  [
    "the legacy signer",
    { signerName: "kubernetes.io/legacy-unknown" },
    'spec.signerName: Invalid value: "kubernetes.io/legacy-unknown": the legacy signerName is not allowed via this API version',
  ],
  [
    "a signer without a path",
    { signerName: "example.com" },
    "spec.signerName: Invalid value: \"example.com\": must be a fully qualified domain and path of the form 'example.com/signer-name'",
  ],
  [
    "a signer without a domain",
    { signerName: "a/b" },
    'spec.signerName: Invalid value: "a": should be a domain with at least two segments separated by dots',
  ],
  [
    "a signer in upper case",
    { signerName: "Example.com/s" },
    /^spec\.signerName: Invalid value: "Example\.com": validating label "Example": a lowercase RFC 1123 label/,
  ],
  [
    "a path in upper case",
    { signerName: "example.com/S" },
    /^spec\.signerName: Invalid value: "S": validating label "S": a lowercase RFC 1123 subdomain/,
  ],
  ["no usages", { usages: undefined }, "spec.usages: Required value"],
  [
    "an unknown usage",
    { usages: ["foo"] },
    /^spec\.usages\[0\]: Unsupported value: "foo": supported values: "any", "cert sign", .*, "timestamping"$/,
  ],
  ["a usage twice", { usages: ["any", "any"] }, 'spec.usages[1]: Duplicate value: "any"'],
  [
    "a duration that is too short",
    { expirationSeconds: 599 },
    "spec.expirationSeconds: Invalid value: 599: may not specify a duration less than 600 seconds (10 minutes)",
  ],
];
for (const [what, spec, want] of specRows) {
  test(`create: ${what}`, async () => {
    const errors = new FieldErrors();
    await certificateSigningRequest.validate(csr({ ...good, ...spec }), errors, context);
    if (typeof want === "string") assert.equal(errors.text, want);
    else assert.match(errors.text, want);
  });
}

const approved = {
  type: "Approved",
  status: "True",
  lastUpdateTime: "2025-01-01T00:00:00Z",
  lastTransitionTime: "2025-01-01T00:00:00Z",
};
const denied = { ...approved, type: "Denied" };
const failed = { ...approved, type: "Failed" };
const filled = { lastUpdateTime: "2026-01-02T03:04:05Z", lastTransitionTime: "2026-01-02T03:04:05Z" };
const statusRows: [what: string, old: object, next: object, want: object | string][] = [
  ["a certificate", {}, { certificate: anyCertificate }, { certificate: anyCertificate }],
  [
    "an approval",
    {},
    { conditions: [{ type: "Approved", status: "True" }] },
    'status.conditions: Forbidden: updates may not add a condition of type "Approved"',
  ],
  [
    "a denial",
    { conditions: [approved] },
    { conditions: [approved, denied] },
    'may not add a condition of type "Denied"',
  ],
  [
    "a removed approval",
    { conditions: [approved] },
    {},
    'status.conditions: Forbidden: updates may not remove a condition of type "Approved"',
  ],
  [
    "a removed failure",
    { conditions: [failed] },
    {},
    'status.conditions: Forbidden: updates may not remove a condition of type "Failed"',
  ],
  [
    "a second approval",
    { conditions: [approved] },
    { conditions: [{ ...approved, reason: "x" }] },
    { conditions: [approved] },
  ],
  [
    "a failure",
    { conditions: [approved] },
    { conditions: [{ type: "Failed", status: "True" }, approved] },
    { conditions: [{ type: "Failed", status: "True", ...filled }, approved] },
  ],
  [
    "a failure that is False",
    {},
    { conditions: [{ type: "Failed", status: "False" }] },
    'status.conditions[0].status: Unsupported value: "False": supported values: "True"',
  ],
  ["a condition without a status", {}, { conditions: [{ type: "x" }] }, "status.conditions[0].status: Required value"],
  ["a condition without a type", {}, { conditions: [{ status: "True" }] }, "status.conditions[0].type: Required value"],
  ["a condition twice", {}, { conditions: [failed, failed] }, 'status.conditions[1].type: Duplicate value: "Failed"'],
  [
    "duplicates that are stored",
    { conditions: [failed, failed] },
    { conditions: [failed, failed] },
    { conditions: [failed, failed] },
  ],
  [
    "no certificate",
    {},
    { certificate: "eA==" },
    'status.certificate: Invalid value: "<certificate data>": must contain at least one CERTIFICATE PEM block',
  ],
  [
    "a certificate request instead of a certificate",
    {},
    { certificate: certificateRequest },
    'status.certificate: Invalid value: "<certificate data>": only CERTIFICATE PEM blocks are allowed, found "CERTIFICATE REQUEST"',
  ],
  [
    "a malformed certificate",
    {},
    { certificate: base64("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n") },
    'status.certificate: Invalid value: "<certificate data>": x509: malformed certificate',
  ],
  [
    "a changed certificate",
    { certificate: anyCertificate },
    { certificate: base64(`x\n${Buffer.from(anyCertificate, "base64")}`) },
    "status.certificate: Forbidden: updates may not modify existing certificate content",
  ],
  ["the same certificate", { certificate: "eA==" }, { certificate: "eA==" }, { certificate: "eA==" }],
];
for (const [what, old, status, want] of statusRows) {
  test(`status: ${what}`, () => {
    const errors = new FieldErrors();
    const next = csr(good, structuredClone(status));
    certificateSigningRequest.prepareForStatusUpdate(next, csr(good, old), context);
    certificateSigningRequest.validateStatusUpdate(next, csr(good, old), errors, context);
    if (typeof want === "string") assert.ok(errors.text.includes(want), errors.text);
    else assert.deepEqual([errors.text, next.status], ["", want]);
  });
}

const approvalRows: [what: string, old: object, next: object, want: object | string][] = [
  [
    "approved",
    {},
    { conditions: [{ type: "Approved", status: "True" }] },
    { conditions: [{ type: "Approved", status: "True", ...filled }] },
  ],
  [
    "approved, with a certificate",
    {},
    { certificate: anyCertificate, conditions: [approved] },
    { conditions: [approved] },
  ],
  [
    "approved and denied",
    {},
    { conditions: [approved, denied] },
    'status.conditions: Invalid value: "Denied": Approved and Denied conditions are mutually exclusive',
  ],
  [
    "denied after an approval",
    { conditions: [approved] },
    { conditions: [denied] },
    'status.conditions: Forbidden: updates may not remove a condition of type "Approved"',
  ],
  [
    "approved twice",
    { conditions: [approved] },
    { conditions: [{ type: "Approved", status: "True" }] },
    { conditions: [{ ...approved, ...filled, lastTransitionTime: approved.lastTransitionTime }] },
  ],
];
for (const [what, old, status, want] of approvalRows) {
  test(`approval: ${what}`, async () => {
    const errors = new FieldErrors();
    const next = csr({}, structuredClone(status));
    const approval = certificateSigningRequest.subresources.approval;
    approval?.prepare(next, csr(good, old), context);
    await approval?.validate(next, csr(good, old), errors, context);
    if (typeof want === "string") assert.equal(errors.text, want);
    else assert.deepEqual([errors.text, next.status, next.spec], ["", want, good]);
  });
}
