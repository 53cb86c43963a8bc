/** Large Secrets are listed by informers at once: KEP-3157's scenario. */

import { residentMiB } from "../../test/support/processes.ts";
import type { BenchClient } from "../client.ts";
import { type Show, withServer } from "./contract.ts";

const secrets = 400;
const informers = 16;
/** Of the data, which base64 makes a third longer. */
const bytes = 740_000;
const path = "/api/v1/namespaces/default/secrets";
const query = "watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";

export async function largeSecrets(show: Show): Promise<void> {
  await withServer(async ({ client, connect, cpuMsOf, child }) => {
    const data = { key: Buffer.alloc(bytes, "0123456789abcdef").toString("base64") };
    const post = (index: number) => ({
      method: "POST",
      path,
      body: JSON.stringify({ metadata: { name: `s-${String(index).padStart(3, "0")}` }, data }),
    });
    await client.run(secrets, 4, post, 201);
    const pid = child.pid;
    const reads: readonly [what: string, read: (reader: BenchClient) => Promise<unknown>][] = [
      ["lists", (reader) => reader.read(path)],
      ["watches with initial events", untilBookmark],
    ];
    for (const [what, read] of reads) {
      const readers = Array.from({ length: informers }, connect);
      const cpuMs = await cpuMsOf(() => Promise.all(readers.map(read)));
      show(
        `${informers} ${what} of ${secrets} Secrets of 1 MB at once`,
        `RSS at most ${residentMiB(pid, "VmHWM").toFixed(0)} MiB`,
        "1024 MiB",
      );
      show("  CPU", `${(cpuMs / 1000).toFixed(1)} s`);
      for (const reader of readers) reader.close();
    }
  });
}

/** Reads a watch until its bookmark that ends the initial events. */
function untilBookmark(client: BenchClient): Promise<void> {
  return new Promise((resolve) => {
    let rest = "";
    const stream = client.follow(`${path}?${query}`, (piece) => {
      rest = rest.slice(-200) + piece.toString("latin1");
      if (!rest.includes("k8s.io/initial-events-end")) return;
      stream.close();
      resolve();
    });
  });
}
