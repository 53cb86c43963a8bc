/** The directory of the shared files: private ones can be read by their owner only, and all are written whole. */
import { readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { makeDirectory } from "../../apimachinery/make-directory.ts";
import { writeFileAtomically } from "../../apimachinery/write-file-atomically.ts";
import { readBoundedFile } from "../../lib/bounded-file/bounded-file.ts";
import { printable } from "../../lib/json/printable.ts";
import type { Change } from "./contract.ts";

/** Reads and writes files by their names. */
export interface Directory {
  readonly path: string;
  /** What was written since the start. */
  readonly changes: readonly Change[];
  /** @throws Error unless the file does not exist, or can be read */
  find(name: string): Promise<string | undefined>;
  /** @throws Error that says which command makes the file */
  read(name: string): Promise<string>;
  /** Writes the file unless it has this content. Only the owner can read keys and kubeconfigs. */
  write(name: string, content: string, change: string): Promise<void>;
  /** Gives a file the name of another one, which it replaces. */
  rename(name: string, to: string, change: string): Promise<void>;
  /** Removes the files that were written since the start. */
  removeWritten(): Promise<void>;
  /** The names of all files, sorted. */
  list(): Promise<string[]>;
}

/** Whether a file has a private key. */
export const isPrivate = (name: string): boolean => name.endsWith(".key") || name.endsWith("kubeconfig");

/** Exists while a command changes the directory, and has the process and the machine. */
const lockFile = ".lock";

/**
 * Changes files as the only command that does so.
 *
 * @param options `creates`: makes the directory, which only its owner can list, when it is missing
 * @throws Error while another command changes the directory, or after one was killed
 */
export async function changeDirectory(
  path: string,
  { creates }: { readonly creates: boolean },
  change: (directory: Directory) => Promise<void>,
): Promise<void> {
  if (creates) makeDirectory(path, { mode: 0o700 });
  const lock = join(path, lockFile);
  try {
    await writeFile(lock, `process ${process.pid} on ${hostname()}\n`, { flag: "wx", mode: 0o600 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    const holder = (await readFile(lock, "utf8").catch(() => "")).trim();
    throw new Error(
      `another command (${printable(holder.slice(0, 200))}) changes ${path}: wait until it ends; if it was killed, remove ${lock}`,
    );
  }
  try {
    await change(openDirectory(path));
  } finally {
    await rm(lock, { force: true });
  }
}

/** Opens an existing directory. */
export function openDirectory(path: string): Directory {
  const changes: Change[] = [];
  const find = async (name: string): Promise<string | undefined> => {
    try {
      return (await readBoundedFile(join(path, name))).toString();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
      throw error;
    }
  };
  return {
    path,
    changes,
    find,
    async read(name) {
      const text = await find(name);
      if (text === undefined)
        throw new Error(`${join(path, name)} does not exist: coxswain certs init ${path} makes it in a new directory`);
      return text;
    },
    async write(name, content, change) {
      if ((await find(name)) === content) return;
      await writeFileAtomically(join(path, name), content, isPrivate(name) ? 0o600 : 0o644);
      changes.push({ file: name, change });
    },
    async rename(name, to, change) {
      await rename(join(path, name), join(path, to));
      changes.push({ file: to, change });
    },
    async removeWritten() {
      await Promise.all(changes.map(({ file }) => rm(join(path, file), { force: true })));
    },
    list: async () => (await readdir(path)).sort(),
  };
}
