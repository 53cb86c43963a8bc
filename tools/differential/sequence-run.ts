/** Runs sequences on both servers and compares. */
import { causeOf } from "./causes.ts";
import { cleanUp } from "./clean-up.ts";
import { compareReplies, type Difference } from "./compare.ts";
import type { Connection } from "./connection.ts";
import type { Area, Sequence, Step } from "./contract.ts";
import type { Texts } from "./references.ts";
import { type Reply, type RunOptions, runSteps } from "./run-steps.ts";

export interface Servers {
  readonly ours: Connection;
  readonly theirs: Connection;
  /** Answers the admission webhooks of both, see webhook.ts. */
  readonly webhook?: Texts["webhook"];
}

/** The answers to one compared step. */
export interface Pair {
  /** Its index. */
  readonly at: number;
  readonly step: Step;
  readonly ours: Reply;
  readonly theirs: Reply;
}

/** Changes an answer of ours, to prove that a difference is found. @param ordinal of the compared step */
export type Plant = (reply: Reply, ordinal: number) => Reply;

export interface FoundDifference extends Difference {
  /** The index of the step. */
  readonly step: number;
  readonly cause: string;
}

/**
 * Sends a sequence to both servers at the same time.
 *
 * @param namespace unique; the same on both servers
 * @returns the answers to the steps that are not silent
 */
export async function exchange(
  { ours, theirs, webhook }: Servers,
  { steps }: Sequence,
  namespace: string,
): Promise<Pair[]> {
  const texts = { namespace, ...(webhook && { webhook }) };
  const now = Date.now();
  const [mine, other] = await Promise.all([ours, theirs].map((connection) => runOn(connection, steps, { texts, now })));
  return steps.flatMap((step, at): Pair[] => {
    const [own, their] = [mine?.[at], other?.[at]];
    return own === undefined || their === undefined ? [] : [{ at, step, ours: own, theirs: their }];
  });
}

/** Sends the steps to one server, in their namespace, and deletes what they have created. */
export async function runOn(
  connection: Connection,
  steps: readonly Step[],
  options: RunOptions,
): Promise<(Reply | undefined)[]> {
  const { namespace } = options.texts;
  await setUp(connection, steps, namespace);
  const replies = await runSteps(connection, steps, options);
  await cleanUp(connection, steps, namespace);
  return replies;
}

/** @returns the first difference, after which the states of the servers may differ */
export function findDifference(
  { name, comparesOnlyStatus = false }: Pick<Area, "name" | "comparesOnlyStatus">,
  pairs: readonly Pair[],
  plant: Plant = (reply) => reply,
): FoundDifference | undefined {
  for (const [ordinal, { at, step, ours, theirs }] of pairs.entries()) {
    const difference = compareReplies(plant(ours, ordinal), theirs);
    if (difference === undefined || (comparesOnlyStatus && difference.what !== "status")) continue;
    return { ...difference, step: at, cause: causeOf(name, step, difference) };
  }
  return undefined;
}

/** Creates the namespace, and in it the ServiceAccount that pods need: no controller creates it. */
async function setUp(connection: Connection, steps: readonly Step[], namespace: string): Promise<void> {
  const post = (path: string, name: string): Promise<unknown> =>
    connection.send({
      method: "POST",
      path,
      headers: { "content-type": "application/json" },
      body: Buffer.from(JSON.stringify({ metadata: { name } })),
    });
  await post("/api/v1/namespaces", namespace);
  if (steps.some(({ path }) => /\/(?:pods|serviceaccounts)/.test(path)))
    await post(`/api/v1/namespaces/${namespace}/serviceaccounts`, "default");
}
