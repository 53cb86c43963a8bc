/**
 * Whether a caller may be served as another user, and what that user is then. The older way asks for the verb `impersonate` on the user, each of his
 * groups, and so on; the constrained ways (gate ConstrainedImpersonation) ask for verbs of their own, and for one on what is done in his name.
 * Source: access-control §5.2; KEP-5284.
 */
import type { ApiError } from "../../apimachinery/errors.ts";
import { serviceAccountGroups, serviceAccountOf } from "../../apimachinery/service-account.ts";
import type { UserInfo } from "../../apimachinery/user.ts";
import type { AuthorizationAttributes, Authorizer } from "../../authorization/contract.ts";
import { quoteGo, quoteGoList } from "../../lib/json/quote.ts";
import { dnsSubdomainProblems } from "../../lib/names/names.ts";
import { refusal } from "../refusal.ts";

export interface Mode {
  /** Empty for the older way. */
  readonly name: string;
  /** Whether the way is open at all for these two. */
  fits(wanted: UserInfo, requestor: UserInfo): boolean;
  /** What the authorizer is asked, in place of the plain question. */
  adapt?(request: AuthorizationAttributes): AuthorizationAttributes;
}

const nodeNameKey = "authentication.kubernetes.io/node-name";

/** In the order they are tried. */
export const constrainedModes: readonly Mode[] = [
  {
    name: "associated-node",
    fits: (wanted, requestor) => isBare(wanted) && isOwnNode(wanted, requestor),
    adapt: forAnyNode,
  },
  { name: "arbitrary-node", fits: (wanted) => isBare(wanted) && nodeOf(wanted.name) !== undefined },
  { name: "serviceaccount", fits: (wanted) => isBare(wanted) && serviceAccountOf(wanted.name) !== undefined },
  { name: "user-info", fits: ({ name }) => nodeOf(name) === undefined && serviceAccountOf(name) === undefined },
];

export const olderMode: Mode = { name: "", fits: () => true };

/** Only the name is wanted. */
function isBare({ uid, groups, extra }: UserInfo): boolean {
  return uid === "" && groups.length === 0 && extra.size === 0;
}

function nodeOf(userName: string): string | undefined {
  const prefix = "system:node:";
  const name = userName.slice(prefix.length);
  return userName.startsWith(prefix) && dnsSubdomainProblems(name).length === 0 ? name : undefined;
}

/** A service account whose token says that it is on that node. */
function isOwnNode(wanted: UserInfo, requestor: UserInfo): boolean {
  const node = nodeOf(wanted.name);
  const values = requestor.extra.get(nodeNameKey) ?? [];
  return (
    node !== undefined && serviceAccountOf(requestor.name) !== undefined && values.length === 1 && values[0] === node
  );
}

/** The answer must not hang on which node it is. */
function forAnyNode(request: AuthorizationAttributes): AuthorizationAttributes {
  const extra = new Map([["authentication.kubernetes.io/associated-node-keys", [...request.user.extra.keys()].sort()]]);
  const name = request.verb === "impersonate:associated-node" ? "*" : request.name;
  return { ...request, user: { ...request.user, extra }, name };
}

/** @param request what is to be done in the other's name @throws ApiError 403 */
export async function impersonate(
  mode: Mode,
  authorize: Authorizer,
  request: AuthorizationAttributes,
  wanted: UserInfo,
): Promise<UserInfo> {
  const check = async (asked: AuthorizationAttributes): Promise<void> => {
    const { decision, reason } = await authorize(mode.adapt?.(asked) ?? asked);
    if (decision !== "allow") throw refusal(mode.adapt?.(asked) ?? asked, reason);
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
  const groups = await checkName(questions, wanted);
  if (wanted.uid !== "") await check(question(authentication, "uids", wanted.uid));
  await checkGroups(questions, wanted.groups);
  await checkExtra(questions, question(authentication, "userextras", ""), wanted.extra);
  return { ...wanted, groups: completed(wanted.name, groups) };
}

interface Questions {
  readonly constrained: boolean;
  /** The group of `users`, `groups`, `nodes` and `serviceaccounts`. */
  readonly ofUsers: string;
  check(asked: AuthorizationAttributes): Promise<void>;
  question(group: string, resource: string, name: string): AuthorizationAttributes;
}

/** @returns the groups that go with it */
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
  const asked =
    account === undefined
      ? question(ofUsers, "nodes", node as string)
      : { ...question(ofUsers, "serviceaccounts", account.name), namespace: account.namespace };
  if (constrained && groups.length > 0)
    throw refusal(asked, withGroups(account === undefined ? "node" : "service account", groups));
  await check(asked);
  if (account === undefined) return ["system:nodes"];
  return groups.length === 0 ? serviceAccountGroups(account.namespace) : groups;
}

function withGroups(what: string, groups: readonly string[]): string {
  return `when impersonating a ${what}, cannot impersonate groups ${quoteGoList(groups)}`;
}

/** So many questions at once are asked as one for all first. */
const manyMin = 4;

async function checkGroups(
  { constrained, check, question, ofUsers }: Questions,
  groups: readonly string[],
): Promise<void> {
  const asked = (name: string): AuthorizationAttributes => question(ofUsers, "groups", name);
  if (constrained && groups.includes(""))
    throw refusal(asked(""), "impersonating the empty string group is not allowed");
  if (constrained && groups.includes("system:masters"))
    throw refusal(asked("system:masters"), "impersonating the system:masters group is not allowed");
  if (constrained && groups.length >= manyMin && (await isAllowed(check(asked("*"))))) return;
  for (const group of groups) await check(asked(group));
}

async function checkExtra(
  { constrained, check }: Questions,
  asked: AuthorizationAttributes,
  extra: UserInfo["extra"],
): Promise<void> {
  if (constrained) {
    const problem = [...extra].map(([key, values]) => extraProblem(key, values)).find((each) => each !== undefined);
    if (problem !== undefined) throw refusal(asked, problem);
    const count = [...extra.values()].reduce((sum, values) => sum + values.length, 0);
    if (count >= manyMin && (await isAllowed(check({ ...asked, subresource: "*", name: "*" })))) return;
  }
  for (const [key, values] of extra)
    for (const value of values) await check({ ...asked, subresource: key, name: value });
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

/** Every user is one of the authenticated, or of the others. */
function completed(name: string, groups: readonly string[]): readonly string[] {
  const unauthenticated = "system:unauthenticated";
  if (name === "system:anonymous") return groups.includes(unauthenticated) ? groups : [...groups, unauthenticated];
  return groups.includes(unauthenticated) || groups.includes("system:authenticated")
    ? groups
    : [...groups, "system:authenticated"];
}
