/**
 * Validates the status of a PodCertificateRequest, which is issued, denied or failed once.
 *
 * Source: k8s.io/kubernetes@v1.36.0/pkg/apis/certificates/validation/validation.go
 */
import type { X509Certificate } from "node:crypto";
import { type FieldErrors, omitted, plainText } from "../../apimachinery/field-errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { validateConditions } from "../../apimachinery/validation/conditions.ts";
import { deepEqual } from "../../lib/json/values.ts";
import { pemBlocks } from "../../lib/x509/pem-blocks.ts";
import { items, type Part } from "../fields.ts";
import { parseCertificate } from "./cluster-trust-bundle.ts";
import { requestedKey } from "./request-key.ts";

const chainBytesMax = 100 * 1024;
const chainPath = "status.certificateChain";
const minuteMs = 60_000;
const outcomes = ["Issued", "Denied", "Failed"];

/** @param now milliseconds since the Unix epoch */
export async function validateCertificateStatus(
  next: KubeObject,
  old: KubeObject,
  now: number,
  errors: FieldErrors,
): Promise<void> {
  const { status = {} } = next;
  const conditions = items(status.conditions);
  validateOutcomes(conditions, errors);
  validateConditions(conditions, "status.conditions", errors);
  if (!errors.empty) return;
  const [outcome, before] = [outcomeOf(next), outcomeOf(old)];
  const isSame = deepEqual(status, old.status ?? {});
  const addError = (why: string): void => errors.invalid("status", omitted, why);
  if (before !== undefined)
    return isSame ? undefined : addError("immutable after PodCertificateRequest is issued, denied, or failed");
  if (outcome === "Issued") return validateIssued(next, old, now, errors);
  if (outcome !== undefined) {
    if (!deepEqual(status, { conditions })) {
      addError("non-condition status fields must be empty when denying or failing the PodCertificateRequest");
    }
  } else if (!isSame) addError('status is immutable unless transitioning to "Issued", "Denied", or "Failed"');
}

function validateOutcomes(conditions: readonly Part[], errors: FieldErrors): void {
  let count = 0;
  for (const [index, { type = "", status = "" }] of conditions.entries()) {
    const path = `status.conditions.[${index}]`; // The dot before the bracket is upstream's.
    if (!outcomes.includes(type)) {
      errors.notSupported(`${path}.type`, plainText(type), outcomes);
      continue;
    }
    count++;
    if (count > 1)
      errors.invalid(
        `${path}.type`,
        type,
        'There may be at most one condition with type "Issued", "Denied", or "Failed"',
      );
    if (status !== "True") errors.notSupported(`${path}.status`, status, ["True"]);
  }
}

/** @returns the first denial or failure; they have precedence over `Issued` */
function outcomeOf({ status }: KubeObject): string | undefined {
  const types = items(status?.conditions).flatMap((condition) =>
    condition.status === "True" ? [condition.type as string] : [],
  );
  return types.find((type) => type === "Denied" || type === "Failed") ?? types.find((type) => type === "Issued");
}

async function validateIssued(next: KubeObject, old: KubeObject, now: number, errors: FieldErrors): Promise<void> {
  const chain: string = next.status.certificateChain ?? "";
  const addError = (why: string): void => errors.invalid(chainPath, chain, why);
  if (Buffer.byteLength(chain) > chainBytesMax) return errors.tooLong(chainPath, chainBytesMax);
  const [leafBlock, ...others] = pemBlocks(chain);
  if (leafBlock === undefined) return addError("issued certificate chain must contain at least one certificate");
  if (leafBlock.type !== "CERTIFICATE")
    return addError("issued certificate chain must consist entirely of CERTIFICATE PEM blocks");
  const leaf = parseCertificate(leafBlock.bytes);
  if (leaf === undefined) return addError("leaf certificate does not parse as valid X.509");
  validateNames(leaf, errors);
  const key = await requestedKey(old.spec ?? {});
  if (key === undefined) {
    const isStub = (old.spec?.stubPKCS10Request ?? "") !== "";
    const [path, what] = isStub
      ? ["spec.stubPKCS10Request", "PKCS#10 CSR"]
      : ["spec.pkixPublicKey", "PKIX-serialized public key"];
    return errors.invalid(path, omitted, `must be a valid ${what}`);
  }
  if (!leaf.publicKey.equals(key)) return addError("leaf certificate was not issued to the requested public key");
  if (!validateTimes(next, leaf, now, errors)) return;
  for (const { type, bytes } of others) {
    if (type !== "CERTIFICATE")
      return addError("issued certificate chain must consist entirely of CERTFICATE PEM blocks");
    if (parseCertificate(bytes) === undefined)
      return addError("intermediate certificate does not parse as valid X.509");
  }
}

