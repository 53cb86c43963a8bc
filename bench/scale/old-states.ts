/** Exact reads of states whose events the watch cache has dropped, among few objects and among many. */
import type { BenchClient } from "../client.ts";
import { type ScaleServer, type Show, withServer } from "./contract.ts";

const [few, many] = [5_000, 100_000];
const path = "/api/v1/namespaces/default/configmaps";
/** States that are read, each with one change. */
const states = 20;
/** Updates of one large object, which the cache drops events for. */
const updates = 300;
const large = "x".repeat(100_000);

export async function oldStates(show: Show): Promise<void> {
  await withServer(async (server) => {
    const fill = (from: number, to: number): Promise<void> =>
      server.client.run(to - from, 64, (index) => creation(`cm-${from + index}`, "x".repeat(300)), 201);
    await server.client.run(1, 1, () => creation("large", ""), 201);
    await fill(0, few);
    const before = await readCost(server);
    await fill(few, many);
    const after = await readCost(server);
    show(
      `an exact read among ${few} objects, then among ${many}`,
      `${before.toFixed(1)} ms of CPU, then ${after.toFixed(1)} ms: ${(after / before).toFixed(2)} ×`,
      "1.5 ×",
    );
  });
}

/** @returns CPU milliseconds of one read */
async function readCost({ client, cpuMsOf }: ScaleServer): Promise<number> {
  const revisions: string[] = [];
  for (let state = 0; state < states; state++) revisions.push(await replaceLarge(client, ""));
  for (let update = 0; update < updates; update++) await replaceLarge(client, `${update}${large}`);
  const cpuMs = await cpuMsOf(async () => {
    for (const revision of revisions)
      await client.read(`${path}?limit=1&resourceVersionMatch=Exact&resourceVersion=${revision}`);
  });
  return cpuMs / states;
}

function creation(name: string, payload: string) {
  return { method: "POST", path, body: JSON.stringify({ metadata: { name }, data: { payload } }) };
}

/** @returns the new resourceVersion */
async function replaceLarge(client: BenchClient, payload: string): Promise<string> {
  const body = JSON.stringify({ data: { payload: `${Math.random()}${payload}` } });
  const contentType = "application/merge-patch+json";
  const answer = await client.send({ method: "PATCH", path: `${path}/large`, body, contentType });
  return /"resourceVersion":"(\d+)"/.exec(answer.body)?.[1] as string;
}
