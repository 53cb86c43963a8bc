/**
 * Validation of projected volumes, and of files from Secrets, ConfigMaps and the downward API.
 * Source: `k8s.io/kubernetes@v1.36.0/pkg/apis/core/validation/validation.go`.
 */
import { type FieldErrors, plainText } from "../../../apimachinery/field-errors.ts";
import { addInvalid } from "../../../apimachinery/validation/metadata.ts";
import { goForm } from "../../../catalog/go-form.ts";
import { dnsSubdomainProblems } from "../../../lib/names/names.ts";
import { isKubernetesSigner, validateSignerName, validateUserAnnotations } from "../../certificates/signer-name.ts";
import { items, type Part } from "../../fields.ts";
import { validateLabelSelector } from "../../label-selector.ts";
import { validateFieldRef, validateResourceFieldRef } from "./downward-api.ts";
import { checkLocalPath } from "./paths.ts";

const modeMax = 0o777;

export function checkMode(mode: number | undefined, path: string, errors: FieldErrors): void {
  if (mode !== undefined && (mode < 0 || mode > modeMax)) {
    errors.invalid(path, mode, "must be a number between 0 and 0777 (octal), both inclusive");
  }
}

export function validateKeyToPath({ key = "", path: file = "", mode }: Part, path: string, errors: FieldErrors): void {
  if (key === "") errors.required(`${path}.key`);
  if (file === "") errors.required(`${path}.path`);
  checkLocalPath(file, `${path}.path`, errors);
  checkMode(mode, `${path}.mode`, errors);
}

/** @param path of the volume source, which upstream uses for each of its files */
export function validateDownwardFile(
  { path: file = "", fieldRef, resourceFieldRef, mode }: Part,
  path: string,
  errors: FieldErrors,
): void {
  if (file === "") errors.required(`${path}.path`);
  checkLocalPath(file, `${path}.path`, errors);
  if (fieldRef) {
    validateFieldRef(fieldRef, "file", `${path}.fieldRef`, errors);
    if (resourceFieldRef)
      errors.invalid(path, "resource", "fieldRef and resourceFieldRef can not be specified simultaneously");
  } else if (resourceFieldRef) validateResourceFieldRef(resourceFieldRef, "file", `${path}.resourceFieldRef`, errors);
  else errors.required(path, "one of fieldRef and resourceFieldRef is required");
  checkMode(mode, `${path}.mode`, errors);
}

/** Reserves a path in the volume. @param shown value in the error for a duplicate path */
type ReservePath = (file: string, shown?: string) => void;

/** @param path of the projected volume */
export function validateProjected(
  { sources, defaultMode }: Part,
  path: string,
  errors: FieldErrors,
  rules: { readonly anyTokenPath: boolean },
): void {
  checkMode(defaultMode, `${path}.defaultMode`, errors);
  const taken = new Set<string>();
  const reservePath: ReservePath = (file, shown = file) => {
    if (taken.has(file)) errors.invalid(path, shown, "conflicting duplicate paths");
    taken.add(file);
  };
  for (const [index, source] of items(sources).entries()) {
    const at = `${path}.sources[${index}]`;
    const { secret, configMap, downwardAPI, serviceAccountToken, clusterTrustBundle, podCertificate } = source;
    if (secret) validateKeys(secret, `${at}.secret`, reservePath, errors);
    if (configMap) validateKeys(configMap, `${at}.configMap`, reservePath, errors);
    for (const file of items(downwardAPI?.items)) {
      validateDownwardFile(file, `${at}.downwardAPI`, errors);
      if (file.path) reservePath(file.path);
    }
    if (serviceAccountToken)
      validateToken(serviceAccountToken, `${at}.serviceAccountToken`, path, rules.anyTokenPath, errors);
    if (clusterTrustBundle) validateTrustBundle(clusterTrustBundle, `${at}.clusterTrustBundle`, reservePath, errors);
    if (podCertificate) validateCertificate(podCertificate, `${at}.podCertificate`, reservePath, errors);
    if (countMembers(source) > 1) errors.forbidden(at, "may not specify more than 1 volume type per source");
  }
}

function countMembers(source: Part): number {
  let count = 0;
  for (const field in source) if (source[field] !== undefined) count++;
  return count;
}

/** Keys of a Secret or a ConfigMap. */
function validateKeys(
  { name = "", items: files }: Part,
  path: string,
  reservePath: ReservePath,
  errors: FieldErrors,
): void {
  if (name === "") errors.required(`${path}.name`);
  for (const [index, file] of items(files).entries()) {
    validateKeyToPath(file, `${path}.items[${index}]`, errors);
    if (file.path) reservePath(file.path, name);
  }
}

