import { join } from "node:path";
import { integerKey } from "../../src/storage/lmdb/keys.ts";
import { openMaps } from "../../src/storage/lmdb/maps.ts";

/**
 * Flips a bit in the middle of the records of some keys, in the data directory of a stopped server.
 *
 * @returns the damaged keys
 */
export async function damageStore(dataDir: string, isDamaged: (key: string) => boolean): Promise<string[]> {
  const maps = await openMaps({ dir: join(dataDir, "storage"), durability: "relaxed" });
  const keys: string[] = [];
  for (const { key, value } of [...maps.current.getRange({ start: "/" })]) {
    if (!isDamaged(key)) continue;
    keys.push(key);
    const position = integerKey.readKey(value, 0, 8);
    const record = Buffer.from(maps.log.getBinary(position) as Buffer);
    const middle = record.length >> 1;
    record.writeUInt8(record.readUInt8(middle) ^ 4, middle);
    await maps.log.put(position, record);
  }
  await maps.root.close();
  return keys;
}
