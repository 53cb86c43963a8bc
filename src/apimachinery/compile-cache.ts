/** Keeps the modules that V8 compiles, so that later processes need not compile them. */
import { lstatSync, realpathSync, type Stats } from "node:fs";
import nodeModule from "node:module";
import { dirname, isAbsolute, join } from "node:path";
import { makeDirectory } from "./make-directory.ts";

/**
 * Keeps what this process compiles from now on in a directory of the user. Node.js writes it when the process ends. Does nothing when there is no
 * such directory, when coverage is recorded, which would be less precise, with the variables `NODE_COMPILE_CACHE` and `NODE_DISABLE_COMPILE_CACHE` of
 * Node.js, and on runtimes without such a cache.
 */
export function keepCompiledModules(): void {
  if (process.env.NODE_V8_COVERAGE !== undefined || nodeModule.enableCompileCache === undefined) return;
  if (nodeModule.getCompileCacheDir() !== undefined) return; // Enabled before.
  const directory = userCacheDirectory(process.platform, process.env);
  if (directory !== undefined) nodeModule.enableCompileCache(directory);
}

/**
 * Returns a directory that only the user can write, and creates it when it is missing. V8 runs what it reads there without any check. This is why the
 * default of Node.js, a directory with a known name among the temporary files, which any user of the machine can create first, is not used.
 *
 * @param env of the process. The directory is `coxswain` in `XDG_CACHE_HOME`, by default `.cache` in `HOME`; on Windows in `LOCALAPPDATA`
 */
export function userCacheDirectory(platform: NodeJS.Platform, env: NodeJS.ProcessEnv): string | undefined {
  const parent = cacheHome(platform, env);
  if (parent === undefined || !isAbsolute(parent)) return undefined;
  const directory = join(parent, "coxswain");
  try {
    makeDirectory(directory, { mode: 0o700 });
    const real = realpathSync(directory);
    return isWrittenByOwnerOnly(real) ? real : undefined;
  } catch (error) {
    // A start does not fail because its result cannot be kept: the disk can be full or read-only.
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error;
    return undefined;
  }
}

function cacheHome(platform: NodeJS.Platform, env: NodeJS.ProcessEnv): string | undefined {
  if (platform === "win32") return env.LOCALAPPDATA;
  if (env.XDG_CACHE_HOME) return env.XDG_CACHE_HOME; // Empty is the same as unset. Source: XDG Base Directory Specification
  return env.HOME && join(env.HOME, ".cache");
}

/** Whether no other user but root can change, rename or replace a directory. On Windows, its parent gives these rights. */
function isWrittenByOwnerOnly(directory: string): boolean {
  const user = process.getuid?.();
  if (user === undefined) return true;
  if (lstatSync(directory).uid !== user) return false;
  for (let path = directory; ; path = dirname(path)) {
    if (!isSafe(lstatSync(path), user)) return false;
    if (path === dirname(path)) return true;
  }
}

/** In a sticky directory, such as /tmp, only the owner of an entry can rename it. */
function isSafe({ uid, mode }: Stats, user: number): boolean {
  const [groupOrOthersCanWrite, isSticky] = [(mode & 0o022) !== 0, (mode & 0o1000) !== 0];
  return (uid === user || uid === 0) && (!groupOrOthersCanWrite || isSticky);
}
