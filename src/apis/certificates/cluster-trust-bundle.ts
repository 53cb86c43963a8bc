/**
 * ClusterTrustBundle: trust anchors for the whole cluster.
 *
 * Source: k8s.io/kubernetes@v1.36.0/pkg/apis/certificates/validation/validation.go,
 *         k8s.io/kubernetes@v1.36.0/pkg/registry/certificates/clustertrustbundle/strategy.go
 */
import { X509Certificate } from "node:crypto";
import type { FieldErrors } from "../../apimachinery/field-errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { validateMetaAgain, validateMetaChangesAgain } from "../../apimachinery/validation/metadata.ts";
import { nameColumn } from "../../catalog/common-columns.ts";
import { strategy } from "../../catalog/strategy.ts";
import type { Column } from "../../catalog/strategy-contract.ts";
import { dnsSubdomainProblems } from "../../lib/names/names.ts";
import { type PemBlock, pemBlocks } from "../../lib/x509/pem-blocks.ts";
import { text } from "../column.ts";
import { checkImmutable, selectableAt } from "../fields.ts";
import { validateSignerName } from "./signer-name.ts";

/** Source: `k8s.io/kubernetes@v1.36.0/pkg/printers/internalversion/printers.go`. */
const trustBundleColumns: readonly Column[] = [
  nameColumn,
  text(
    "SignerName",
    "signerName indicates the associated signer, if any.\n\nIn order to create or update a ClusterTrustBundle that sets signerName, you must have the following cluster-scoped permission: group=certificates.k8s.io resource=signers resourceName=<the signer name> verb=attest.\n\nIf signerName is not empty, then the ClusterTrustBundle object must be named with the signer name as a prefix (translating slashes to colons). For example, for the signer name `example.com/foo`, valid ClusterTrustBundle object names include `example.com:foo:abc` and `example.com:foo:v1`.\n\nIf signerName is empty, then the ClusterTrustBundle object's name must not have such a prefix.\n\nList/watch requests for ClusterTrustBundles can filter on this field using a `spec.signerName=NAME` field selector.",
    ({ spec }) => spec?.signerName || "<none>",
  ),
];

const bundleBytesMax = 1024 * 1024;
const bundlePath = "spec.trustBundle";
const hidden = "<value omitted>";

/** Messages about the bundle omit its value. */
export const clusterTrustBundle = strategy({
  columns: trustBundleColumns,
  isolatesStatus: false,
  repeatsMetaRules: false,
  validateName: nameProblems,
  selectableFields: selectableAt("spec.signerName"),
  validate(object, errors) {
    validateSigner(object, errors);
    validateBundle(object.spec?.trustBundle ?? "", errors);
  },
  validateUpdate(next, old, errors) {
    const validateName = (name: string, prefix: boolean): string[] => nameProblems(name, prefix, next);
    validateMetaAgain(next.metadata, { namespaced: false, validateName }, errors);
    validateSigner(next, errors);
    const bundle: string = next.spec?.trustBundle ?? "";
    if (bundle !== (old.spec?.trustBundle ?? "")) validateBundle(bundle, errors);
    validateMetaChangesAgain(next.metadata, old.metadata, errors);
    checkImmutable(next.spec?.signerName ?? "", old.spec?.signerName ?? "", "spec.signerName", errors);
  },
});

/** The name of a bundle with a signer begins with the signer's name. */
function nameProblems(name: string, isPrefix: boolean, { spec }: KubeObject): string[] {
  const signer: string = spec?.signerName ?? "";
  if (signer === "") {
    if (name.includes(":")) return ['ClusterTrustBundle without signer name must not have ":" in its name'];
    return dnsSubdomainProblems(name, isPrefix);
  }
  const start = `${signer.replaceAll("/", ":")}:`;
  if (!name.startsWith(start))
    return [`ClusterTrustBundle for signerName ${signer} must be named with prefix ${start}`];
  return dnsSubdomainProblems(name.slice(start.length), isPrefix);
}

function validateSigner({ spec }: KubeObject, errors: FieldErrors): void {
  const signer: string = spec?.signerName ?? "";
  if (signer !== "") validateSignerName(signer, "spec.signerName", errors);
}

/** Parses each different block once, and no more of them than errors are reported. */
export function validateBundle(bundle: string, errors: FieldErrors): void {
  if (Buffer.byteLength(bundle) > bundleBytesMax) return errors.tooLong(bundlePath, bundleBytesMax);
  const before = errors.causes.length;
  const anchors = new Map<string, { readonly problem: string | undefined; readonly indexes: number[] }>();
  for (const [index, block] of pemBlocks(bundle).entries()) {
    if (errors.full) break;
    const der = block.bytes.toString("base64");
    const anchor = anchors.get(der) ?? { problem: anchorProblem(block.bytes), indexes: [] };
    anchors.set(der, anchor);
    anchor.indexes.push(index);
    const problem = blockProblem(block) ?? anchor.problem;
    if (problem !== undefined) errors.invalid(bundlePath, hidden, `entry ${index} ${problem}`);
  }
  if (errors.causes.length > before) return;
  if (anchors.size === 0) errors.invalid(bundlePath, hidden, "at least one trust anchor must be provided");
  for (const { indexes } of anchors.values()) {
    if (indexes.length > 1)
      errors.invalid(bundlePath, hidden, `duplicate trust anchor (indices [${indexes.join(" ")}])`);
  }
}

function blockProblem({ type, hasHeaders }: PemBlock): string | undefined {
  if (type !== "CERTIFICATE") return `has bad block type: ${type}`;
  return hasHeaders ? "has PEM block headers" : undefined;
}

function anchorProblem(der: Buffer): string | undefined {
  const certificate = parseCertificate(der);
  if (certificate === undefined) return "does not parse as X.509";
  return certificate.ca ? undefined : "does not have the CA bit set";
}

/** @returns undefined for bytes that are not a certificate */
export function parseCertificate(der: Buffer): X509Certificate | undefined {
  try {
    return new X509Certificate(der);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return undefined; // The caller's message replaces OpenSSL's.
  }
}
