/**
 * A process that writes to LMDB and prints each acknowledged commit as a line `ack <writer>
 * <number> <revision>`. Arguments: directory, number of writers, commits of each writer (0 for no
 * end), durability. The n-th commit of a writer puts n under two keys and adds a third key; every
 * tenth commit removes the ten keys that were added before. A derived write counts all commits.
 */
import { writeSync } from "node:fs";
import { systemClock } from "../../src/apimachinery/clock.ts";
import type { DerivedWrite, Write } from "../../src/storage/contract.ts";
import { openLmdbStorage } from "../../src/storage/lmdb/lmdb.ts";
import { valueBytesMaxDefault } from "../../src/storage/options.ts";

const [dir, writers, commits, durability] = process.argv.slice(2) as [string, string, string, "full" | "relaxed"];
const storage = await openLmdbStorage({
  clock: systemClock,
  historyMs: 300_000,
  historyBytesMax: 1 << 30,
  valueBytesMax: valueBytesMaxDefault,
  dir,
  durability,
});

const counter: DerivedWrite = {
  key: "/commits",
  derive: (newest) => ({ value: Buffer.from(String(Number(newest?.value ?? 0) + 1)) }),
};

async function write(writer: number): Promise<void> {
  const head = `/w/${writer}/a`;
  let { revision = 0, value } = (await storage.get(head)) ?? {};
  const first = Number(value ?? 0) + 1;
  for (let number = first; commits === "0" || number < first + Number(commits); number++) {
    const bytes = Buffer.from(String(number));
    const writes: Write[] = ["a", "b", `log/${number}`].map((name) => ({ key: `/w/${writer}/${name}`, value: bytes }));
    if (number % 10 === 0)
      for (let old = number - 10; old < number; old++) writes.push({ key: `/w/${writer}/log/${old}`, value: null });
    const outcome = await storage.commit([{ key: head, revision }], [...writes, counter]);
    if (!outcome.ok) throw new Error("another writer of the same number");
    revision = outcome.revision;
    writeSync(1, `ack ${writer} ${number} ${revision}\n`);
  }
}

await Promise.all(Array.from({ length: Number(writers) }, (_, writer) => write(writer)));
await storage.close();
