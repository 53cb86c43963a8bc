/** The kubeconfig of a command that this program runs. */
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A kubeconfig in a directory that only this user can read. */
export interface TemporaryKubeconfig {
  /** The path of the file. */
  readonly kubeconfig: string;
  /** Removes the directory with everything in it. */
  remove(): void;
}

/** Writes a kubeconfig to a new directory, which is removed at the end of the process at the latest. */
export function writeTemporaryKubeconfig(text: string): TemporaryKubeconfig {
  const directory = mkdtempSync(join(realpathSync(tmpdir()), "coxswain-test-"));
  const removeDirectory = (): void => rmSync(directory, { recursive: true, force: true });
  // The process can also end by itself, for example when the reader of its output has closed the pipe.
  process.once("exit", removeDirectory);
  const kubeconfig = join(directory, "kubeconfig");
  writeFileSync(kubeconfig, text, { mode: 0o600, flag: "wx" });
  return {
    kubeconfig,
    remove() {
      process.off("exit", removeDirectory);
      removeDirectory();
    },
  };
}
