/**
 * Parses the file of `--audit-policy-file`, with upstream's error messages.
 * Source: k8s.io/apiserver@v0.36.0/pkg/audit/policy/reader.go and
 * pkg/apis/audit/validation/validation.go.
 */
import { aggregated } from "../apimachinery/configuration-file.ts";
import { bool, configKind, configStruct, listOf, text } from "../apimachinery/configuration-schema.ts";
import { FieldErrors } from "../apimachinery/field-errors.ts";
import { type Document, type TypeMeta, TypeMetaError, typeMetaOf } from "../lib/json/parse.ts";
import { quoteGo } from "../lib/json/quote.ts";
import { dnsSubdomainProblems } from "../lib/names/names.ts";
import { type Decoded, DecodeError, decodeDocument } from "../lib/schema/decode.ts";
import { decodeYaml, strictYamlError, YamlError } from "../lib/yaml/decode.ts";
import { type AuditLevel, auditLevels } from "../request/audit.ts";
import { type AuditStage, auditStages } from "./contract.ts";
import type { AuditPolicy, AuditRule, GroupResources } from "./policy.ts";

/**
 * Decodes and validates a policy.
 *
 * @param path the name of the file in error messages
 * @param warn receives a message about unknown and duplicate fields, which are ignored
 * @throws Error when the policy is invalid
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
  checkKind(value);
  const { object, problems: fieldErrors } = decode({ bytes, value: value ?? {}, members: 0, repeated: new Map() });
  const strict = strictErrors.length === 0 ? fieldErrors : [strictYamlError(strictErrors), ...fieldErrors];
  if (strict.length > 0)
    warn(`Audit policy contains errors, falling back to lenient decoding: strict decoding error: ${strict.join(", ")}`);
  const policy = policyOf(object);
  const problem = aggregated(validate(policy));
  if (problem !== undefined) throw new PolicyProblem(problem);
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

/** The kind can be missing, the version cannot. */
function checkKind(value: unknown): void {
  const { apiVersion, kind } = namedKind(value);
  const effectiveKind = kind === "" ? "Policy" : kind;
  if (apiVersion === "")
    throw new PolicyProblem(`unknown group version field audit.k8s.io/__internal, Kind=${effectiveKind} in policy`);
  if (apiVersion !== "audit.k8s.io/v1" || effectiveKind !== "Policy")
    throw new PolicyProblem(
      `failed decoding: no kind ${quoteGo(effectiveKind)} is registered for version ${quoteGo(apiVersion)}`,
    );
}

function namedKind(value: unknown): TypeMeta {
  try {
    return typeMetaOf(value);
  } catch (error) {
    if (!(error instanceof TypeMetaError)) throw error;
    throw new PolicyProblem(`failed decoding: ${error.message}`);
  }
}

const stages = { type: listOf(text), goTypes: ["[]v1.Stage", "v1.Stage"] };
const optionalBool = { type: bool, pointer: true };
const policySchema = configKind("v1.Policy", {
  metadata: { kind: "any", definition: "v1.ObjectMeta" },
  rules: listOf(
    configStruct("v1.PolicyRule", {
      level: { type: text, goTypes: ["v1.Level"] },
      users: listOf(text),
      userGroups: listOf(text),
      verbs: listOf(text),
      resources: listOf(
        configStruct("v1.GroupResources", { group: text, resources: listOf(text), resourceNames: listOf(text) }),
      ),
      namespaces: listOf(text),
      nonResourceURLs: listOf(text),
      omitStages: stages,
      omitManagedFields: optionalBool,
    }),
  ),
  omitStages: stages,
  omitManagedFields: bool,
});

function decode(document: Document): Decoded {
  try {
    return decodeDocument(document, policySchema);
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw new PolicyProblem(`failed decoding: ${error.message}`);
  }
}

/** A decoded policy before defaults. */
interface DecodedPolicy {
  readonly rules?: readonly DecodedRule[];
  readonly omitStages?: AuditStage[];
  readonly omitManagedFields?: boolean;
}
type DecodedRule = Partial<Omit<AuditRule, "nonResourceUrls" | "resources">> & {
  readonly nonResourceURLs?: string[];
  readonly resources?: readonly Partial<GroupResources>[];
};

function policyOf({ rules = [], omitStages = [], omitManagedFields = false }: DecodedPolicy): AuditPolicy {
  return { rules: rules.map(ruleOf), omitStages, omitManagedFields };
}

function ruleOf({
  resources = [],
  nonResourceURLs: nonResourceUrls = [],
  level = "" as AuditLevel,
  omitManagedFields,
  ...rest
}: DecodedRule): AuditRule {
  const none = { users: [], userGroups: [], verbs: [], namespaces: [], omitStages: [] };
  return {
    ...none,
    ...rest,
    level,
    omitManagedFields,
    nonResourceUrls,
    resources: resources.map((one) => ({ group: "", resources: [], resourceNames: [], ...one })),
  };
}

function validate({ rules, omitStages }: AuditPolicy): FieldErrors {
  const errors = new FieldErrors();
  validateStages(omitStages, "omitStages", errors);
  for (const [index, rule] of rules.entries()) validateRule(rule, `rules[${index}]`, errors);
  return errors;
}

function validateRule(rule: AuditRule, path: string, errors: FieldErrors): void {
  if ((rule.level as string) === "") errors.required(`${path}.level`);
  else if (!auditLevels.includes(rule.level)) errors.notSupported(`${path}.level`, rule.level, auditLevels);
  for (const [index, url] of rule.nonResourceUrls.entries()) {
    const at = `${path}.nonResourceURLs[${index}]`;
    if (url === "*") continue;
    if (!url.startsWith("/")) errors.invalid(at, url, "non-resource URL rules must begin with a '/' character");
    if (url.slice(0, -1).includes("*"))
      errors.invalid(at, url, "non-resource URL wildcards '*' must be the final character of the rule");
  }
  // Upstream names the list without an index.
  for (const one of rule.resources) validateResources(one, `${path}.resources`, errors);
  validateStages(rule.omitStages, `${path}.omitStages`, errors);
  if (rule.nonResourceUrls.length > 0 && rule.resources.length + rule.namespaces.length > 0)
    errors.invalid(
      `${path}.nonResourceURLs`,
      rule.nonResourceUrls,
      "rules cannot apply to both regular resources and non-resource URLs",
    );
}

function validateResources(
  { group, resources, resourceNames }: GroupResources,
  path: string,
  errors: FieldErrors,
): void {
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
