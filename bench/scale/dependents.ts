/** The garbage collector deletes the dependents of an owner that is deleted in the background. */
import { type Show, untilCount, withServer } from "./contract.ts";

const concurrency = 32;
const path = "/api/v1/namespaces/default/configmaps";
const secrets = "/api/v1/namespaces/default/secrets";

export async function collectedDependents(show: Show, dependents = 100_000): Promise<void> {
  await withServer(async ({ client, child, cpuMsOf }) => {
    const existing = JSON.parse((await client.send({ method: "GET", path })).body).items.length;
    const post = async (body: object): Promise<{ metadata: { uid: string } }> =>
      JSON.parse((await client.send({ method: "POST", path: secrets, body: JSON.stringify(body) })).body);
    const { uid } = (await post({ metadata: { name: "owner" } })).metadata;
    const ownerReferences = [{ apiVersion: "v1", kind: "Secret", name: "owner", uid }];
    const creating = await cpuMsOf(() =>
      client.run(
        dependents,
        concurrency,
        (index) => ({
          method: "POST",
          path,
          body: JSON.stringify({ metadata: { name: `d-${String(index).padStart(6, "0")}`, ownerReferences } }),
        }),
        201,
      ),
    );
    show(`${dependents} created`, `${(creating / 1000).toFixed(1)} s of CPU`);
    await child.usage();
    const since = performance.now();
    const collecting = await cpuMsOf(async () => {
      await client.send({ method: "DELETE", path: `${secrets}/owner` });
      await untilCount(client, path, (count) => count === existing);
    });
    show("collected", `${(collecting / 1000).toFixed(1)} s of CPU`, "20 s");
    show("  time", `${((performance.now() - since) / 1000).toFixed(1)} s`);
  });
}
