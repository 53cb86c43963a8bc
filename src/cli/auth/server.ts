/** What `coxswain auth explain` asks of a server, any that speaks Kubernetes' API. */
import type { KubeObject } from "../../apimachinery/object.ts";
import type { UserInfo } from "../../apimachinery/user.ts";
import { bindingOf, roleOf } from "../../authorization/rbac/follow-policy.ts";
import type { Binding, Role } from "../../authorization/rbac/policy.ts";
import { type Question, requestSpec } from "./question.ts";

/** One request. `client/client.ts` has it. */
export interface Sender {
  send(request: {
    method: string;
    path: string;
    headers?: Record<string, string>;
    body?: object;
  }): Promise<{ status: number; body: Buffer }>;
}

/** The server answered, but not what was asked for. */
export class RefusedRequest extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.name = "RefusedRequest";
    this.status = status;
  }
}

// biome-ignore lint/suspicious/noExplicitAny: answers are read member by member.
type Answer = Record<string, any>;

/** @throws RefusedRequest with the server's message */
export async function ask(
  server: Sender,
  method: string,
  path: string,
  more: { body?: object; accept?: string } = {},
): Promise<Answer> {
  const { body, accept } = more;
  const answer = await server.send({
    method,
    path,
    ...(accept !== undefined && { headers: { accept } }),
    ...(body !== undefined && { body }),
  });
  const decoded = parse(answer.body);
  if (answer.status < 300 && decoded !== undefined) return decoded;
  throw new RefusedRequest(
    answer.status,
    decoded?.message ?? `${method} ${path}: the server answered ${answer.status}`,
  );
}

function parse(body: Buffer): Answer | undefined {
  try {
    const value: unknown = JSON.parse(body.toString());
    return typeof value === "object" && value !== null ? (value as Answer) : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

export interface Verdict {
  readonly allowed: boolean;
  /** Refused by an authorizer, rather than allowed by none. */
  readonly denied: boolean;
  readonly reason: string;
  readonly evaluationError: string;
}

/** What the authorizers of the server say of somebody, asked by a SubjectAccessReview. @throws RefusedRequest */
export function askVerdict(server: Sender, question: Question): Promise<Verdict> {
  const { name, groups, uid, extra } = question.user;
  return review(server, "SubjectAccessReview", {
    ...requestSpec(question),
    user: name,
    groups,
    uid,
    extra: Object.fromEntries(extra),
  });
}

/** What they say of whoever asks, who needs no right to ask that. @throws RefusedRequest */
export function askOwnVerdict(server: Sender, question: Question): Promise<Verdict> {
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

/** Who the server takes us for. @throws RefusedRequest */
export async function askSelf(server: Sender): Promise<UserInfo> {
  const body = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };
  const { status = {} } = await ask(server, "POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", { body });
  const { username = "", uid = "", groups = [], extra = {} } = status.userInfo ?? {};
  return { name: username, uid, groups, extra: new Map(Object.entries(extra)) };
}

export interface PolicyObjects {
  readonly roles: readonly Role[];
  readonly bindings: readonly Binding[];
}

/** All roles and bindings there are. @throws RefusedRequest when one of the four lists may not be read */
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
