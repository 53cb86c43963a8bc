/** The requests that `coxswain auth explain` sends to an API server. */
import type { KubeObject } from "../../apimachinery/object.ts";
import type { UserInfo } from "../../apimachinery/user.ts";
import { bindingOf, roleOf } from "../../authorization/rbac/follow-policy.ts";
import type { Binding, Role } from "../../authorization/rbac/policy.ts";
import { ask, type Sender } from "../client/ask.ts";
import { listAll } from "../client/list-all.ts";
import { type Question, requestSpec } from "./question.ts";

/** The status of an access review. */
export interface Verdict {
  readonly allowed: boolean;
  /** An authorizer denied the request; otherwise no authorizer had an opinion. */
  readonly denied: boolean;
  readonly reason: string;
  readonly evaluationError: string;
}

/** Creates a SubjectAccessReview. @throws RequestRejected */
export function reviewAccess(server: Sender, question: Question): Promise<Verdict> {
  const { name, groups, uid, extra } = question.user;
  return review(server, "SubjectAccessReview", {
    ...requestSpec(question),
    user: name,
    groups,
    uid,
    extra: Object.fromEntries(extra),
  });
}

/**
 * Creates a SelfSubjectAccessReview, which every authenticated user is allowed to do.
 *
 * @throws RequestRejected
 */
export function reviewOwnAccess(server: Sender, question: Question): Promise<Verdict> {
  return review(server, "SelfSubjectAccessReview", requestSpec(question));
}

async function review(server: Sender, kind: string, spec: object): Promise<Verdict> {
  const group = "authorization.k8s.io/v1";
  const { status = {} } = await ask(server, "POST", `/apis/${group}/${kind.toLowerCase()}s`, {
    body: { apiVersion: group, kind, spec },
  });
  const { allowed = false, denied = false, reason = "", evaluationError = "" } = status;
  return { allowed, denied, reason, evaluationError };
}

/** The user of the kubeconfig, as the server authenticates it. @throws RequestRejected */
export async function reviewSelf(server: Sender): Promise<UserInfo> {
  const body = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };
  const { status = {} } = await ask(server, "POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", { body });
  const { username = "", uid = "", groups = [], extra = {} } = status.userInfo ?? {};
  return { name: username, uid, groups, extra: new Map(Object.entries(extra)) };
}

/** All RBAC objects of a server. */
export interface PolicyObjects {
  readonly roles: readonly Role[];
  readonly bindings: readonly Binding[];
}

/**
 * Lists all roles and bindings.
 *
 * @throws RequestRejected when the user is not allowed to list one of the four resources
 */
export async function readPolicy(server: Sender): Promise<PolicyObjects> {
  const [clusterRoles, roles, clusterBindings, bindings] = await Promise.all(
    ["clusterroles", "roles", "clusterrolebindings", "rolebindings"].map((resource) =>
      listAll(server, `/apis/rbac.authorization.k8s.io/v1/${resource}`),
    ),
  );
  return {
    roles: [...(clusterRoles as KubeObject[]), ...(roles as KubeObject[])].map(roleOf),
    bindings: [...(clusterBindings as KubeObject[]), ...(bindings as KubeObject[])].map(bindingOf),
  };
}
