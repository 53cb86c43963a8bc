/** `coxswain store check` of a prefix of etcd: decodes every object. */

import { printable } from "../../lib/json/printable.ts";
import type { Output } from "../output.ts";
import type { OutputFormat } from "../subcommands.ts";
import { exitDamaged, exitWhole } from "./contract.ts";
import { type ReaderFiles, withReader } from "./open-reader.ts";
import { progressBar } from "./progress-bar.ts";

/** Objects that the output lists. */
const listedMax = 1000;

/** @returns the exit code @throws StorageUnavailable · Error when the check failed */
export function checkEtcd(store: string, output: OutputFormat, files: ReaderFiles, io: Output): Promise<number> {
  return withReader(store, files, async (reader) => {
    const { openDecoder } = await import("./objects/decode-object.ts");
    const decoder = openDecoder();
    const bar = progressBar(io);
    const total = await reader.count();
    const unreadable: { key: string; revision: number; problem: string }[] = [];
    let [objects, unreadableCount] = [0, 0];
    for (let after: string | undefined, done = false; !done; ) {
      const { entries, until } = await reader.page(after);
      for (const entry of entries) {
        try {
          decoder.decode(entry);
          objects++;
        } catch (error) {
          const { key, revision } = entry;
          if (unreadableCount++ < listedMax) unreadable.push({ key, revision, problem: (error as Error).message });
        }
      }
      bar.show("Reading", objects + unreadableCount, total);
      after = until;
      done = until === undefined;
    }
    bar.end();
    const { out } = io;
    const whole = unreadableCount === 0;
    const revision = await reader.current();
    if (output === "json")
      out(`${JSON.stringify({ whole, revision, objects, unreadableCount, unreadable }, undefined, 2)}\n`);
    else {
      out(`${objects} objects can be decoded${whole ? "" : `, ${unreadableCount} cannot`}; revision ${revision}\n`);
      for (const one of unreadable)
        out(`  ${printable(one.key)} (revision ${one.revision}): ${printable(one.problem)}\n`);
    }
    return whole ? exitWhole : exitDamaged;
  });
}
