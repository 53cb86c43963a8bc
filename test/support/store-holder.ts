/**
 * A process that keeps a read transaction of a store's LMDB environment open until it is killed.
 * Argument: the directory. It prints a line when the transaction has begun. The server must not
 * write before: lmdb-js may lose writes while another process opens the environment.
 */
import { open } from "lmdb";

const root = open({ path: process.argv[2] as string, noSubdir: false, readOnly: true, maxDbs: 8 });
const transaction = root.useReadTransaction();
const { value: name } = root.getKeys({ limit: 1, transaction })[Symbol.iterator]().next();
console.log(`reading ${String(name)}`);
setInterval(() => root.getStats(), 1000);
