/**
 * Authorizes impersonation. The legacy mode requires the verb `impersonate` on the user, each
 * group, and so on; the constrained modes (gate ConstrainedImpersonation) require other verbs, and
 * one for the action itself. Source: KEP-5284.
 */
import type { ApiError } from "../../apimachinery/errors.ts";
import { serviceAccountGroups, serviceAccountOf } from "../../apimachinery/service-account.ts";
import type { UserInfo } from "../../apimachinery/user.ts";
import { quoteGo, quoteGoList } from "../../lib/json/quote.ts";
import { dnsSubdomainProblems } from "../../lib/names/names.ts";
import type { AuthorizationAttributes, Authorizer } from "../contract.ts";
import { forbiddenError } from "../forbidden-error.ts";

/** A mode of impersonation. */
export interface Mode {
  /** Empty for the legacy mode. */
  readonly name: string;
  /** Whether the mode applies to these users. */
  fits(target: UserInfo, requestor: UserInfo): boolean;
  /** Changes the attributes that are authorized. */
  adapt?(request: AuthorizationAttributes): AuthorizationAttributes;
}

const nodeNameKey = "authentication.kubernetes.io/node-name";

/** In the order in which they are tried. */
export const constrainedModes: readonly Mode[] = [
  {
    name: "associated-node",
    fits: (target, requestor) => isBare(target) && isOwnNode(target, requestor),
    adapt: forAnyNode,
  },
  { name: "arbitrary-node", fits: (target) => isBare(target) && nodeOf(target.name) !== undefined },
  { name: "serviceaccount", fits: (target) => isBare(target) && serviceAccountOf(target.name) !== undefined },
  { name: "user-info", fits: ({ name }) => nodeOf(name) === undefined && serviceAccountOf(name) === undefined },
];

/** The mode without constraints. */
export const olderMode: Mode = { name: "", fits: () => true };

/** Whether only a name is requested. */
function isBare({ uid, groups, extra }: UserInfo): boolean {
  return uid === "" && groups.length === 0 && extra.size === 0;
}

function nodeOf(userName: string): string | undefined {
  const prefix = "system:node:";
  const name = userName.slice(prefix.length);
  return userName.startsWith(prefix) && dnsSubdomainProblems(name).length === 0 ? name : undefined;
}

/** Whether the user is a service account whose token is bound to that node. */
function isOwnNode(target: UserInfo, requestor: UserInfo): boolean {
  const node = nodeOf(target.name);
  const values = requestor.extra.get(nodeNameKey) ?? [];
  return (
    node !== undefined && serviceAccountOf(requestor.name) !== undefined && values.length === 1 && values[0] === node
  );
}

/** The decision must not depend on the name of the node. */
function forAnyNode(request: AuthorizationAttributes): AuthorizationAttributes {
  const extra = new Map([["authentication.kubernetes.io/associated-node-keys", [...request.user.extra.keys()].sort()]]);
  const name = request.verb === "impersonate:associated-node" ? "*" : request.name;
  return { ...request, user: { ...request.user, extra }, name };
}

/**
 * Authorizes one mode.
 * @param request the action to perform as the other user
 * @returns the impersonated user
 * @throws ApiError 403
 */
export async function impersonate(
  mode: Mode,
  authorize: Authorizer,
  request: AuthorizationAttributes,
  target: UserInfo,
): Promise<UserInfo> {
  const check = async (attributes: AuthorizationAttributes): Promise<void> => {
    const { decision, reason } = await authorize(mode.adapt?.(attributes) ?? attributes);
    if (decision !== "allow") throw forbiddenError(mode.adapt?.(attributes) ?? attributes, reason);
  };
  const constrained = mode.name !== "";
  if (constrained) await check({ ...request, verb: `impersonate-on:${mode.name}:${request.verb}` });
  const verb = constrained ? `impersonate:${mode.name}` : "impersonate";
  const question = (group: string, resource: string, name: string): AuthorizationAttributes => ({
    user: request.user,
    verb,
    isResourceRequest: true,
    path: "",
    group,
    version: "v1",
    resource,
    subresource: "",
    namespace: "",
    name,
    fieldSelector: "",
    labelSelector: "",
  });
  const authentication = "authentication.k8s.io";
  const ofUsers = constrained ? authentication : "";
  const questions = { constrained, check, question, ofUsers };
  const groups = await checkName(questions, target);
  if (target.uid !== "") await check(question(authentication, "uids", target.uid));
  await checkGroups(questions, target.groups);
  await checkExtra(questions, question(authentication, "userextras", ""), target.extra);
  return { ...target, groups: completed(target.name, groups) };
}

