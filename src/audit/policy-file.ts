/** Reads `--audit-policy-file`. Source: audit.k8s.io/v1; upstream's policy reader and validation, whose texts these are. */
import { FieldErrors } from "../api/field-errors.ts";
import { goKindOf, type TypeMeta, TypeMetaError, typeMetaOf } from "../lib/json/parse.ts";
import { quoteGo } from "../lib/json/quote.ts";
import { dnsSubdomainProblems } from "../lib/names/names.ts";
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
    throw new PolicyProblem(`failed decoding: ${error.message}`);
  }
}

type Members = Record<string, unknown>;

/** @param unknown gets a text for each field that there is none of */
function readPolicy(value: unknown, unknown: string[]): AuditPolicy {
  checkKind(value);
  const members = (value ?? {}) as Members;
  tellUnknown(members, ["apiVersion", "kind", "metadata", "rules", "omitStages", "omitManagedFields"], "", unknown);
  const struct = { name: "Policy", path: "" };
  return {
    rules: listOf(members.rules, at(struct, "rules"), "[]v1.PolicyRule").map((rule, index) => readRule(rule, index, unknown)),
    omitStages: textsOf(members.omitStages, at(struct, "omitStages"), "v1.Stage") as AuditStage[],
    omitManagedFields: boolOf(members.omitManagedFields, at(struct, "omitManagedFields")) ?? false,
  };
}

/** A kind that is left out is the right one; a version is not. */
function checkKind(value: unknown): void {
  const { apiVersion, kind } = namedKind(value);
  const meant = kind === "" ? "Policy" : kind;
  if (apiVersion === "") throw new PolicyProblem(`unknown group version field audit.k8s.io/__internal, Kind=${meant} in policy`);
  if (apiVersion !== "audit.k8s.io/v1" || meant !== "Policy")
    throw new PolicyProblem(`failed decoding: no kind ${quoteGo(meant)} is registered for version ${quoteGo(apiVersion)}`);
}

function namedKind(value: unknown): TypeMeta {
  try {
    return typeMetaOf(value);
  } catch (error) {
    if (!(error instanceof TypeMetaError)) throw error;
    throw new PolicyProblem(`failed decoding: ${error.message}`);
  }
}

const ruleFields = ["level", "users", "userGroups", "verbs", "resources", "namespaces", "nonResourceURLs", "omitStages", "omitManagedFields"];

function readRule(value: unknown, index: number, unknown: string[]): AuditRule {
  const members = membersOf(value, "Policy.rules", "v1.PolicyRule");
  const struct = { name: "PolicyRule", path: "rules." };
  tellUnknown(members, ruleFields, `rules[${index}].`, unknown);
  const texts = (field: string): string[] => textsOf(members[field], at(struct, field), "string");
  const path = `rules[${index}].resources`;
  return {
    level: textOf(members.level, at(struct, "level"), "v1.Level") as AuditLevel,
    users: texts("users"),
    userGroups: texts("userGroups"),
    verbs: texts("verbs"),
    resources: listOf(members.resources, at(struct, "resources"), "[]v1.GroupResources").map((one, nth) =>
      readResources(one, `${path}[${nth}]`, unknown),
    ),
    namespaces: texts("namespaces"),
    nonResourceUrls: texts("nonResourceURLs"),
    omitStages: textsOf(members.omitStages, at(struct, "omitStages"), "v1.Stage") as AuditStage[],
    omitManagedFields: boolOf(members.omitManagedFields, at(struct, "omitManagedFields")),
  };
}

function readResources(value: unknown, path: string, unknown: string[]): GroupResources {
  const members = membersOf(value, "PolicyRule.rules.resources", "v1.GroupResources");
  const struct = { name: "GroupResources", path: "rules.resources." };
  tellUnknown(members, ["group", "resources", "resourceNames"], `${path}.`, unknown);
  return {
    group: textOf(members.group, at(struct, "group"), "string"),
    resources: textsOf(members.resources, at(struct, "resources"), "string"),
    resourceNames: textsOf(members.resourceNames, at(struct, "resourceNames"), "string"),
  };
}

function tellUnknown(members: Members, known: readonly string[], prefix: string, unknown: string[]): void {
  for (const key of Object.keys(members)) if (!known.includes(key)) unknown.push(`unknown field "${prefix}${key}"`);
}

/** A field as Go's messages name it: its struct, and the names on the way to it. */
function at(struct: { readonly name: string; readonly path: string }, field: string): string {
  return `${struct.name}.${struct.path}${field}`;
}

function wrongType(value: unknown, field: string, type: string): PolicyProblem {
  return new PolicyProblem(`failed decoding: json: cannot unmarshal ${goKindOf(value)} into Go struct field ${field} of type ${type}`);
}

function membersOf(value: unknown, field: string, type: string): Members {
  if (value === null) return {};
  if (typeof value !== "object" || Array.isArray(value)) throw wrongType(value, field, type);
  return value as Members;
}

function listOf(value: unknown, field: string, type: string): readonly unknown[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw wrongType(value, field, type);
  return value;
}

function textsOf(value: unknown, field: string, type: string): string[] {
  return listOf(value, field, `[]${type}`).map((one) => textOf(one, field, type));
}

function textOf(value: unknown, field: string, type: string): string {
  if (value === undefined || value === null) return "";
  if (typeof value !== "string") throw wrongType(value, field, type);
  return value;
}

function boolOf(value: unknown, field: string): boolean | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "boolean") throw wrongType(value, field, "bool");
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
