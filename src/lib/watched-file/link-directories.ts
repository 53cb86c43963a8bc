/** Which directories decide what a path leads to. Source: path_resolution(7). */
import { lstat, readlink } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";

/** As many links as Linux follows. */
const linksMax = 40;

/**
 * @param path of a file that need not exist
 * @returns the directories, without links in their paths, that hold a symbolic link on the way to the file, or the file itself; where the path ends
 *   early, the directory that lacks its next part
 */
export async function linkDirectories(path: string): Promise<ReadonlySet<string>> {
  const directories = new Set<string>();
  const parts = resolve(path).split("/");
  let at = "/";
  let links = 0;
  for (let name = parts.shift(); name !== undefined; name = parts.shift()) {
    if (name === "" || name === ".") continue;
    if (name === "..") {
      at = dirname(at);
      continue;
    }
    const target = await targetOf(join(at, name));
    if (target === undefined && parts.length > 0) {
      at = join(at, name);
      continue;
    }
    directories.add(at);
    if (typeof target !== "string" || ++links > linksMax) break;
    if (target.startsWith("/")) at = "/";
    parts.unshift(...target.split("/"));
  }
  return directories;
}

/** @returns undefined for what is no link, null for what does not exist or cannot be read */
async function targetOf(path: string): Promise<string | null | undefined> {
  try {
    return (await lstat(path)).isSymbolicLink() ? await readlink(path) : undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    return null;
  }
}
