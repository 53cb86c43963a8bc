/**
 * Validates the conversion of a definition and its webhook.
 *
 * Source: k8s.io/apiextensions-apiserver@v0.36.0/pkg/apis/apiextensions/validation/validation.go,
 *         k8s.io/apiserver@v0.36.0/pkg/util/webhook/validation.go
 */
import { type FieldErrors, plainText } from "../../apimachinery/field-errors.ts";
import { addInvalid } from "../../apimachinery/validation/metadata.ts";
import { formatUser, type GoUrl, GoUrlError, parseGoUrl, textOf } from "../../lib/go-net/go-url.ts";
import { dns1035LabelProblems, dnsSubdomainProblems, portNumberProblems } from "../../lib/names/names.ts";
import type { WebhookClientConfig } from "../../webhook/client-config.ts";
import { caBundleProblem } from "./ca-bundle.ts";
import type { Conversion } from "./definition.ts";
import { hasKnownVersion, type Requirements, reviewVersions } from "./requirements.ts";

export function checkConversion(
  conversion: Conversion,
  path: string,
  requirements: Requirements,
  errors: FieldErrors,
): void {
  const { strategy = "", webhook } = conversion;
  const { clientConfig, conversionReviewVersions = [] } = webhook ?? {};
  const strategies = ["None", "Webhook"];
  if (strategy === "") errors.required(`${path}.strategy`);
  else if (!strategies.includes(strategy)) errors.notSupported(`${path}.strategy`, plainText(strategy), strategies);
  const configPath = `${path}.webhookClientConfig`;
  const versionsPath = `${path}.conversionReviewVersions`;
  if (strategy === "Webhook") {
    if (clientConfig === undefined) errors.required(configPath, "required when strategy is set to Webhook");
    else checkClientConfig(clientConfig, configPath, requirements, errors);
    if (conversionReviewVersions.length === 0) errors.required(versionsPath);
    else checkReviewVersions(conversionReviewVersions, versionsPath, requirements.recognizedReviewVersion, errors);
    return;
  }
  const why = "should not be set when strategy is not set to Webhook";
  if (clientConfig !== undefined) errors.forbidden(configPath, why);
  if (conversionReviewVersions.length > 0) errors.forbidden(versionsPath, why);
}

function checkClientConfig(
  config: WebhookClientConfig,
  path: string,
  { validCaBundle }: Requirements,
  errors: FieldErrors,
): void {
  const { url, service, caBundle = "" } = config;
  if ((url === undefined) === (service === undefined))
    errors.required(path, "exactly one of url or service is required");
  else if (url !== undefined) checkWebhookUrl(url, `${path}.url`, errors);
  else if (service !== undefined) checkWebhookService(service, `${path}.service`, errors);
  const problem = validCaBundle && caBundle !== "" ? caBundleProblem(caBundle) : undefined;
  if (problem !== undefined) errors.invalid(`${path}.caBundle`, caBundle, problem);
}

const urlForm = "; desired format: https://host[/path]";

/** Validates the URL of a webhook. */
export function checkWebhookUrl(text: string, path: string, errors: FieldErrors): void {
  let url: GoUrl;
  try {
    url = parseGoUrl(text);
  } catch (error) {
    if (!(error instanceof GoUrlError)) throw error;
    errors.required(path, `url must be a valid URL: ${error.message}${urlForm}`);
    return;
  }
  if (url.scheme !== "https") errors.invalid(path, url.scheme, `'https' is the only allowed URL scheme${urlForm}`);
  if (url.host === "") errors.invalid(path, url.host, `host must be specified${urlForm}`);
  const { user, fragment, rawQuery: query } = url;
  if (user !== undefined)
    errors.invalid(path, textOf(formatUser(user)), "user information is not permitted in the URL");
  if (fragment !== "") errors.invalid(path, textOf(fragment), "fragments are not permitted in the URL");
  if (query !== "") errors.invalid(path, textOf(query), "query parameters are not permitted in the URL");
}

/** As upstream, reports a missing namespace at the path of the name, and vice versa. */
export function checkWebhookService(
  { name = "", namespace = "", path, port = 443 }: NonNullable<WebhookClientConfig["service"]>,
  at: string,
  errors: FieldErrors,
): void {
  if (namespace === "") errors.required(`${at}.name`);
  if (name === "") errors.required(`${at}.namespace`);
  const problems = portNumberProblems(port);
  if (problems.length > 0) errors.invalid(`${at}.port`, port, `port is not valid: ${problems.join(", ")}`);
  if (path !== undefined) checkServicePath(path, `${at}.path`, errors);
}

function checkServicePath(path: string, at: string, errors: FieldErrors): void {
  if (path === "/" || path === "") return;
  if (path === "//") {
    errors.invalid(at, path, "segment[0] may not be empty");
    return;
  }
  if (!path.startsWith("/")) errors.invalid(at, path, "must start with a '/'");
  const rest = Buffer.from(path).subarray(1).toString(); // Upstream drops one byte, even of a longer character.
  const segments = rest.replace(/\/$/, "").split("/");
  for (const [index, segment] of segments.entries()) {
    if (segment === "") errors.invalid(at, path, `segment[${index}] may not be empty`);
    else for (const problem of dnsSubdomainProblems(segment)) errors.invalid(at, path, `segment[${index}]: ${problem}`);
  }
}

/**
 * Checks the versions of reviews that a webhook accepts, of which there is at least one.
 * @param needsKnown whether one of them must be a version that the server sends
 */
export function checkReviewVersions(
  versions: readonly string[],
  path: string,
  needsKnown: boolean,
  errors: FieldErrors,
): void {
  const seen = new Set<string>();
  for (const [index, version] of versions.entries()) {
    if (seen.has(version)) errors.invalid(`${path}[${index}]`, version, "duplicate version");
    else addInvalid(errors, `${path}[${index}]`, version, dns1035LabelProblems(version));
    seen.add(version);
  }
  if (needsKnown && !hasKnownVersion(versions))
    errors.invalid(path, versions, `must include at least one of ${reviewVersions.join(", ")}`);
}
