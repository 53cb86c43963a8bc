/**
 * CertificateSigningRequest: contains the identity of the user that created it, and its spec is
 * immutable. A write of `/status` cannot approve, and a write of `/approval` cannot set the
 * certificate.
 *
 * Source: k8s.io/kubernetes@v1.36.0/pkg/apis/certificates/validation/validation.go,
 *         k8s.io/kubernetes@v1.36.0/pkg/registry/certificates/certificates/strategy.go,
 *         Kubernetes docs, Certificates and Certificate Signing Requests
 */
import { X509Certificate } from "node:crypto";
import { formatTime } from "../../apimachinery/clock.ts";
import { type FieldErrors, typedText } from "../../apimachinery/field-errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { ageColumn, nameColumn } from "../../catalog/common-columns.ts";
import { strategy } from "../../catalog/strategy.ts";
import type { Column, StrategyContext } from "../../catalog/strategy-contract.ts";
import { humanDuration } from "../../lib/duration/duration.ts";
import { firstByKey } from "../../lib/first-by-key/first-by-key.ts";
import { quoteGo } from "../../lib/json/quote.ts";
import { certificateRequestProblem } from "../../lib/x509/certificate-request.ts";
import { pemBlocks } from "../../lib/x509/pem-blocks.ts";
import { text } from "../column.ts";
import { items, type Part, selectableAt, setAbsent, struct } from "../fields.ts";
import { validateSignerName } from "./signer-name.ts";

/** Source: `k8s.io/kubernetes@v1.36.0/pkg/printers/internalversion/printers.go`. */
const signingRequestColumns: readonly Column[] = [
  nameColumn,
  ageColumn,
  text(
    "SignerName",
    'Requested signer for the request. It is a qualified name in the form: `scope-hostname.io/name`. If empty, it will be defaulted:\n 1. If it\'s a kubelet client certificate, it is assigned\n    "kubernetes.io/kube-apiserver-client-kubelet".\n 2. If it\'s a kubelet serving certificate, it is assigned\n    "kubernetes.io/kubelet-serving".\n 3. Otherwise, it is assigned "kubernetes.io/legacy-unknown".\nDistribution of trust for signers happens out of band. You can select on this field using `spec.signerName`.',
    ({ spec }) => spec?.signerName || "<none>",
  ),
  text("Requestor", "Base64-encoded PKCS#10 CSR data", ({ spec }) => spec?.username ?? ""),
  text(
    "RequestedDuration",
    "expirationSeconds is the requested duration of validity of the issued certificate. The certificate signer may issue a certificate with a different validity duration so a client must check the delta between the notBefore and and notAfter fields in the issued certificate to determine the actual duration.\n\nThe v1.22+ in-tree implementations of the well-known Kubernetes signers will honor this field as long as the requested duration is not greater than the maximum duration they will honor per the --cluster-signing-duration CLI flag to the Kubernetes controller manager.\n\nCertificate signers may not honor this field for various reasons:\n\n  1. Old signer that is unaware of the field (such as the in-tree\n     implementations prior to v1.22)\n  2. Signer whose configured maximum is shorter than the requested duration\n  3. Signer whose configured minimum is longer than the requested duration\n\nThe minimum valid value for expirationSeconds is 600, i.e. 10 minutes.",
    ({ spec }) => (spec?.expirationSeconds === undefined ? "<none>" : humanDuration(spec.expirationSeconds * 1000)),
  ),
  text("Condition", "Conditions applied to the request, such as approval or denial.", requestCondition),
];

