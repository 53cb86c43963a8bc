/** Namespaces are deleted, each with the objects that controllers have created in it. */
import { countOf, type Show, untilCount, withServer } from "./contract.ts";

const concurrency = 32;
const path = "/api/v1/namespaces";

export async function deletedNamespaces(show: Show, namespaces = 20_000): Promise<void> {
  await withServer(async ({ client, cpuMsOf }) => {
    const nameOf = (index: number): string => `n-${String(index).padStart(5, "0")}`;
    const content = ["/api/v1/serviceaccounts", "/api/v1/configmaps"];
    const existing = await countOf(client, path);
    const creating = await cpuMsOf(async () => {
      await client.run(
        namespaces,
        concurrency,
        (index) => ({ method: "POST", path, body: JSON.stringify({ metadata: { name: nameOf(index) } }) }),
        201,
      );
      for (const list of content) await untilCount(client, list, (count) => count >= namespaces + existing);
    });
    show("created, each with a ServiceAccount and a ConfigMap", `${(creating / 1000).toFixed(1)} s of CPU`);
    const deleting = await cpuMsOf(async () => {
      await client.run(
        namespaces,
        concurrency,
        (index) => ({ method: "DELETE", path: `${path}/${nameOf(index)}` }),
        200,
      );
      await untilCount(client, path, (count) => count === existing);
    });
    show("deleted", `${(deleting / 1000).toFixed(1)} s of CPU`, "30 s");
  });
}
