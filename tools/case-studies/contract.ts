/** What a case study is made of: a program of others, what it is asked to do, and what is compared. */

/** A study, which runs once with this server and once with a kube-apiserver. */
export interface Study {
  readonly name: string;
  /** What the study does, for the list of studies. */
  readonly about: string;
  /** The Go module with its version, and the packages of its programs by the names of the programs. */
  readonly module: string;
  readonly programs: Readonly<Record<string, string>>;
  /** A nested module with its own go.mod whose packages the programs are; the folder in the module. */
  readonly folder?: string;
  /** Modules whose files it reads in addition, with their versions. */
  readonly more?: readonly string[];
  /** Members of objects whose values depend on how often a program has reconciled. */
  readonly varying?: readonly string[];
  /** Whether the program chooses names at random. Objects are then compared without them, and in the order of their contents. */
  readonly hasGeneratedNames?: boolean;
  /** @throws Error when a state is not reached in time */
  readonly run: (stage: Stage) => Promise<void>;
}

// biome-ignore lint/suspicious/noExplicitAny: studies read what they expect.
export type Body = any;

/** A server, and what a study does with it. */
export interface Stage {
  /** For files; empty at the start. */
  readonly directory: string;
  /** A kubeconfig of the program's own user, a member of system:masters. */
  readonly kubeconfig: string;
  /** The path of a file or folder of a module, which is named without its version. */
  path(module: string, path: string): string;
  /** Applies the objects of YAML files, also of those in folders, and waits until the definitions among them are established. */
  install(...files: readonly string[]): Promise<void>;
  /** Applies an object. @param subresource such as `status` @throws Error when the server rejects it */
  apply(object: object, subresource?: string): Promise<void>;
  /** Sends a request as an administrator; a PATCH is a merge patch. @throws Error unless it succeeds */
  send(line: string, body?: object): Promise<Body>;
  /** Starts one of the programs. */
  start(program: string, args: readonly string[], environment?: Readonly<Record<string, string>>): void;
  /** Repeats a read. @param holds gets undefined when the answer is 404 @throws Error after some minutes */
  until(what: string, path: string, holds: (body: Body) => boolean): Promise<void>;
  /** Repeats a GET of a program's own URL until its answer is 200. */
  ready(url: string): Promise<void>;
  /** Sends a request as {@link Stage.send} does, and keeps the answer, also an error, for the comparison. */
  answer(title: string, line: string, body?: object): Promise<void>;
  /** Keeps a value for the comparison. */
  record(title: string, value: unknown): void;
  /** Waits until the objects at the paths do not change any more, and keeps them for the comparison. */
  keep(title: string, ...paths: readonly string[]): Promise<void>;
}

/** What one server has seen. */
export interface Run {
  /** The kept objects by title and path. */
  readonly kept: Readonly<Record<string, unknown>>;
  /** How often the programs sent a request, by `verb resource → code`. */
  readonly requests: Readonly<Record<string, number>>;
  /** Of each process by its name: those of the server, and the programs. */
  readonly costs: Readonly<Record<string, Cost>>;
  readonly seconds: number;
}

/** Of a process from the start to the end of a study. */
export interface Cost {
  readonly cpuSeconds: number;
  /** Resident memory, at most. */
  readonly memoryMiB: number;
}