/** Has the subresources `status` and `approval`. */
export const certificateSigningRequest = strategy({
  columns: signingRequestColumns,
  validateName: () => [], // A name in a path is all that upstream requires, after the other rules.
  declarative: { subresources: ["status", "approval"] },
  selectableFields: selectableAt("spec.signerName"),
  prepareForCreate(object, { user }) {
    const spec = struct(object, "spec");
    spec.username = user.name;
    spec.uid = user.uid;
    spec.groups = [...user.groups];
    spec.extra = Object.fromEntries([...user.extra].map(([key, values]) => [key, [...values]]));
    object.status = {};
  },
  prepareForUpdate(next, old) {
    next.spec = old.spec;
  },
  validate: ({ spec }, errors) => checkSpec(spec, errors),
  prepareForStatusUpdate(next, old, context) {
    for (const type of decisions) keepInstances(next, old, type);
    fillTimes(next, old, context);
  },
  validateStatusUpdate(next, old, errors) {
    checkConditions(next, old, errors);
    for (const type of decisions) {
      if (ofType(next, type).length > ofType(old, type).length)
        errors.forbidden("status.conditions", `updates may not add a condition of type ${quoteGo(type)}`);
    }
    checkCertificate(next.status?.certificate ?? "", old.status?.certificate ?? "", errors);
  },
  subresources: {
    approval: {
      prepare(next, old, context) {
        next.spec = old.spec;
        next.status = { ...old.status, conditions: items(next.status?.conditions) };
        fillTimes(next, old, context);
      },
      validate: checkConditions,
    },
  },
});

const usages: ReadonlySet<string> = new Set([
  "any",
  "cert sign",
  "client auth",
  "code signing",
  "content commitment",
  "crl sign",
  "data encipherment",
  "decipher only",
  "digital signature",
  "email protection",
  "encipher only",
  "ipsec end system",
  "ipsec tunnel",
  "ipsec user",
  "key agreement",
  "key encipherment",
  "microsoft sgc",
  "netscape sgc",
  "ocsp signing",
  "s/mime",
  "server auth",
  "signing",
  "timestamping",
]);

async function checkSpec(spec: Part, errors: FieldErrors): Promise<void> {
  const { request = "", signerName = "", expirationSeconds } = spec;
  const problem = await certificateRequestProblem(request);
  if (problem !== undefined) errors.invalid("spec.request", spec.request ?? null, problem);
  checkUsages(spec.usages ?? [], errors);
  if (signerName === "kubernetes.io/legacy-unknown")
    errors.invalid("spec.signerName", signerName, "the legacy signerName is not allowed via this API version");
  else validateSignerName(signerName, "spec.signerName", errors);
  if (typeof expirationSeconds === "number" && expirationSeconds < 600)
    errors.invalid(
      "spec.expirationSeconds",
      expirationSeconds,
      "may not specify a duration less than 600 seconds (10 minutes)",
    );
}

function checkUsages(requested: readonly string[], errors: FieldErrors): void {
  if (requested.length === 0) errors.required("spec.usages");
  for (const [index, usage] of requested.entries())
    if (!usages.has(usage)) errors.notSupported(`spec.usages[${index}]`, usage, [...usages]);
  const seen = new Set<string>();
  for (const [index, usage] of requested.entries()) {
    if (seen.has(usage)) errors.duplicate(`spec.usages[${index}]`, typedText(usage));
    seen.add(usage);
  }
}

/** Condition types that only `/approval` may add. */
const decisions: readonly string[] = ["Approved", "Denied"];
/** Condition types that cannot be removed. */
const permanent: readonly string[] = [...decisions, "Failed"];
const conditionsPath = "status.conditions";

const conditionsOf = ({ status }: KubeObject): Part[] => items(status?.conditions);
const ofType = (object: KubeObject, type: string): Part[] =>
  conditionsOf(object).filter((condition) => condition.type === type);

/**
 * Restores conditions that the client may not change. Validation rejects added and removed ones
 * later.
 */
function keepInstances(next: KubeObject, old: KubeObject, type: string): void {
  const kept = ofType(old, type);
  if (kept.length !== ofType(next, type).length || kept.length === 0) return;
  next.status.conditions = conditionsOf(next).map((condition) =>
    condition.type === type ? (kept.shift() as Part) : condition,
  );
}