interface Questions {
  readonly constrained: boolean;
  /** The group of `users`, `groups`, `nodes` and `serviceaccounts`. */
  readonly ofUsers: string;
  check(attributes: AuthorizationAttributes): Promise<void>;
  question(group: string, resource: string, name: string): AuthorizationAttributes;
}

/** @returns the groups of the impersonated user */
async function checkName(
  { constrained, check, question, ofUsers }: Questions,
  { name, groups }: UserInfo,
): Promise<readonly string[]> {
  const account = serviceAccountOf(name);
  const node = constrained ? nodeOf(name) : undefined;
  if (account === undefined && node === undefined) {
    await check(question(ofUsers, "users", name));
    return groups;
  }
  const attributes =
    account === undefined
      ? question(ofUsers, "nodes", node as string)
      : { ...question(ofUsers, "serviceaccounts", account.name), namespace: account.namespace };
  if (constrained && groups.length > 0)
    throw forbiddenError(attributes, withGroups(account === undefined ? "node" : "service account", groups));
  await check(attributes);
  if (account === undefined) return ["system:nodes"];
  return groups.length === 0 ? serviceAccountGroups(account.namespace) : groups;
}

function withGroups(what: string, groups: readonly string[]): string {
  return `when impersonating a ${what}, cannot impersonate groups ${quoteGoList(groups)}`;
}

/** From this number on, one check for all values is tried first. */
const manyMin = 4;

async function checkGroups(
  { constrained, check, question, ofUsers }: Questions,
  groups: readonly string[],
): Promise<void> {
  const attributes = (name: string): AuthorizationAttributes => question(ofUsers, "groups", name);
  if (constrained && groups.includes(""))
    throw forbiddenError(attributes(""), "impersonating the empty string group is not allowed");
  if (constrained && groups.includes("system:masters"))
    throw forbiddenError(attributes("system:masters"), "impersonating the system:masters group is not allowed");
  if (constrained && groups.length >= manyMin && (await isAllowed(check(attributes("*"))))) return;
  for (const group of groups) await check(attributes(group));
}

async function checkExtra(
  { constrained, check }: Questions,
  attributes: AuthorizationAttributes,
  extra: UserInfo["extra"],
): Promise<void> {
  if (constrained) {
    const problem = [...extra].map(([key, values]) => extraProblem(key, values)).find((each) => each !== undefined);
    if (problem !== undefined) throw forbiddenError(attributes, problem);
    const count = [...extra.values()].reduce((sum, values) => sum + values.length, 0);
    if (count >= manyMin && (await isAllowed(check({ ...attributes, subresource: "*", name: "*" })))) return;
  }
  for (const [key, values] of extra)
    for (const value of values) await check({ ...attributes, subresource: key, name: value });
}

async function isAllowed(checked: Promise<void>): Promise<boolean> {
  return checked.then(
    () => true,
    (error: ApiError) => {
      if (error.status?.code === 403) return false;
      throw error;
    },
  );
}

function extraProblem(key: string, values: readonly string[]): string | undefined {
  if (key === "") return "impersonating the empty string key in extra is not allowed";
  const slash = key.indexOf("/");
  if (slash <= 0 || slash === key.length - 1) {
    return `impersonating an invalid key in extra is not allowed: extra.key: Invalid value: ${quoteGo(key)}: must be a domain-prefixed path (such as "acme.io/foo")`;
  }
  const host = key.slice(0, slash);
  const [problem] = dnsSubdomainProblems(host);
  if (problem !== undefined)
    return `impersonating an invalid key in extra is not allowed: extra.key: Invalid value: ${quoteGo(host)}: ${problem}`;
  return values.includes("") ? "impersonating the empty string value in extra is not allowed" : undefined;
}

/** Adds system:authenticated or system:unauthenticated. */
function completed(name: string, groups: readonly string[]): readonly string[] {
  const unauthenticated = "system:unauthenticated";
  if (name === "system:anonymous") return groups.includes(unauthenticated) ? groups : [...groups, unauthenticated];
  return groups.includes(unauthenticated) || groups.includes("system:authenticated")
    ? groups
    : [...groups, "system:authenticated"];
}
