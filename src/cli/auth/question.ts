/** What `coxswain auth explain` is asked: may who do what, where? */
import { serviceAccountGroups, serviceAccountOf } from "../../apimachinery/service-account.ts";
import type { UserInfo } from "../../apimachinery/user.ts";
import type { AuthorizationAttributes } from "../../authorization/contract.ts";
import type { FoundResource } from "./find-resource.ts";

export type Question = AuthorizationAttributes;

/** The command line, as far as it says what is asked for. */
export interface Asked {
  readonly verb: string;
  /** `pods`, `deployments.apps/scale`, or `/healthz`. */
  readonly resource: string;
  readonly name: string;
  readonly namespace: string;
  readonly fieldSelector: string;
  readonly labelSelector: string;
}

/** A path, or a resource with what follows a slash. */
export function splitResource(
  text: string,
): { readonly path: string } | { readonly resource: string; readonly subresource: string } {
  if (text.startsWith("/")) return { path: text };
  const [resource = "", ...subresource] = text.split("/");
  return { resource, subresource: subresource.join("/") };
}

/** As impersonation has them: what everybody is in who proved who they are, and what service accounts are in unless groups are given. */
export function userNamed(name: string, groups: readonly string[]): UserInfo {
  const account = serviceAccountOf(name);
  const given = groups.length === 0 && account !== undefined ? serviceAccountGroups(account.namespace) : groups;
  const everybody = name === "system:anonymous" ? "system:unauthenticated" : "system:authenticated";
  const known = given.includes("system:authenticated") || given.includes("system:unauthenticated");
  return { name, uid: "", groups: known ? given : [...given, everybody], extra: new Map() };
}

const nothing = {
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

export function pathQuestion(user: UserInfo, { verb }: Asked, path: string): Question {
  return { ...nothing, user, verb: verb.toLowerCase(), isResourceRequest: false, path };
}

/** @param found the namespace counts where the resource has one, or nobody knows it */
export function resourceQuestion(user: UserInfo, asked: Asked, found: FoundResource, subresource: string): Question {
  const { verb, name, fieldSelector, labelSelector } = asked;
  const { group, version, resource } = found;
  const namespace = found.namespaced ? asked.namespace : "";
  return {
    ...nothing,
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

/** The `spec` of a review that asks the server about the request; of a SelfSubjectAccessReview it is all of it. */
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
