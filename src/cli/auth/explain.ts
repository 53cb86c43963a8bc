/**
 * `coxswain auth explain`: lets the server review a request, and evaluates its roles and bindings.
 */
import type { UserInfo } from "../../apimachinery/user.ts";
import { RequestRejected, type Sender } from "../client/ask.ts";
import { countedAuthorizers } from "./counted-authorizers.ts";
import { type Explanation, rbacReason } from "./explanation.ts";
import { findResource } from "./find-resource.ts";
import { pathQuestion, type Question, resourceQuestion, splitResource, type Target } from "./question.ts";
import { type RbacMatches, rbacMatches } from "./rbac-matches.ts";
import { readPolicy, reviewAccess, reviewOwnAccess, reviewSelf, type Verdict } from "./server.ts";

/**
 * @param user undefined for the user of the kubeconfig
 * @throws Error when the server cannot be reached, or rejects both the review and the list of the
 *   RBAC objects
 */
export async function explain(server: Sender, target: Target, user: UserInfo | undefined): Promise<Explanation> {
  const subject = user ?? (await reviewSelf(server));
  const { question, notes } = await questionOf(server, target, subject);
  const review = (): Promise<Verdict> =>
    user === undefined ? reviewOwnAccess(server, question) : reviewAccess(server, question);
  const [verdict, rbac] = await Promise.all([
    orProblem<Verdict>(review()),
    orProblem<RbacMatches>(matchesOf(server, question)),
  ]);
  if ("problem" in verdict && "problem" in rbac)
    throw new Error(
      `the server answers neither the review nor the list of its roles: ${verdict.problem}; ${rbac.problem}`,
    );
  const counted = needsCounts(verdict, subject)
    ? await countedAuthorizers(server, verdict.denied ? "denied" : "allowed", review)
    : [];
  return { question, verdict, rbac, counted, notes };
}

async function questionOf(
  server: Sender,
  target: Target,
  user: UserInfo,
): Promise<{ question: Question; notes: string[] }> {
  const parsed = splitResource(target.resource);
  if ("path" in parsed) return { question: pathQuestion(user, target, parsed.path), notes: [] };
  const found = await findResource(server, parsed.resource);
  const notes: string[] = [];
  if (!found.exists && parsed.resource !== "*")
    notes.push(`the server doesn't have a resource type ${JSON.stringify(parsed.resource)}`);
  return { question: resourceQuestion(user, target, found, parsed.subresource), notes };
}

/** Whether an authorizer decided that the verdict does not name. */
function needsCounts(verdict: Explanation["verdict"], { groups }: UserInfo): verdict is Verdict {
  if ("problem" in verdict || groups.includes("system:masters")) return false;
  return verdict.denied || (verdict.allowed && !verdict.reason.startsWith(rbacReason));
}

async function matchesOf(server: Sender, question: Question): Promise<RbacMatches> {
  return rbacMatches(await readPolicy(server), question);
}

/** Returns an error of the server as a part of the explanation. */
async function orProblem<T extends object>(answer: Promise<T>): Promise<T | { readonly problem: string }> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof RequestRejected) return { problem: error.message };
    throw error;
  }
}
