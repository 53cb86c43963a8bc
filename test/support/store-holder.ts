/**
 * A process that reads a snapshot of a store until it is killed. Argument: the directory. It prints
 * a line when it starts.
 */
import { openSnapshot } from "../../src/storage/lmdb/snapshot.ts";

const { current, transaction } = await openSnapshot(process.argv[2] as string);
const read = (): string[] => [...current.getKeys({ start: "/", limit: 1, transaction })];
console.log(`reading ${read()}`);
setInterval(read, 1000);
