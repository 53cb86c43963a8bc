/** Ends a program of `coxswain envtest` when the test process that started it is gone. */
import { type ProcessTable, procTable, psTable } from "./process-table.ts";

/** A wrapper script, and the parent that it had at the start. */
type Wrapper = readonly [pid: number, parent: number];

const wrappersMax = 8;

const pollMs = 250;

/**
 * Exits when the test process is gone: the operating system then gives its children another parent.
 * Source: getppid(2).
 *
 * @param parent the parent of this process, which the shell that started it read from `$PPID`
 * @param argv the arguments of this process, which wrapper scripts also have
 */
export function exitWithStarter(parent: number, argv: readonly string[]): void {
  const table = process.platform === "linux" ? procTable : psTable;
  const wrappers = findWrappers(table, parent, argv);
  const poll = (): void => {
    const isOrphaned = ([pid, before]: Wrapper): boolean => table.parentOf(pid) !== before;
    if (process.ppid !== parent || wrappers.some(isOrphaned)) process.exit(1);
  };
  poll();
  setInterval(poll, pollMs).unref();
}

/**
 * Finds the wrapper scripts between a process and the test process. A wrapper passes its flags on,
 * so a flag with a value, such as `--cert-dir=/tmp/k8s_test_framework_1`, is in both command lines.
 *
 * @param parent the parent of the process
 * @param argv the arguments of the process
 */
export function findWrappers(table: ProcessTable, parent: number, argv: readonly string[]): readonly Wrapper[] {
  const flags = argv.filter((word) => /^--[^=]+=./.test(word));
  const wrappers: Wrapper[] = [];
  for (let pid = parent; wrappers.length < wrappersMax; ) {
    const command = ` ${table.commandOf(pid)} `;
    const next = table.parentOf(pid);
    if (next === undefined || !flags.some((flag) => command.includes(` ${flag} `))) break;
    wrappers.push([pid, next]);
    pid = next;
  }
  return wrappers;
}
