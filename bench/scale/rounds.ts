/** Measures whether memory grows during repeated creates, updates, lists, watches and deletions. */
import { startChild } from "../child.ts";
import { BenchClient, type Target } from "../client.ts";

const rounds = 8;
const concurrency = 32;
const watchers = 5;
const lists = 4;
const collection = "/api/v1/namespaces/default/configmaps";
const payload = "x".repeat(1024);

/**
 * Prints the memory of the process after each round, and how much of it is in use; then the ratio
 * of the last round to the second, after which caches are full.
 */
export async function memoryOfRounds(
  data: string,
  objects: number,
  show: (what: string, measured: string, goal?: string) => void,
): Promise<void> {
  const child = await startChild(new URL("../server-coxswain.ts", import.meta.url), [data]);
  const client = new BenchClient(child.ready as unknown as Target);
  const taken: number[] = [];
  const live: number[] = [];
  for (let round = 0; round < rounds; round++) {
    await liveOnce(client, objects, round);
    taken.push((await child.usage()).rssAnonMiB);
    live.push(await child.liveMiB());
  }
  client.close();
  await child.stop();
  const row = (values: readonly number[]): string =>
    `${values.map((value) => value.toFixed(0)).join(" ")}: ${((values.at(-1) as number) / (values[1] as number)).toFixed(2)} ×`;
  show(`RssAnon after rounds of ${objects}, MiB`, row(taken), "1.2 ×");
  show("… of which is in use", row(live), "1.1 ×");
}

async function liveOnce(client: BenchClient, objects: number, round: number): Promise<void> {
  const object = (index: number, extra: string): string =>
    JSON.stringify({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: `cm-${index}`, labels: { app: "bench" } },
      data: { payload, extra },
    });
  const streams = Array.from({ length: watchers }, () => client.follow(`${collection}?watch=1`, () => {}));
  const run = (
    method: string,
    path: (index: number) => string,
    extra: string | undefined,
    status: number,
  ): Promise<void> =>
    client.run(
      objects,
      concurrency,
      (i) => ({ method, path: path(i), ...(extra !== undefined && { body: object(i, extra) }) }),
      status,
    );
  const named = (index: number): string => `${collection}/cm-${index}`;
  await run("POST", () => collection, "", 201);
  await run("PUT", named, String(round), 200);
  for (let list = 0; list < lists; list++) await client.read(collection);
  await client.read(collection, { accept: "application/json;as=Table;g=meta.k8s.io;v=v1" });
  await client.read(collection, { accept: "application/vnd.kubernetes.protobuf" });
  await run("DELETE", named, undefined, 200);
  for (const stream of streams) stream.close();
}