function fillTimes(next: KubeObject, old: KubeObject, { now }: StrategyContext): void {
  const keyOf = ({ type, status }: Part): string => JSON.stringify([type, status]);
  const before = firstByKey(
    conditionsOf(old)
      .filter(({ lastTransitionTime }) => lastTransitionTime)
      .map((condition) => [keyOf(condition), condition.lastTransitionTime] as const),
  );
  for (const condition of conditionsOf(next)) {
    setAbsent(condition, {
      lastUpdateTime: formatTime(now),
      lastTransitionTime: before.get(keyOf(condition)) ?? formatTime(now),
    });
  }
}

/** Tolerates violations of the stored conditions. */
function checkConditions(next: KubeObject, old: KubeObject, errors: FieldErrors): void {
  checkEach(conditionsOf(next), typesOf(old), errors);
  for (const type of permanent) {
    if (ofType(next, type).length < ofType(old, type).length)
      errors.forbidden(conditionsPath, `updates may not remove a condition of type ${quoteGo(type)}`);
  }
}

const typesOf = (object: KubeObject): string[] => conditionsOf(object).map(({ type }) => type ?? "");
const isDecidedTwice = (types: ReadonlySet<string>): boolean => decisions.every((type) => types.has(type));

function checkEach(conditions: readonly Part[], before: readonly string[], errors: FieldErrors): void {
  const seen = new Set<string>();
  const known = new Set(before);
  for (const [index, { type = "", status = "" }] of conditions.entries()) {
    const at = `${conditionsPath}[${index}]`;
    if (type === "" && !known.has("")) errors.required(`${at}.type`);
    checkStatus(status, `${at}.status`, permanent.includes(type) ? ["True"] : ["False", "True", "Unknown"], errors);
    const isRepeated = seen.has(type);
    seen.add(type);
    if (decisions.includes(type) && isDecidedTwice(seen) && !isDecidedTwice(known))
      errors
        .covered("zeroOrOneOf")
        .invalid(conditionsPath, type, "Approved and Denied conditions are mutually exclusive");
    if (isRepeated && known.size === before.length) errors.duplicate(`${at}.type`, typedText(type));
  }
}

function checkStatus(status: string, path: string, allowed: readonly string[], errors: FieldErrors): void {
  if (status === "") errors.required(path);
  else if (!allowed.includes(status)) errors.notSupported(path, status, allowed);
}

function checkCertificate(next: string, old: string, errors: FieldErrors): void {
  if (next === old) return;
  const problem = next === "" ? undefined : certificateProblem(Buffer.from(next, "base64").toString("latin1"));
  if (problem !== undefined) errors.invalid("status.certificate", "<certificate data>", problem);
  if (old !== "") errors.forbidden("status.certificate", "updates may not modify existing certificate content");
}

function certificateProblem(pem: string): string | undefined {
  let found = false;
  for (const { type, hasHeaders, bytes } of pemBlocks(pem)) {
    if (type !== "CERTIFICATE") return `only CERTIFICATE PEM blocks are allowed, found ${quoteGo(type)}`;
    if (hasHeaders) return "no PEM block headers are permitted";
    if (!isCertificate(bytes)) return "x509: malformed certificate";
    found = true;
  }
  return found ? undefined : "must contain at least one CERTIFICATE PEM block";
}

function isCertificate(bytes: Buffer): boolean {
  try {
    return new X509Certificate(bytes).raw.length > 0;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return false; // The caller's message replaces OpenSSL's.
  }
}

/** A denial has precedence over an approval. */
function requestCondition({ status }: KubeObject): string {
  const has = (type: string): boolean => items(status?.conditions).some((condition) => condition.type === type);
  const decision = has("Denied") ? "Denied" : has("Approved") ? "Approved" : "Pending";
  return [decision, ...(has("Failed") ? ["Failed"] : []), ...(status?.certificate ? ["Issued"] : [])].join(",");
}
