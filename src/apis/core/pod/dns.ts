/**
 * Validation of the DNS policy and configuration of a pod.
 * Source: `k8s.io/kubernetes@v1.36.0/pkg/apis/core/validation/validation.go`.
 */
import type { FieldErrors } from "../../../apimachinery/field-errors.ts";
import { validateLegacyIp } from "../../../apimachinery/validation/ip.ts";
import { items, type Part } from "../../fields.ts";
import { checkChoice } from "./container.ts";

const policies = ["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"];

export function validateDnsPolicy(policy: string, path: string, errors: FieldErrors): void {
  checkChoice(policy, path, policies, errors);
}

const serversMax = 3;
const searchesMax = 32;
const searchCharactersMax = 2048;

/** @param path of the `dnsConfig` */
export function validateDnsConfig(
  { dnsPolicy, dnsConfig }: Part,
  path: string,
  { strictAddresses }: { readonly strictAddresses: boolean },
  errors: FieldErrors,
): void {
  if (dnsPolicy === "None") {
    if (!dnsConfig) return errors.required(path, "must provide `dnsConfig` when `dnsPolicy` is None");
    if ((dnsConfig.nameservers ?? []).length === 0) {
      return errors.required(
        `${path}.nameservers`,
        "must provide at least one DNS nameserver when `dnsPolicy` is None",
      );
    }
  }
  if (!dnsConfig) return;
  const { nameservers = [], searches = [], options } = dnsConfig;
  if (nameservers.length > serversMax)
    errors.invalid(`${path}.nameservers`, nameservers, `must not have more than ${serversMax} nameservers`);
  for (const [index, address] of nameservers.entries()) {
    validateLegacyIp(address, `${path}.nameservers[${index}]`, { strict: strictAddresses }, errors);
  }
  validateSearches(searches, `${path}.searches`, errors);
  for (const [index, { name = "" }] of items(options).entries())
    if (name === "") errors.required(`${path}.options[${index}]`, "must not be empty");
}

function validateSearches(searches: readonly string[], path: string, errors: FieldErrors): void {
  if (searches.length > searchesMax)
    errors.invalid(path, searches, `must not have more than ${searchesMax} search paths`);
  if (Buffer.byteLength(searches.join(" ")) > searchCharactersMax) {
    errors.invalid(
      path,
      searches,
      `must not have more than ${searchCharactersMax} characters (including spaces) in the search list`,
    );
  }
  for (const [index, search] of searches.entries()) {
    if (search === ".") continue;
    const domain = search.endsWith(".") ? search.slice(0, -1) : search;
    for (const problem of searchProblems(domain)) errors.invalid(`${path}[${index}]`, domain, problem);
  }
}

const label = "_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?";
const domainPattern = `${label}(\\.${label})*`;
const wholeDomain = new RegExp(`^${domainPattern}$`);
const domainBytesMax = 253;

/** Search paths are DNS subdomains that may have underscores. */
function searchProblems(domain: string): string[] {
  const problems: string[] = [];
  if (Buffer.byteLength(domain) > domainBytesMax) problems.push(`must be no more than ${domainBytesMax} characters`);
  if (!wholeDomain.test(domain)) {
    problems.push(
      `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '${domainPattern}')`,
    );
  }
  return problems;
}
