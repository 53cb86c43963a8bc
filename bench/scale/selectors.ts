/** Repeated lists by a label that 40 objects have, during updates, among few objects and among many. */
import { type ScaleServer, type Show, withServer } from "./contract.ts";

const [few, many] = [5_000, 100_000];
const labeled = 40;
const path = "/api/v1/namespaces/default/configmaps";
const lists = 50;
const rounds = 5;

export async function repeatedSelectors(show: Show): Promise<void> {
  await withServer(async (server) => {
    const fill = (from: number, to: number): Promise<void> =>
      server.client.run(to - from, 64, (index) => creation(from + index), 201);
    await fill(0, few);
    const before = await listCost(server);
    await fill(few, many);
    const after = await listCost(server);
    show(
      `a list of ${labeled} among ${few} objects, then among ${many}`,
      `${before.toFixed(2)} ms of CPU, then ${after.toFixed(2)} ms: ${(after / before).toFixed(2)} ×`,
      "1.5 ×",
    );
  });
}

/** @returns CPU milliseconds of one list after one update; the least of several rounds */
async function listCost({ client, cpuMsOf }: ScaleServer): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < rounds; round++) {
    const cpuMs = await cpuMsOf(async () => {
      for (let list = 0; list < lists; list++) {
        const body = JSON.stringify({ data: { list: String(list), round: String(round) } });
        await client.send({
          method: "PATCH",
          path: `${path}/cm-000007`,
          body,
          contentType: "application/merge-patch+json",
        });
        await client.read(`${path}?labelSelector=part%3D3`);
      }
    });
    if (round > 0) least = Math.min(least, cpuMs / lists);
  }
  return least;
}

function creation(index: number) {
  const metadata = {
    name: `cm-${String(index).padStart(6, "0")}`,
    labels: { part: String(Math.floor(index / labeled)) },
  };
  return { method: "POST", path, body: JSON.stringify({ metadata, data: { payload: "x".repeat(300) } }) };
}
