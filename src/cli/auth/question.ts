/** The access question that `coxswain auth explain` answers, as attributes for authorizers. */
import { serviceAccountGroups, serviceAccountOf } from "../../apimachinery/service-account.ts";
import type { UserInfo } from "../../apimachinery/user.ts";
import type { AuthorizationAttributes } from "../../authorization/contract.ts";
import type { FoundResource } from "./find-resource.ts";

export type Question = AuthorizationAttributes;

/** The request to explain, as the command line names it. */
export interface Target {
  readonly verb: string;
  /** `pods`, `deployments.apps/scale`, or `/healthz`. */
  readonly resource: string;
  readonly name: string;
  readonly namespace: string;
  readonly fieldSelector: string;
  readonly labelSelector: string;
}

/** Splits `pods/log` into resource and subresource; a text that starts with a slash is a path. */
export function splitResource(
  text: string,
): { readonly path: string } | { readonly resource: string; readonly subresource: string } {
  if (text.startsWith("/")) return { path: text };
  const [resource = "", ...subresource] = text.split("/");
  return { resource, subresource: subresource.join("/") };
}

/**
 * Adds groups as impersonation does: `system:authenticated` (or `system:unauthenticated` for the
 * anonymous user), and the groups of a service account when no groups are specified.
 */
export function userNamed(name: string, groups: readonly string[]): UserInfo {
  const account = serviceAccountOf(name);
  const base = groups.length === 0 && account !== undefined ? serviceAccountGroups(account.namespace) : groups;
  const common = name === "system:anonymous" ? "system:unauthenticated" : "system:authenticated";
  const hasCommon = base.includes("system:authenticated") || base.includes("system:unauthenticated");
  return { name, uid: "", groups: hasCommon ? base : [...base, common], extra: new Map() };
}

const emptyAttributes = {
  path: "",
  group: "",
  version: "",
  resource: "",
  subresource: "",
  namespace: "",
  name: "",
  fieldSelector: "",
  labelSelector: "",
};

export function pathQuestion(user: UserInfo, { verb }: Target, path: string): Question {
  return { ...emptyAttributes, user, verb: verb.toLowerCase(), isResourceRequest: false, path };
}

/** @param found the resource; the namespace is used if it is namespaced or does not exist */
export function resourceQuestion(user: UserInfo, target: Target, found: FoundResource, subresource: string): Question {
  const { verb, name, fieldSelector, labelSelector } = target;
  const { group, version, resource } = found;
  const namespace = found.namespaced ? target.namespace : "";
  return {
    ...emptyAttributes,
    user,
    verb,
    isResourceRequest: true,
    group,
    version,
    resource,
    subresource,
    namespace,
    name,
    fieldSelector,
    labelSelector,
  };
}

/** The attributes in the `spec` of an access review; a SelfSubjectAccessReview has nothing else. */
export function requestSpec(question: Question): object {
  const { verb, path, group, version, resource, subresource, namespace, name, fieldSelector, labelSelector } = question;
  return question.isResourceRequest
    ? {
        resourceAttributes: {
          verb,
          group,
          version,
          resource,
          subresource,
          namespace,
          name,
          ...(fieldSelector !== "" && { fieldSelector: { rawSelector: fieldSelector } }),
          ...(labelSelector !== "" && { labelSelector: { rawSelector: labelSelector } }),
        },
      }
    : { nonResourceAttributes: { verb, path } };
}
