/**
 * A process that opens an LMDB store, prints how many keys it has and which warnings it logged, and closes it.
 * Argument: the directory.
 */
import { systemClock } from "../../src/apimachinery/clock.ts";
import { silentLogger } from "../../src/apimachinery/logger.ts";
import { openLmdbStorage } from "../../src/storage/lmdb/lmdb.ts";
import { valueBytesMaxDefault } from "../../src/storage/options.ts";

const warnings: string[] = [];
const storage = await openLmdbStorage({
  clock: systemClock,
  historyMs: 300_000,
  historyBytesMax: 1 << 30,
  valueBytesMax: valueBytesMaxDefault,
  dir: process.argv[2] as string,
  durability: "full",
  logger: { ...silentLogger, warn: (message) => void warnings.push(message) },
});
const count = await storage.count("/");
await storage.close();
console.log(JSON.stringify({ count, warnings }));