const tokenSecondsMin = 600;
const tokenSecondsMax = 2 ** 32;

/** @param volume path of the volume, which upstream uses for the token's file */
function validateToken(
  { expirationSeconds = 0, path: file = "" }: Part,
  path: string,
  volume: string,
  anyPath: boolean,
  errors: FieldErrors,
): void {
  const at = `${path}.expirationSeconds`;
  if (expirationSeconds < tokenSecondsMin)
    errors.invalid(at, expirationSeconds, "may not specify a duration less than 10 minutes");
  if (expirationSeconds > tokenSecondsMax)
    errors.invalid(at, expirationSeconds, "may not specify a duration larger than 2^32 seconds");
  if (file === "") errors.required(`${volume}.path`);
  else if (!anyPath) checkLocalPath(file, `${volume}.path`, errors);
}

function validateTrustBundle(bundle: Part, path: string, reservePath: ReservePath, errors: FieldErrors): void {
  const { name, signerName, labelSelector, path: file = "" } = bundle;
  if (name !== undefined && signerName !== undefined) {
    errors.invalid(path, goForm("ClusterTrustBundleProjection", bundle), "only one of name and signerName may be used");
  } else if (name !== undefined) {
    if (name === "") errors.required(`${path}.name`, "must be a valid object name");
    validateTrustBundleName(name, `${path}.name`, errors);
    if (labelSelector) {
      const { LabelSelector: shown } = goForm("ClusterTrustBundleProjection", bundle);
      errors.invalid(`${path}.labelSelector`, shown, "labelSelector must be unset if name is specified");
    }
  } else if (signerName !== undefined) {
    if (signerName === "") errors.required(`${path}.signerName`, "must be a valid signer name");
    validateSignerName(signerName, `${path}.signerName`, errors);
    if (labelSelector) validateLabelSelector(labelSelector, `${path}.labelSelector`, errors);
  } else errors.required(path, "either name or signerName must be specified");
  if (file === "") errors.required(`${path}.path`);
  checkLocalPath(file, `${path}.path`, errors);
  reservePath(file);
}

const keyTypes = ["RSA3072", "RSA4096", "ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519"];
const certificateSecondsMin = 3600;
const certificateSecondsMax = 91 * 86400;
const kubernetesSecondsMax = 86400;

function validateCertificate(certificate: Part, path: string, reservePath: ReservePath, errors: FieldErrors): void {
  const { signerName = "", keyType = "", maxExpirationSeconds: seconds, userAnnotations } = certificate;
  validateSignerName(signerName, `${path}.signerName`, errors);
  if (userAnnotations) validateUserAnnotations(userAnnotations, `${path}.userAnnotations`, errors);
  if (!keyTypes.includes(keyType)) errors.notSupported(`${path}.keyType`, plainText(keyType), keyTypes);
  const secondsMax = isKubernetesSigner(signerName) ? kubernetesSecondsMax : certificateSecondsMax;
  const at = `${path}.maxExpirationSeconds`;
  if (seconds < certificateSecondsMin)
    errors.invalid(at, seconds, `if provided, maxExpirationSeconds must be >= ${certificateSecondsMin}`);
  if (seconds > secondsMax) errors.invalid(at, seconds, `if provided, maxExpirationSeconds must be <= ${secondsMax}`);
  const fields = ["credentialBundlePath", "keyPath", "certificateChainPath"].filter(
    (field) => (certificate[field] ?? "") !== "",
  );
  for (const field of fields) {
    checkLocalPath(certificate[field], `${path}.${field}`, errors);
    reservePath(certificate[field]);
  }
  if (fields.length === 0)
    errors.required(path, "specify at least one of credentialBundlePath, keyPath, and certificateChainPath");
}

/**
 * The name of a bundle with a signer has the form `example.com:signer:name`.
 * Source: `k8s.io/kubernetes@v1.36.0/pkg/apis/core/validation/names.go`.
 */
function validateTrustBundleName(name: string, path: string, errors: FieldErrors): void {
  addInvalid(
    errors,
    path,
    name,
    bundleProblems(name).map((problem) => `not a valid clustertrustbundlename: ${problem}`),
  );
}

function bundleProblems(name: string): string[] {
  const end = name.lastIndexOf(":");
  if (end < 0) return dnsSubdomainProblems(name);
  if (end === 0) return ['ClusterTrustBundle without signer name must not have ":" in its name'];
  const signer = name.slice(0, end).replaceAll(":", "/");
  const prefix = `${signer.replaceAll("/", ":")}:`;
  if (!name.startsWith(prefix))
    return [`ClusterTrustBundle for signerName ${signer} must be named with prefix ${prefix}`];
  return dnsSubdomainProblems(name.slice(prefix.length));
}
