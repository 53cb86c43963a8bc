/** Reads `--audit-policy-file`. Source: audit.k8s.io/v1; upstream's policy reader and validation, whose texts these are. */
import { FieldErrors } from "../api/field-errors.ts";
import { dnsSubdomainProblems } from "../api/validation/names.ts";
import { quoteGo } from "../lib/json/quote.ts";
import { decodeYaml, strictYamlError, YamlError } from "../lib/yaml/decode.ts";
import { type AuditLevel, type AuditStage, auditLevels, auditStages } from "./contract.ts";
import type { AuditPolicy, AuditRule, GroupResources } from "./policy.ts";

/**
 * @param path as messages name it
 * @param warn is told of fields that nobody knows, and of those set twice, which are passed over
 * @throws Error
 */
export function parseAuditPolicy(bytes: Buffer, path: string, warn: (message: string) => void): AuditPolicy {
  try {
    return parse(bytes, warn);
  } catch (error) {
    if (!(error instanceof PolicyProblem)) throw error;
    throw new Error(`loading audit policy file: ${error.message}: from file ${path}`);
  }
}

class PolicyProblem extends Error {}

function parse(bytes: Buffer, warn: (message: string) => void): AuditPolicy {
  const { value, strictErrors } = readYaml(bytes);
  const unknown: string[] = strictErrors.length === 0 ? [] : [strictYamlError(strictErrors)];
  const policy = readPolicy(value, unknown);
  if (unknown.length > 0) warn(`Audit policy contains errors, falling back to lenient decoding: strict decoding error: ${unknown.join(", ")}`);
  const problems = validate(policy);
  if (problems.length > 0) throw new PolicyProblem(problems.length === 1 ? problems[0] : `[${problems.join(", ")}]`);
  if (policy.rules.length === 0) throw new PolicyProblem("loaded illegal policy with 0 rules");
  return policy;
}

function readYaml(bytes: Buffer): ReturnType<typeof decodeYaml> {
  try {
    return decodeYaml(bytes);
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    throw new PolicyProblem(`failed decoding: couldn't get version/kind; json parse error: ${error.message}`);
  }
}

type Members = Record<string, unknown>;

/** @param unknown gets a text for each field that there is none of */
function readPolicy(value: unknown, unknown: string[]): AuditPolicy {
  const members = membersOf(value, "policy");
  const { apiVersion = "", kind = "" } = members;
  if (kind === "") throw new PolicyProblem(`failed decoding: Object 'Kind' is missing in '${JSON.stringify(value)}'`);
  if (apiVersion === "") throw new PolicyProblem(`failed decoding: Object 'apiVersion' is missing in '${JSON.stringify(value)}'`);
  if (apiVersion !== "audit.k8s.io/v1" || kind !== "Policy")
    throw new PolicyProblem(`failed decoding: no kind ${quoteGo(String(kind))} is registered for version ${quoteGo(String(apiVersion))}`);
  tellUnknown(members, ["apiVersion", "kind", "metadata", "rules", "omitStages", "omitManagedFields"], "", unknown);
  return {
    rules: listOf(members.rules, "rules").map((rule, index) => readRule(rule, `rules[${index}]`, unknown)),
    omitStages: textsOf(members.omitStages, "omitStages") as AuditStage[],
    omitManagedFields: boolOf(members.omitManagedFields, "omitManagedFields") ?? false,
  };
}

const ruleFields = ["level", "users", "userGroups", "verbs", "resources", "namespaces", "nonResourceURLs", "omitStages", "omitManagedFields"];

function readRule(value: unknown, path: string, unknown: string[]): AuditRule {
  const members = membersOf(value, path);
  tellUnknown(members, ruleFields, `${path}.`, unknown);
  const texts = (field: string): string[] => textsOf(members[field], `${path}.${field}`);
  return {
    level: textOf(members.level, `${path}.level`) as AuditLevel,
    users: texts("users"),
    userGroups: texts("userGroups"),
    verbs: texts("verbs"),
    resources: listOf(members.resources, `${path}.resources`).map((one, index) => readResources(one, `${path}.resources[${index}]`, unknown)),
    namespaces: texts("namespaces"),
    nonResourceUrls: texts("nonResourceURLs"),
    omitStages: texts("omitStages") as AuditStage[],
    omitManagedFields: boolOf(members.omitManagedFields, `${path}.omitManagedFields`),
  };
}

