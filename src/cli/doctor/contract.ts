/** What the checks of `coxswain doctor` get and return. */

/** The result of a check. */
export interface Finding {
  /** What was checked, in a few words. */
  readonly check: string;
  readonly status: "ok" | "warning" | "problem";
  /** What was found. */
  readonly message: string;
  /** What to do about it. */
  readonly advice?: string;
}

/** The options of the command. */
export interface DoctorOptions {
  readonly dataDir: string;
  readonly bindAddress: string;
  readonly securePort: number;
  /** URLs of etcd's members; empty without etcd. */
  readonly etcdServers: readonly string[];
  readonly etcdCafile?: string;
  readonly etcdCertfile?: string;
  readonly etcdKeyfile?: string;
  readonly kubeconfig?: string;
  readonly context?: string;
}

/** What the checks see of the world, in addition to files and sockets. */
export interface Surroundings {
  readonly env: NodeJS.ProcessEnv;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly versions: Readonly<Record<string, string | undefined>>;
  /** The number of files that a process may open; undefined where it is not known. */
  readonly filesMax?: number;
}

/** A check that is fine. */
export function ok(check: string, message: string): Finding {
  return { check, status: "ok", message };
}

/** Something that may be intended. */
export function warning(check: string, message: string, advice: string): Finding {
  return { check, status: "warning", message, advice };
}

/** Something that prevents a start, loses data or gives keys away. */
export function problem(check: string, message: string, advice: string): Finding {
  return { check, status: "problem", message, advice };
}
