/** Runs sequences on both servers and compares. */
import { causeOf } from "./causes.ts";
import { cleanUp } from "./clean-up.ts";
import { compareReplies, type Difference } from "./compare.ts";
import type { Connection } from "./connection.ts";
import type { Sequence } from "./contract.ts";
import type { Texts } from "./references.ts";
import { type Reply, runSteps } from "./run-steps.ts";

export interface Servers {
  /** Answers the admission webhooks of both, see webhook.ts. */
  readonly webhook?: Texts["webhook"];
  readonly ours: Connection;
  readonly theirs: Connection;
}

export interface Outcome {
  /** Compared requests, those with a 2xx answer among them. */
  readonly requests: number;
  readonly successes: number;
  /** The first difference, after which the states of the servers may differ. */
  readonly difference: (Difference & { readonly step: number; readonly cause: string }) | undefined;
}

/** Changes an answer of ours, to prove that a difference is found. */
export type Plant = (reply: Reply, step: number) => Reply;

export interface RunSequenceOptions {
  /** Unique; the same on both servers. */
  readonly namespace: string;
  readonly plant?: Plant;
}

export async function runSequence(
  { ours, theirs, webhook }: Servers,
  sequence: Sequence,
  { namespace, plant = (reply) => reply }: RunSequenceOptions,
): Promise<Outcome> {
  const options = { texts: { namespace, ...(webhook && { webhook }) }, now: Date.now() };
  const run = async (connection: Connection): Promise<(Reply | undefined)[]> => {
    await setUp(connection, namespace);
    const replies = await runSteps(connection, sequence.steps, options);
    await cleanUp(connection, sequence.steps, namespace);
    return replies;
  };
  const [mine, other] = await Promise.all([run(ours), run(theirs)]);
  const compared = other.filter((reply) => reply !== undefined);
  const counts = { requests: compared.length, successes: compared.filter(({ status }) => status < 300).length };
  for (const [step, reply] of other.entries()) {
    const own = mine[step];
    if (reply === undefined || own === undefined) continue;
    const difference = compareReplies(plant(own, step), reply);
    if (difference === undefined) continue;
    const cause = causeOf(sequence.area, sequence.steps[step] as Sequence["steps"][number], difference);
    return { ...counts, difference: { ...difference, step, cause } };
  }
  return { ...counts, difference: undefined };
}

/** Every namespace has the ServiceAccount that pods need: no controller creates it. */
async function setUp(connection: Connection, namespace: string): Promise<void> {
  const post = (path: string, name: string): Promise<unknown> =>
    connection.send({
      method: "POST",
      path,
      headers: { "content-type": "application/json" },
      body: Buffer.from(JSON.stringify({ metadata: { name } })),
    });
  await post("/api/v1/namespaces", namespace);
  await post(`/api/v1/namespaces/${namespace}/serviceaccounts`, "default");
}
