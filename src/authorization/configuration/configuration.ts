/**
 * Parses the file of `--authorization-config`.
 * Source: k8s.io/apiserver@v0.36.0/pkg/apis/apiserver/load/load.go,
 * k8s.io/kubernetes@v1.36.0/pkg/kubeapiserver/authorizer/reload.go.
 */
import { aggregated, ConfigurationError, decodeConfiguration } from "../../apimachinery/configuration-file.ts";
import { FieldErrors } from "../../apimachinery/field-errors.ts";
import { joinErrors } from "../../lib/json/quote.ts";
import {
  type AuthorizationConfiguration,
  type AuthorizerConfiguration,
  type AuthorizerType,
  nameOfType,
} from "./contract.ts";
import { type AuthorizationFile, authorizationKinds } from "./schema.ts";
import { checkAuthorizers } from "./validate.ts";

/**
 * Decodes and validates an AuthorizationConfiguration.
 *
 * @param requiredTypes the types that were configured when the server started, which a reload
 *   cannot remove
 * @throws ConfigurationError with upstream's messages
 */
export function parseAuthorizationConfiguration(
  bytes: Buffer,
  requiredTypes: readonly AuthorizerType[] = [],
): AuthorizationConfiguration {
  const errors = new FieldErrors();
  const authorizers = checkAuthorizers(decode(bytes), errors);
  const invalid = aggregated(errors);
  if (invalid !== undefined) throw new ConfigurationError(invalid);
  checkNamesAndTypes(authorizers, requiredTypes);
  return { authorizers };
}

/** An empty file is an empty configuration. */
function decode(bytes: Buffer): AuthorizationFile {
  if (bytes.length === 0) return {};
  try {
    return decodeConfiguration(bytes, authorizationKinds, "pkg/runtime/scheme.go:111").object;
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    throw new ConfigurationError(`failed to load AuthorizationConfiguration from file: ${error.message}`);
  }
}

function checkNamesAndTypes(
  authorizers: readonly AuthorizerConfiguration[],
  requiredTypes: readonly AuthorizerType[],
): void {
  const problems = authorizers
    .filter(({ type, name }) => type !== "Webhook" && name !== nameOfType(type))
    .map(({ type, name }) => `expected name ${nameOfType(type)} for authorizer ${type} instead of ${name}`);
  const missing = requiredTypes
    .filter((type) => type !== "Webhook" && authorizers.every((one) => one.type !== type))
    .sort();
  if (missing.length > 0) problems.push(`missing required types: [${missing.join(" ")}]`);
  if (problems.length > 0) throw new ConfigurationError(joinErrors(problems));
}
