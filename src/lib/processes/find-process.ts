/** Finds processes of this machine by what they hold, on Linux. Source: proc(5). */
import { readdirSync, readFileSync, readlinkSync, statSync } from "node:fs";
import { basename } from "node:path";

/** A process for messages: `process 1234 (node)`. */
export interface FoundProcess {
  readonly pid: number;
  /** The file name of its program, without control characters. */
  readonly name: string;
}

/** The owner of a socket: its process, or only its user, if this user must not see the processes of others. */
interface SocketOwner {
  readonly process?: FoundProcess;
  readonly uid: number;
}

const nameLengthMax = 64;

/** `process 1234 (node)` */
export function formatProcess({ pid, name }: FoundProcess): string {
  return `process ${pid} (${name})`;
}

/** Finds the process that listens on a TCP port. @returns undefined on other systems, or if there is none */
export function findListener(port: number): SocketOwner | undefined {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  const rows = ["/proc/net/tcp", "/proc/net/tcp6"].flatMap((file) => readText(file).split("\n").slice(1));
  for (const row of rows) {
    const [, local = "", , state, , , , uid, , inode] = row.trim().split(/\s+/);
    if (state !== "0A" || !local.endsWith(suffix)) continue;
    const process = findByDescriptor(`socket:[${inode}]`);
    return { uid: Number(uid), ...(process !== undefined && { process }) };
  }
  return undefined;
}

/**
 * Finds the process that has locked a file.
 * @returns undefined if there is none; "unknown" if it is in another container or machine
 */
export function findLocker(file: string): FoundProcess | "unknown" | undefined {
  const inode = statSync(file, { throwIfNoEntry: false })?.ino;
  // Bounded: a line for each lock of this machine, all of which the kernel writes.
  const lock = new RegExp(`^\\d+: +\\S+ +\\S+ +\\S+ +(-?\\d+) +\\S+:${inode} `, "m").exec(readText("/proc/locks"));
  if (lock === null) return undefined;
  const pid = Number(lock[1]);
  return pid > 0 ? describe(pid) : "unknown";
}

/** @param target what the link of a descriptor names, such as `socket:[1234]` */
function findByDescriptor(target: string): FoundProcess | undefined {
  const pids = namesIn("/proc").filter((name) => /^\d+$/.test(name));
  const holds = (pid: string): boolean =>
    namesIn(`/proc/${pid}/fd`).some((descriptor) => linkOf(`/proc/${pid}/fd/${descriptor}`) === target);
  const found = pids.find(holds);
  return found === undefined ? undefined : describe(Number(found));
}

/** The command line has the program's name; `comm` has that of its first thread. */
function describe(pid: number): FoundProcess {
  const [program = ""] = readText(`/proc/${pid}/cmdline`).split("\0");
  const name = basename(program.split(" ")[0] as string) || readText(`/proc/${pid}/comm`).trim() || "unknown";
  return { pid, name: name.replace(/[^\x20-\x7e]/g, "?").slice(0, nameLengthMax) };
}

/** Processes end while they are read, and those of other users cannot be read. */
const expectedCodes: ReadonlySet<unknown> = new Set(["ENOENT", "ESRCH", "EACCES", "EPERM"]);

const namesIn = (directory: string): string[] => unlessUnreadable(() => readdirSync(directory)) ?? [];
const readText = (file: string): string => unlessUnreadable(() => readFileSync(file, "utf8")) ?? "";
const linkOf = (file: string): string | undefined => unlessUnreadable(() => readlinkSync(file));

function unlessUnreadable<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof Error && "code" in error && expectedCodes.has(error.code)) return undefined;
    throw error;
  }
}
