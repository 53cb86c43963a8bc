/** `coxswain auth explain`: asks a server what it makes of a request, and its roles and bindings why. */
import type { UserInfo } from "../../apimachinery/user.ts";
import { countedDeciders } from "./counted-deciders.ts";
import { type Explanation, rbacReason } from "./explanation.ts";
import { findResource } from "./find-resource.ts";
import { type Asked, pathQuestion, type Question, resourceQuestion, splitResource } from "./question.ts";
import { type RbacWays, rbacWays } from "./rbac-ways.ts";
import { askOwnVerdict, askSelf, askVerdict, RefusedRequest, readPolicy, type Sender, type Verdict } from "./server.ts";

/** @param user undefined for whoever asks @throws Error when the server cannot be reached, or says nothing at all about it */
export async function explain(server: Sender, asked: Asked, user: UserInfo | undefined): Promise<Explanation> {
  const who = user ?? (await askSelf(server));
  const { question, notes } = await questionOf(server, asked, who);
  const ask = (): Promise<Verdict> =>
    user === undefined ? askOwnVerdict(server, question) : askVerdict(server, question);
  const [verdict, rbac] = await Promise.all([orProblem<Verdict>(ask()), orProblem<RbacWays>(waysOf(server, question))]);
  if ("problem" in verdict && "problem" in rbac)
    throw new Error(`the server says nothing about it: ${verdict.problem}; ${rbac.problem}`);
  const counted = isOpen(verdict, who) ? await countedDeciders(server, verdict.denied ? "denied" : "allowed", ask) : [];
  return { question, verdict, rbac, counted, notes };
}

async function questionOf(
  server: Sender,
  asked: Asked,
  user: UserInfo,
): Promise<{ question: Question; notes: string[] }> {
  const what = splitResource(asked.resource);
  if ("path" in what) return { question: pathQuestion(user, asked, what.path), notes: [] };
  const found = await findResource(server, what.resource);
  const notes: string[] = [];
  if (!found.known && what.resource !== "*")
    notes.push(`the server doesn't have a resource type ${JSON.stringify(what.resource)}`);
  return { question: resourceQuestion(user, asked, found, what.subresource), notes };
}

/** Whether somebody decided who does not say so. */
function isOpen(verdict: Explanation["verdict"], { groups }: UserInfo): verdict is Verdict {
  if ("problem" in verdict || groups.includes("system:masters")) return false;
  return verdict.denied || (verdict.allowed && !verdict.reason.startsWith(rbacReason));
}

async function waysOf(server: Sender, question: Question): Promise<RbacWays> {
  return rbacWays(await readPolicy(server), question);
}

/** What the server refuses to tell is part of the answer. */
async function orProblem<T extends object>(asking: Promise<T>): Promise<T | { readonly problem: string }> {
  try {
    return await asking;
  } catch (error) {
    if (error instanceof RefusedRequest) return { problem: error.message };
    throw error;
  }
}
