/** Reads `--authorization-config`. Source: access-control §5.3; k8s.io/apiserver, pkg/apis/apiserver/load; kube-apiserver's LoadAndValidateData. */
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
 * @param requiredTypes what must be among the authorizers, since it was when the server started
 * @throws ConfigurationError in upstream's words
 */
export function parseAuthorizationConfiguration(
  bytes: Buffer,
  requiredTypes: readonly AuthorizerType[] = [],
): AuthorizationConfiguration {
  const errors = new FieldErrors();
  const authorizers = checkAuthorizers(decode(bytes), errors);
  const invalid = aggregated(errors);
  if (invalid !== undefined) throw new ConfigurationError(invalid);
  checkOwnRules(authorizers, requiredTypes);
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

function checkOwnRules(
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
