/** What a suite is made of: tests of others that need a server, and what is compared. */

/** A suite, which runs once with this server and once with what its authors use, or a kube-apiserver. */
export interface Suite {
  readonly name: string;
  /** What the suite tests, for the list of suites. */
  readonly about: string;
  /** How it gets a server: `envtest` starts one, `cluster` reads `KUBECONFIG`, `fakes` calls the constructor of a fake clientset. */
  readonly server: "envtest" | "cluster" | "fakes";
  /** Downloads it, outside of the repository. @returns its folder @throws Error when that fails */
  readonly prepare: () => string;
  /** With `fakes`: makes the suite use a server. @param folder a copy that `prepare` has returned */
  readonly change?: (folder: string) => void;
  /** The command that runs it in its folder. @param report a file for its results; Go's are its output in JSON */
  readonly command: (folder: string, report: string) => readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly format: "go" | "junit";
  /** Tests that may differ, by name, with the reason. */
  readonly differing?: Readonly<Record<string, string>>;
}

export type Outcome = "pass" | "fail" | "skip";

/** What one run of a suite has shown. */
export interface SuiteRun {
  readonly outcomes: Readonly<Record<string, Outcome>>;
  readonly seconds: number;
  /** Of the processes of the server: CPU in all, and memory at most. */
  readonly cpuSeconds: number;
  readonly memoryMiB: number;
}
