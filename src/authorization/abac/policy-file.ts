/** The file of `--authorization-policy-file`: a policy in JSON per line. Source: access-control §5.3; upstream's abac, v1beta1 and the form before it. */

/** What one line allows. Empty texts name nobody and nothing, `*` anything. */
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
const everybody = "system:authenticated";
const texts = ["user", "group", "apiGroup", "resource", "namespace", "nonResourcePath"] as const;

/** @param path as messages name it @throws Error that names the first line which is no policy */
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
  if (version === undefined && kind === undefined) return olderPolicy(read(rest));
  if (version !== apiVersion || kind !== "Policy")
    throw new Error(`no kind ${JSON.stringify(kind ?? "")} is registered for version ${JSON.stringify(version ?? "")}`);
  const policy = read(membersOf(spec ?? {}, "spec"));
  return policy.user === "*" || policy.group === "*" ? { ...policy, user: "", group: everybody } : policy;
}

/** Without a version, what is left out means all. */
function olderPolicy(policy: AbacPolicy): AbacPolicy {
  const forAll = (policy.user === "" && policy.group === "") || policy.user === "*" || policy.group === "*";
  const anywhere = policy.namespace === "" && policy.resource === "";
  return {
    ...policy,
    ...(forAll && { user: "", group: everybody }),
    namespace: policy.namespace || "*",
    resource: policy.resource || "*",
    apiGroup: "*",
    nonResourcePath: anywhere ? "*" : "",
  };
}

function membersOf(value: unknown, what: string): Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new Error(`the ${what} is no object`);
  return value as Record<string, unknown>;
}

function read(members: Record<string, unknown>): AbacPolicy {
  const policy = { user: "", group: "", apiGroup: "", resource: "", namespace: "", nonResourcePath: "" };
  for (const name of texts) {
    const value = members[name] ?? "";
    if (typeof value !== "string") throw new Error(`${name} is no text`);
    policy[name] = value;
  }
  const { readonly = false } = members;
  if (typeof readonly !== "boolean") throw new Error("readonly is neither true nor false");
  return { ...policy, readonly };
}
