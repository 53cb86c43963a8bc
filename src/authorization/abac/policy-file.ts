/**
 * Parses the file of `--authorization-policy-file`, with one JSON policy per line.
 * Source: k8s.io/kubernetes@v1.36.0/pkg/apis/abac/v1beta1/types.go and pkg/apis/abac/v0 for lines
 * without a version.
 */

/** One policy. An empty string matches no value, `*` matches every value. */
export interface AbacPolicy {
  readonly user: string;
  readonly group: string;
  readonly readonly: boolean;
  readonly apiGroup: string;
  readonly resource: string;
  readonly namespace: string;
  readonly nonResourcePath: string;
}

const apiVersion = "abac.authorization.kubernetes.io/v1beta1";
const allUsers = "system:authenticated";
const stringFields = ["user", "group", "apiGroup", "resource", "namespace", "nonResourcePath"] as const;

/**
 * @param path the name of the file in error messages
 * @throws Error with the number of the first line that is not a valid policy
 */
export function parseAbacPolicies(text: string, path: string): AbacPolicy[] {
  return text.split("\n").flatMap((line, index) => {
    const trimmed = line.trim();
    if (trimmed === "" || trimmed.startsWith("#")) return [];
    try {
      return [policyOf(JSON.parse(trimmed))];
    } catch (error) {
      throw new Error(`error reading policy file ${path}, line ${index + 1}: ${line}: ${(error as Error).message}`);
    }
  });
}

function policyOf(value: unknown): AbacPolicy {
  const { apiVersion: version, kind, spec, ...rest } = membersOf(value, "policy");
  if (version === undefined && kind === undefined) return unversionedPolicy(parseFields(rest));
  if (version !== apiVersion || kind !== "Policy")
    throw new Error(`no kind ${JSON.stringify(kind ?? "")} is registered for version ${JSON.stringify(version ?? "")}`);
  const policy = parseFields(membersOf(spec ?? {}, "spec"));
  return policy.user === "*" || policy.group === "*" ? { ...policy, user: "", group: allUsers } : policy;
}

/** In a policy without a version, a missing field matches every value. */
function unversionedPolicy(policy: AbacPolicy): AbacPolicy {
  const forAll = (policy.user === "" && policy.group === "") || policy.user === "*" || policy.group === "*";
  const anywhere = policy.namespace === "" && policy.resource === "";
  return {
    ...policy,
    ...(forAll && { user: "", group: allUsers }),
    namespace: policy.namespace || "*",
    resource: policy.resource || "*",
    apiGroup: "*",
    nonResourcePath: anywhere ? "*" : "",
  };
}

function membersOf(value: unknown, what: string): Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new Error(`the ${what} is not an object`);
  return value as Record<string, unknown>;
}

function parseFields(members: Record<string, unknown>): AbacPolicy {
  const policy = { user: "", group: "", apiGroup: "", resource: "", namespace: "", nonResourcePath: "" };
  for (const name of stringFields) {
    const value = members[name] ?? "";
    if (typeof value !== "string") throw new Error(`${name} is not a string`);
    policy[name] = value;
  }
  const { readonly = false } = members;
  if (typeof readonly !== "boolean") throw new Error("readonly is not a boolean");
  return { ...policy, readonly };
}
