/**
 * Validates an AuthorizationConfiguration, with upstream's messages in upstream's order.
 * Source: k8s.io/apiserver@v0.36.0/pkg/apis/apiserver/validation/validation.go.
 */
import { statSync } from "node:fs";
import { isAbsolute } from "node:path";
import { getSystemErrorMessage } from "node:util";
import { type FieldErrors, plainText } from "../../apimachinery/field-errors.ts";
import { formatDuration, parseDuration } from "../../lib/duration/duration.ts";
import { dnsSubdomainProblems } from "../../lib/names/names.ts";
import { type AuthorizerConfiguration, authorizerTypes, type WebhookConfiguration } from "./contract.ts";
import { compileMatchConditions } from "./match-conditions.ts";
import type { AuthorizationFile, AuthorizerFile, ConnectionFile, WebhookFile } from "./schema.ts";

const second = 1_000_000_000n;
const timeoutMax = 30n * second;

/** @returns the authorizers with defaults; valid only when no errors were added */
export function checkAuthorizers(
  { authorizers = [] }: AuthorizationFile,
  errors: FieldErrors,
): AuthorizerConfiguration[] {
  if (authorizers.length === 0) errors.required("authorizers", "at least one authorization mode must be defined");
  const seen: Seen = { types: new Set(), names: new Set() };
  return authorizers.flatMap((authorizer, index) => checkAuthorizer(authorizer, `authorizers[${index}]`, seen, errors));
}

interface Seen {
  readonly types: Set<string>;
  readonly names: Set<string>;
}

function checkAuthorizer(
  { type = "", name = "", webhook }: AuthorizerFile,
  path: string,
  seen: Seen,
  errors: FieldErrors,
): AuthorizerConfiguration[] {
  const knownType = authorizerTypes.find((one) => one === type);
  if (type === "") errors.required(`${path}.type`);
  else if (knownType === undefined) errors.notSupported(`${path}.type`, plainText(type), authorizerTypes);
  else if (knownType !== "Webhook" && seen.types.has(type)) errors.duplicate(`${path}.type`, type);
  else {
    seen.types.add(type);
    checkName(name, `${path}.name`, seen.names, errors);
    if (knownType !== "Webhook") {
      if (webhook !== undefined)
        errors.invalid(`${path}.webhook`, "non-null", "may only be specified when type=Webhook");
      return [{ type: knownType, name }];
    }
    if (webhook !== undefined) return [{ type: knownType, name, webhook: checkWebhook(webhook, path, errors) }];
    errors.required(`${path}.webhook`, "required when type=Webhook");
  }
  return [];
}

function checkName(name: string, path: string, seen: Set<string>, errors: FieldErrors): void {
  const problems = dnsSubdomainProblems(name);
  if (name === "") errors.required(path);
  else if (seen.has(name)) errors.duplicate(path, name);
  else if (problems.length > 0) errors.invalid(path, name, `authorizer name is invalid: ${problems.join(", ")}`);
  seen.add(name);
}

/** @param path the path of the authorizer; as upstream, field errors omit `.webhook` */
function checkWebhook(file: WebhookFile, path: string, errors: FieldErrors): WebhookConfiguration {
  const {
    cacheAuthorizedRequests = true,
    cacheUnauthorizedRequests = true,
    connectionInfo = {},
    matchConditions = [],
  } = file;
  const timeout = nanoseconds(file.timeout);
  checkTimeout(timeout, `${path}.timeout`, errors);
  const authorizedTtl = nanoseconds(file.authorizedTTL) || 300n * second;
  const unauthorizedTtl = nanoseconds(file.unauthorizedTTL) || 30n * second;
  checkTtl(authorizedTtl, `${path}.authorizedTTL`, errors);
  checkTtl(unauthorizedTtl, `${path}.unauthorizedTTL`, errors);
  checkVersions(file, path, errors);
  checkOneOf(file.failurePolicy, `${path}.failurePolicy`, ["NoOpinion", "Deny"], errors);
  checkConnection(connectionInfo, `${path}.connectionInfo`, errors);
  const texts = matchConditions.map(({ expression = "" }) => expression);
  const conditions = compileMatchConditions(texts, `${path}.matchConditions`, errors);
  return {
    authorizedTtlMs: cacheAuthorizedRequests ? milliseconds(authorizedTtl) : 0,
    unauthorizedTtlMs: cacheUnauthorizedRequests ? milliseconds(unauthorizedTtl) : 0,
    timeoutMs: milliseconds(timeout),
    subjectAccessReviewVersion: file.subjectAccessReviewVersion as WebhookConfiguration["subjectAccessReviewVersion"],
    failurePolicy: file.failurePolicy as WebhookConfiguration["failurePolicy"],
    connectionInfo: connectionInfo as WebhookConfiguration["connectionInfo"],
    ...(conditions && { conditions }),
  };
}

function nanoseconds(text = "0s"): bigint {
  return parseDuration(text);
}

function milliseconds(duration: bigint): number {
  return Number(duration) / 1e6;
}

function checkTimeout(timeout: bigint, path: string, errors: FieldErrors): void {
  if (timeout === 0n) errors.required(path);
  else if (timeout < 0n || timeout > timeoutMax)
    errors.invalid(path, formatDuration(timeout), "must be > 0s and <= 30s");
}

function checkTtl(ttl: bigint, path: string, errors: FieldErrors): void {
  if (ttl < 0n) errors.invalid(path, formatDuration(ttl), "must be > 0s");
}

function checkVersions(file: WebhookFile, path: string, errors: FieldErrors): void {
  checkOneOf(file.subjectAccessReviewVersion, `${path}.subjectAccessReviewVersion`, ["v1", "v1beta1"], errors);
  const { matchConditionSubjectAccessReviewVersion: version = "", matchConditions = [] } = file;
  const at = `${path}.matchConditionSubjectAccessReviewVersion`;
  if (version !== "") checkOneOf(version, at, ["v1"], errors);
  else if (matchConditions.length > 0) errors.required(at, "required if match conditions are specified");
}

function checkOneOf(value = "", path: string, supported: readonly string[], errors: FieldErrors): void {
  if (value === "") errors.required(path);
  else if (!supported.includes(value)) errors.notSupported(path, plainText(value), supported);
}

function checkConnection({ type = "", kubeConfigFile }: ConnectionFile, path: string, errors: FieldErrors): void {
  const at = `${path}.kubeConfigFile`;
  switch (type) {
    case "":
      return errors.required(`${path}.type`);
    case "InClusterConfig":
      if (kubeConfigFile !== undefined) errors.invalid(at, kubeConfigFile, "can only be set when type=KubeConfigFile");
      return;
    case "KubeConfigFile":
      if (kubeConfigFile === undefined || kubeConfigFile === "") return errors.required(at);
      if (!isAbsolute(kubeConfigFile)) return errors.invalid(at, kubeConfigFile, "must be an absolute path");
      return checkFile(kubeConfigFile, at, errors);
    default: {
      const shown = { Type: type, KubeConfigFile: kubeConfigFile ?? null };
      errors.notSupported(`${path}.type`, shown, ["InClusterConfig", "KubeConfigFile"]);
    }
  }
}

function checkFile(file: string, path: string, errors: FieldErrors): void {
  try {
    if (!statSync(file).isFile()) errors.invalid(path, file, "must be a regular file");
  } catch (error) {
    const { errno, syscall } = error as NodeJS.ErrnoException;
    if (errno === undefined) throw error;
    errors.invalid(path, file, `error loading file: ${syscall} ${file}: ${getSystemErrorMessage(errno)}`);
  }
}
