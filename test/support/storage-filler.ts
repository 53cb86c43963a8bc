/**
 * A process that fills an LMDB directory until writes fail, prints the outcome, and writes again
 * after a line on its standard input. Arguments: directory, failures to wait for (3 by default).
 */
import { once } from "node:events";
import { systemClock } from "../../src/apimachinery/clock.ts";
import { openLmdbStorage } from "../../src/storage/lmdb/lmdb.ts";
import { valueBytesMaxDefault } from "../../src/storage/options.ts";

const dir = process.argv[2] as string;
const options = {
  clock: systemClock,
  historyMs: 300_000,
  historyBytesMax: 1 << 30,
  valueBytesMax: valueBytesMaxDefault,
};
const storage = await openLmdbStorage({ ...options, dir, durability: "full" });
const value = Buffer.alloc(100_000, "x");
const failuresMax = Number(process.argv[3] ?? 3);
const errors: string[] = [];
let acknowledged = 0;
for (let index = 0; errors.length < failuresMax; index++) {
  try {
    await storage.commit([], [{ key: `/k/${index}`, value }]);
    acknowledged++;
  } catch (error) {
    errors.push((error as Error).name);
  }
}
const { entries } = await storage.range("/k/");
const intact = entries.length === acknowledged && entries.every((entry) => entry.value.equals(value));
console.log(JSON.stringify({ acknowledged, errors, intact }));
await once(process.stdin, "data");
await storage.commit([], [{ key: "/k/later", value }]);
console.log(JSON.stringify({ count: await storage.count("/k/") }));
await storage.close();
process.exit();
