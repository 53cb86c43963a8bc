/**
 * A user cannot grant permissions that the user does not have. Source:
 * k8s.io/kubernetes@v1.36.0/pkg/registry/rbac/{role,rolebinding}/policybased.
 */

import { ApiError, badRequest, forbidden, notFound, timeout } from "../../apimachinery/errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import type { UserInfo } from "../../apimachinery/user.ts";
import type { Authorizer, PolicyRule } from "../../authorization/contract.ts";
import { everything } from "../../authorization/modes.ts";
import { type CoverLimits, findUncovered } from "../../authorization/rbac/cover.ts";
import { describePieces } from "../../authorization/rbac/describe-pieces.ts";
import { bindingOf, roleOf } from "../../authorization/rbac/follow-policy.ts";
import { boundRole, type Policy } from "../../authorization/rbac/policy.ts";
import { rulesFor } from "../../authorization/rbac/rbac.ts";
import { quoteGo, quoteGoList } from "../../lib/json/quote.ts";
import { deepEqual } from "../../lib/json/values.ts";
import type { AdmissionAttributes } from "../../registry/admission-attributes.ts";
import type { AdmissionPlugin } from "../contract.ts";

const group = "rbac.authorization.k8s.io";

/**
 * @param authorize the whole authorizer chain, for the verbs `escalate` and `bind`
 * @returns a plugin that checks roles and bindings; it must run after all plugins that change
 *   objects
 */
export function rbacEscalation(policy: Policy, authorize: Authorizer): AdmissionPlugin {
  return {
    name: "RBACEscalation",
    mutate(attributes) {
      const { operation, target, object, subresource, user } = attributes;
      if ((operation !== "CREATE" && operation !== "UPDATE") || object === undefined || subresource !== "") return;
      if (target.resource.definition.group !== group || user.groups.includes("system:masters")) return;
      return object.roleRef === undefined
        ? checkRole(policy, authorize, attributes, object)
        : checkBinding(policy, authorize, attributes, object);
    },
  };
}

/** The garbage collector can change owners and finalizers of roles whose permissions it lacks. */
function changesOnlyOwnersAndFinalizers({ object, oldObject }: AdmissionAttributes): boolean {
  if (object === undefined || oldObject === undefined) return false;
  const bare = ({ metadata, ...rest }: KubeObject): object => {
    const { ownerReferences, finalizers, managedFields, ...kept } = metadata;
    return { ...rest, metadata: kept };
  };
  return deepEqual(bare(object), bare(oldObject));
}

async function checkRole(
  policy: Policy,
  authorize: Authorizer,
  attributes: AdmissionAttributes,
  object: KubeObject,
): Promise<void> {
  const { user, namespace } = attributes;
  const { resource } = attributes.target.resource.definition;
  if (await isAllowed(authorize, user, "escalate", { resource, namespace, name: attributes.pathName })) return;
  if (changesOnlyOwnersAndFinalizers(attributes)) return;
  const { name, rules } = roleOf(object);
  const missing = describeMissing(policy, attributes, rules);
  if (missing !== undefined) throw forbidden({ group, resource }, name, missing);
  if (!aggregates(object) && !aggregates(attributes.oldObject)) return;
  if (describeMissing(policy, attributes, everything) === undefined) return;
  throw forbidden({ group, resource }, name, "must have cluster-admin privileges to use the aggregationRule");
}

function aggregates(object: KubeObject | undefined): boolean {
  return (object?.aggregationRule?.clusterRoleSelectors ?? []).length > 0;
}

async function checkBinding(
  policy: Policy,
  authorize: Authorizer,
  attributes: AdmissionAttributes,
  object: KubeObject,
): Promise<void> {
  if (changesOnlyOwnersAndFinalizers(attributes)) return;
  const { user, namespace, target } = attributes;
  const { resource } = target.resource.definition;
  const binding = { ...bindingOf(object), namespace };
  const { kind, name } = binding.roleRef;
  const roles = kind === "Role" ? "roles" : "clusterroles";
  if (
    (kind === "Role" || kind === "ClusterRole") &&
    (await isAllowed(authorize, user, "bind", { resource: roles, namespace, name }))
  )
    return;
  const role = boundRole(policy, binding);
  if (typeof role === "string") {
    if (kind === "Role" && namespace === "") throw badRequest("Namespace parameter required.");
    // Upstream reads the role in the context of this request, whose resource the error names.
    if (kind === "Role" || kind === "ClusterRole") throw notFound({ group, resource }, name);
    throw new ApiError({ code: 500, message: role });
  }
  const missing = describeMissing(policy, attributes, role.rules);
  if (missing !== undefined) throw forbidden({ group, resource }, binding.name, missing);
}

interface RoleAction {
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
}

async function isAllowed(authorize: Authorizer, user: UserInfo, verb: string, action: RoleAction): Promise<boolean> {
  const request = {
    user,
    verb,
    isResourceRequest: true,
    path: "",
    group,
    version: "*",
    subresource: "",
    fieldSelector: "",
    labelSelector: "",
  };
  return (await authorize({ ...request, ...action })).decision === "allow";
}

/**
 * The search for missing permissions ends here. The lists of a rule multiply, so that a rule of a
 * kilobyte has millions of combinations; usual roles need some thousand steps. A longer search that
 * found nothing is answered with upstream's timeout.
 */
const missingPiecesMax = 2_000;
const missingCharactersMax = 100_000;
const searchStepsMin = 40_000;
const searchStepsPerValue = 20;

function limitsOf(rules: readonly PolicyRule[]): CoverLimits {
  let values = 0;
  for (const rule of rules) for (const list of Object.values(rule)) values += list.length;
  return {
    piecesMax: missingPiecesMax,
    charactersMax: missingCharactersMax,
    stepsMax: searchStepsMin + searchStepsPerValue * values,
  };
}

/**
 * @returns undefined when the user has all permissions of the rules
 * @throws ApiError 504 when the search reaches its limit of steps and has found nothing
 */
function describeMissing(
  policy: Policy,
  { user, namespace, target }: AdmissionAttributes,
  rules: readonly PolicyRule[],
): string | undefined {
  const owned = rulesFor(policy, user, namespace, target.resource.definition.resource);
  const { pieces, limit } = findUncovered(owned.rules, rules, limitsOf(rules));
  if (pieces.length === 0) {
    if (limit === undefined) return undefined;
    throw timeout("request did not complete within requested timeout - context deadline exceeded");
  }
  const who = `user ${quoteGo(user.name)} (groups=${quoteGoList(user.groups)})`;
  const lines = describePieces(pieces);
  if (limit !== undefined) lines.push("(further permissions are omitted)");
  const message = `${who} is attempting to grant RBAC permissions not currently held:\n${lines.join("\n")}`;
  return owned.problems.length === 0 ? message : `${message}; resolution errors: [${owned.problems.join(", ")}]`;
}
