/** Checks the data directory: whether the server can write to it, its modes, its disk, its file system. */
import { accessSync, constants, existsSync, globSync, lstatSync, type Stats, statfsSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { type DoctorOptions, type Finding, ok, problem, warning } from "./contract.ts";

const mebibyte = 2 ** 20;
/** Less free space is a warning, and a problem. */
const warningBytes = 1024 * mebibyte;
const problemBytes = 100 * mebibyte;

/** Private files of a data directory. */
const privateFiles = ["*.key", "kubeconfig", "storage/*", "storage"];
const listedMax = 5;

/** Checks that the server can write to its directory, or make it. */
export function checkDirectory({ dataDir }: DoctorOptions): Finding[] {
  const check = "data directory";
  const directory = resolve(dataDir);
  const existing = nearest(directory);
  const isThere = existing === directory;
  if (!statSync(existing).isDirectory())
    return [problem(check, `${existing} is not a directory`, "name another one with --data-dir")];
  if (!canWrite(existing))
    return [
      problem(
        check,
        `${existing} cannot be written by this user`,
        "change its owner, or name another one with --data-dir",
      ),
    ];
  const state = isThere ? "can be written" : "does not exist, and can be created by the first start";
  return [ok(check, `${directory} ${state}`), ...(isThere ? checkModes(directory) : [])];
}

/** The directory, or its nearest parent that exists. */
function nearest(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : nearest(dirname(path));
}

function canWrite(path: string): boolean {
  try {
    accessSync(path, constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false; // Whatever the reason is, the server cannot write either.
  }
}

/** Windows has no such modes. */
function checkModes(directory: string): Finding[] {
  if (process.platform === "win32") return [];
  const check = "file modes";
  const mode = (stats: Stats): string => (stats.mode & 0o777).toString(8);
  const own = statSync(directory);
  if ((own.mode & 0o022) !== 0)
    return [problem(check, `others can change files in ${directory} (mode ${mode(own)})`, `chmod go-w ${directory}`)];
  const open = globSync(privateFiles, { cwd: directory }).filter((name) => {
    const stats = lstatSync(join(directory, name));
    return !stats.isSymbolicLink() && (stats.mode & 0o077) !== 0;
  });
  if (open.length === 0) return [ok(check, "only the owner can read private keys, the kubeconfig and the store")];
  const named =
    open.slice(0, listedMax).join(", ") + (open.length > listedMax ? ` and ${open.length - listedMax} more` : "");
  const files = open.slice(0, listedMax).map((name) => join(directory, name));
  return [problem(check, `others can read ${named} in ${directory}`, `chmod go= ${files.join(" ")}`)];
}

/** File systems of a network, on which the locks of LMDB do not hold. Source: statfs(2) */
const networkFileSystems: Readonly<Record<number, string>> = {
  26985: "NFS",
  20859: "SMB",
  4266872130: "SMB",
  4283649346: "CIFS",
  16914839: "9P",
};

/** Judges the free space of a directory. */
export function checkSpace(freeBytes: number, directory: string): Finding {
  const free = `${Math.floor(freeBytes / mebibyte)} MiB are free in ${directory}`;
  const advice = "free space, or name another directory with --data-dir";
  if (freeBytes < problemBytes) return problem("disk", free, advice);
  return freeBytes < warningBytes ? warning("disk", free, advice) : ok("disk", free);
}

/** Checks the space and the kind of the file system. */
export function checkDisk({ dataDir }: DoctorOptions): Finding[] {
  const directory = nearest(resolve(dataDir));
  const { bavail, bsize, type } = statfsSync(directory);
  const space = checkSpace(bavail * bsize, directory);
  const network = networkFileSystems[type];
  if (network === undefined) return [space];
  const remote = `${directory} is on ${network}, where the embedded store can be damaged`;
  return [space, warning("disk", remote, "use a local disk, or --storage etcd")];
}
