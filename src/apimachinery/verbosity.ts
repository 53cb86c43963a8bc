/**
 * Which lines of the log that have a level are written. Source: `-v` and `-vmodule` in
 * k8s.io/klog/v2@v2.140.0/klog.go.
 */

/** The levels of the log; the object is read at each line, so that `level` can change while the server runs. */
export interface Verbosity {
  /** Lines up to this level are written. */
  level: number;
  /** Of lines of some files, whatever `level` is; the first that matches counts. */
  readonly modules: readonly ModuleLevel[];
}

/** The level of the lines of some of kube-apiserver's source files. */
export interface ModuleLevel {
  /** A name such as `httplog`, without folder and suffix; `*` and `?` match any characters. */
  readonly pattern: string;
  /** Lines of these files up to this level are written. */
  readonly level: number;
}

/** The source files of kube-apiserver that write lines with a level that this server writes, too. */
export type LogModule = "httplog" | "trace";

/** Whether a line of a level is written. */
export function isVerbose({ level, modules }: Verbosity, lineLevel: number, module: LogModule): boolean {
  if (lineLevel <= level) return true;
  for (const one of modules) if (matchesPattern(one.pattern, module)) return lineLevel <= one.level;
  return false;
}

/** Matches in the product of both lengths at most, by going back to the last `*` only. */
function matchesPattern(pattern: string, name: string): boolean {
  let [at, from] = [0, 0];
  let [star, resume] = [-1, 0];
  while (from < name.length) {
    if (pattern[at] === "*") {
      star = at++;
      resume = from;
    } else if (at < pattern.length && (pattern[at] === "?" || pattern[at] === name[from])) {
      at++;
      from++;
    } else if (star >= 0) {
      at = star + 1;
      from = ++resume;
    } else return false;
  }
  while (pattern[at] === "*") at++;
  return at === pattern.length;
}