function validateNames({ subjectAltName = "" }: X509Certificate, errors: FieldErrors): void {
  for (const entry of subjectAltName.split(", ")) {
    if (!entry.startsWith("DNS:")) continue;
    const name = entry.slice("DNS:".length);
    if (name === "") errors.invalid(chainPath, name, "leaf certificate should not contain empty DNSName");
    if (name.includes("..")) errors.invalid(chainPath, name, "leaf certificate's DNSName should not contain '..'");
    if (name.startsWith(".") || name.endsWith(".")) {
      errors.invalid(chainPath, name, "leaf certificate's DNSName should not start or end with '.'");
    }
  }
}

const lifetimePaths = {
  notBefore: "status.notBefore",
  notAfter: "status.notAfter",
  beginRefreshAt: "status.beginRefreshAt",
} as const;
const consistent = "must be present and consistent with the issued certificate";
const missing = {
  notBefore: consistent,
  notAfter: consistent,
  beginRefreshAt: "must be present and in the range [notbefore+10min, notafter-10min]",
} as const;

/**
 * Compares the times of the status with the certificate's validity.
 *
 * @returns whether they are valid, so that the rest of the chain is checked
 */
function validateTimes({ spec, status }: KubeObject, leaf: X509Certificate, now: number, errors: FieldErrors): boolean {
  for (const field of ["notBefore", "notAfter", "beginRefreshAt"] as const)
    if (status[field] === undefined) errors.required(lifetimePaths[field], missing[field]);
  if (!errors.empty) return false;
  const [start, end, refresh] = [status.notBefore, status.notAfter, status.beginRefreshAt].map((text) =>
    Date.parse(text),
  ) as [number, number, number];
  const [leafStart, leafEnd] = [leaf.validFromDate.getTime(), leaf.validToDate.getTime()];
  const lifetimeMs = leafEnd - leafStart;
  const seconds: number = spec.maxExpirationSeconds ?? 0;
  const problems: [path: string, value: string | bigint, isWrong: boolean, detail: string][] = [
    [
      lifetimePaths.notBefore,
      shownTime(start),
      start !== leafStart,
      "must be set to the NotBefore time encoded in the leaf certificate",
    ],
    [
      lifetimePaths.notBefore,
      shownTime(start),
      Math.abs(start - now) >= 5 * minuteMs,
      "must be set to within 5 minutes of kube-apiserver's current time",
    ],
    [
      lifetimePaths.notAfter,
      shownTime(end),
      end !== leafEnd,
      "must be set to the NotAfter time encoded in the leaf certificate",
    ],
    [chainPath, shownDuration(lifetimeMs), lifetimeMs < 60 * minuteMs, "leaf certificate lifetime must be >= 1 hour"],
    [
      chainPath,
      shownDuration(lifetimeMs),
      lifetimeMs > seconds * 1000,
      `leaf certificate lifetime must be <= spec.maxExpirationSeconds (${seconds})`,
    ],
    [
      lifetimePaths.beginRefreshAt,
      shownTime(refresh),
      refresh < start + 10 * minuteMs,
      "must be at least 10 minutes after status.notBefore",
    ],
    [
      lifetimePaths.beginRefreshAt,
      shownTime(refresh),
      refresh > end - 10 * minuteMs,
      "must be at least 10 minutes before status.notAfter",
    ],
  ];
  const problem = problems.find(([, , isWrong]) => isWrong);
  if (problem === undefined) return true;
  errors.invalid(problem[0], problem[1], problem[3]);
  return false;
}

const shownTime = (ms: number): string => new Date(ms).toISOString().replace(".000Z", "Z");
const shownDuration = (ms: number): bigint => BigInt(ms) * 1_000_000n;