function readResources(value: unknown, path: string, unknown: string[]): GroupResources {
  const members = membersOf(value, path);
  tellUnknown(members, ["group", "resources", "resourceNames"], `${path}.`, unknown);
  return {
    group: textOf(members.group, `${path}.group`),
    resources: textsOf(members.resources, `${path}.resources`),
    resourceNames: textsOf(members.resourceNames, `${path}.resourceNames`),
  };
}

function tellUnknown(members: Members, known: readonly string[], prefix: string, unknown: string[]): void {
  for (const key of Object.keys(members)) if (!known.includes(key)) unknown.push(`unknown field "${prefix}${key}"`);
}

function wrongType(path: string, want: string): PolicyProblem {
  return new PolicyProblem(`failed decoding: ${path}: must be ${want}`);
}

function membersOf(value: unknown, path: string): Members {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw wrongType(path, "an object");
  return value as Members;
}

function listOf(value: unknown, path: string): readonly unknown[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw wrongType(path, "a list");
  return value;
}

function textsOf(value: unknown, path: string): string[] {
  return listOf(value, path).map((one, index) => textOf(one, `${path}[${index}]`));
}

function textOf(value: unknown, path: string): string {
  if (value === undefined || value === null) return "";
  if (typeof value !== "string") throw wrongType(path, "a string");
  return value;
}

function boolOf(value: unknown, path: string): boolean | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "boolean") throw wrongType(path, "true or false");
  return value;
}

function validate({ rules, omitStages }: AuditPolicy): string[] {
  const errors = new FieldErrors();
  validateStages(omitStages, "omitStages", errors);
  for (const [index, rule] of rules.entries()) validateRule(rule, `rules[${index}]`, errors);
  return errors.causes.map(({ field, message }) => `${field}: ${message}`);
}

function validateRule(rule: AuditRule, path: string, errors: FieldErrors): void {
  if ((rule.level as string) === "") errors.required(`${path}.level`);
  else if (!auditLevels.includes(rule.level)) errors.notSupported(`${path}.level`, rule.level, auditLevels);
  for (const [index, url] of rule.nonResourceUrls.entries()) {
    const at = `${path}.nonResourceURLs[${index}]`;
    if (url === "*") continue;
    if (!url.startsWith("/")) errors.invalid(at, url, "non-resource URL rules must begin with a '/' character");
    if (url.slice(0, -1).includes("*")) errors.invalid(at, url, "non-resource URL wildcards '*' must be the final character of the rule");
  }
  // Upstream names the list without an index.
  for (const one of rule.resources) validateResources(one, `${path}.resources`, errors);
  validateStages(rule.omitStages, `${path}.omitStages`, errors);
  if (rule.nonResourceUrls.length > 0 && rule.resources.length + rule.namespaces.length > 0)
    errors.invalid(`${path}.nonResourceURLs`, rule.nonResourceUrls, "rules cannot apply to both regular resources and non-resource URLs");
}

function validateResources({ group, resources, resourceNames }: GroupResources, path: string, errors: FieldErrors): void {
  const problems = group === "" || group === "*" ? [] : dnsSubdomainProblems(group);
  if (problems.length > 0) errors.invalid(`${path}.group`, group, problems.join(","));
  if (resourceNames.length > 0 && resources.length === 0)
    errors.invalid(`${path}.resourceNames`, resourceNames, "using resourceNames requires at least one resource");
}

function validateStages(stages: readonly string[], path: string, errors: FieldErrors): void {
  for (const [index, stage] of stages.entries()) {
    if (!(auditStages as readonly string[]).includes(stage))
      errors.invalid(`${path}[${index}]`, stage, `allowed stages are ${auditStages.join(",")}`);
  }
}
