/**
 * Finds the directories that determine to which file a path resolves. Source: path_resolution(7).
 */
import { lstat, readlink } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";

/** The number of links that Linux follows. */
const linksMax = 40;

/**
 * Finds the directories whose changes can change the file to which a path resolves.
 * @param path the file need not exist
 * @returns the real paths of the directories that contain a symbolic link on the path, or the file;
 *   if the path does not exist, also the directory that lacks its next part
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

/**
 * Returns undefined for a path that is not a link, null for one that does not exist or is not
 * readable.
 */
async function targetOf(path: string): Promise<string | null | undefined> {
  try {
    return (await lstat(path)).isSymbolicLink() ? await readlink(path) : undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    return null;
  }
}
