/** The requests that `coxswain auth explain` sends to an API server. */
import type { KubeObject } from "../../apimachinery/object.ts";
import type { UserInfo } from "../../apimachinery/user.ts";
import { bindingOf, roleOf } from "../../authorization/rbac/follow-policy.ts";
import type { Binding, Role } from "../../authorization/rbac/policy.ts";
import { type Question, requestSpec } from "./question.ts";

/** Sends one request; implemented by `client/client.ts`. */
export interface Sender {
  send(request: {
    method: string;
    path: string;
    headers?: Record<string, string>;
    body?: object;
  }): Promise<{ status: number; body: Buffer }>;
}

/** The server answered with an error. */
export class RequestRejected extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.name = "RequestRejected";
    this.status = status;
  }
}

// biome-ignore lint/suspicious/noExplicitAny: answers are read member by member.
export type Json = Record<string, any>;

/** Sends a request and decodes the answer. @throws RequestRejected with the server's message */
export async function ask(
  server: Sender,
  method: string,
  path: string,
  more: { body?: object; accept?: string } = {},
): Promise<Json> {
  const { body, accept } = more;
  const answer = await server.send({
    method,
    path,
    ...(accept !== undefined && { headers: { accept } }),
    ...(body !== undefined && { body }),
  });
  const decoded = parse(answer.body);
  if (answer.status < 300 && decoded !== undefined) return decoded;
  throw new RequestRejected(
    answer.status,
    decoded?.message ?? `${method} ${path}: the server answered ${answer.status}`,
  );
}

function parse(body: Buffer): Json | undefined {
  try {
    const value: unknown = JSON.parse(body.toString());
    return typeof value === "object" && value !== null ? (value as Json) : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

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
    ["clusterroles", "roles", "clusterrolebindings", "rolebindings"].map((resource) => listAll(server, resource)),
  );
  return {
    roles: [...(clusterRoles as KubeObject[]), ...(roles as KubeObject[])].map(roleOf),
    bindings: [...(clusterBindings as KubeObject[]), ...(bindings as KubeObject[])].map(bindingOf),
  };
}

const objectsPerPage = 500;

async function listAll(server: Sender, resource: string): Promise<KubeObject[]> {
  const objects: KubeObject[] = [];
  let next = "";
  do {
    const query = new URLSearchParams({ limit: String(objectsPerPage), ...(next !== "" && { continue: next }) });
    const { items = [], metadata = {} } = await ask(
      server,
      "GET",
      `/apis/rbac.authorization.k8s.io/v1/${resource}?${query}`,
    );
    objects.push(...items);
    next = metadata.continue ?? "";
  } while (next !== "");
  return objects;
}
