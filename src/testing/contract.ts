/** The test kit: a server for tests, and what tests can do to it. */
import type { RunningServer } from "../server/options.ts";
import type { Faults } from "./faults/contract.ts";
import type { Installation, InstallOptions, InstallSource } from "./install/contract.ts";
import type { Timeline } from "./timeline/contract.ts";
import type { TestWebhook, WebhookHandler, WebhookSpec } from "./webhooks/contract.ts";

/** A server that `startTestServer` has started. */
export interface TestServer extends RunningServer, TestClients {
  /** What clients asked of the server since its start, what it answered, and what changed. */
  readonly timeline: Timeline;
  /** Rules that make requests fail, wait or see old states. */
  readonly faults: Faults;
  /**
   * Takes a snapshot of all objects. It takes no time that depends on their number, and memory only for what changes
   * later.
   * @throws Error when the server is closed
   */
  snapshot(): Promise<Snapshot>;
  /**
   * Gives the server the objects of a snapshot of itself, of one of its forks, or of the server that it is a fork of.
   * Its URL and its credentials stay as they are.
   *
   * Objects that differ are written at new resourceVersions; all others keep theirs. Watches end with the error 410
   * before they see a change, and so do lists and watches that continue from an earlier resourceVersion; client
   * libraries list again then. The next request finds the restored state, also its permissions, admission
   * configurations, quotas and custom resources. Requests that arrive meanwhile wait; writes that run when it begins
   * are replaced, or fail with 409.
   * @throws Error when the snapshot is of another server, or the server is closed
   */
  restore(snapshot: Snapshot): Promise<void>;
  /**
   * Starts a second server in this process, on a port of its own, with the objects that this one has now, the same
   * options, authorities and credentials. Afterwards neither server sees what happens in the other. Close both.
   *
   * @param from a snapshot of this server, whose objects the fork has instead
   * @throws Error when the server is closed, or the snapshot is of another server
   */
  fork(from?: Snapshot): Promise<TestServer>;
  /**
   * Registers a webhook that is a function, and waits until the server calls it. A fork calls it, too, as long as this
   * server is not closed.
   *
   * @param spec which requests it gets
   * @param handler answers them
   * @throws Error when a field is not valid, or the server rejects the configuration
   */
  webhook<S extends WebhookSpec>(spec: S, handler: WebhookHandler<S>): Promise<TestWebhook>;
  /**
   * Installs objects: definitions first, whose kinds are then served, then namespaces, then the others. An object that
   * exists is changed as by `kubectl apply --server-side --force-conflicts`. All objects are installed or none.
   *
   * @param source files, folders, text or objects; nothing is read from the network
   * @throws Error when something is not valid, or the server rejects an object
   */
  install(source: InstallSource, options?: InstallOptions): Promise<Installation>;
}

/** A state of a test server. It stays valid when the server changes, and when it is closed. */
export interface Snapshot {
  /** The resourceVersion of the newest change in it. */
  readonly resourceVersion: string;
  /**
   * Writes the snapshot to a file, which `loadSnapshot` reads. It contains the private keys of the server and all
   * Secrets; only its owner can read it.
   * @throws Error of the system when the file cannot be written
   */
  save(file: string): Promise<void>;
}

/** A user of the server, whom a client certificate names. */
export interface TestUser {
  /** The name; RBAC and audit see it. */
  readonly user: string;
  /** Groups besides `system:authenticated`; none by default. */
  readonly groups?: readonly string[];
}

/** Clients of a server, with the credentials of any user. */
export interface TestClients {
  /**
   * Sends a request to this server, as `fetch` does: an answer of any status is returned, and a body can be read while
   * it arrives, as that of a watch.
   *
   * @param path path and query, such as `/api/v1/namespaces?limit=1`
   * @throws Error when the path does not start with `/`, or the server does not answer
   * @throws TypeError when the user has no name
   */
  fetch(path: string, init?: TestRequest): Promise<TestResponse>;
  /** Issues a client certificate. @returns YAML of a kubeconfig with it @throws TypeError when the user has no name */
  kubeconfigFor(user: TestUser): Promise<string>;
  /**
   * Loads the kubeconfig of a user into an object of `@kubernetes/client-node`, from which its clients are made.
   *
   * @param type the class `KubeConfig` of the package, or any other class with `loadFromString`
   * @param user the admin by default
   * @throws TypeError when the user has no name
   */
  kubeConfig<C extends { loadFromString(text: string): void }>(type: new () => C, user?: TestUser): Promise<C>;
  /**
   * Creates a client of a user, or of a ServiceAccount, which is created if it does not exist. Its rights are those that
   * RBAC grants.
   * @throws TypeError when it has no name
   * @throws Error when the server rejects the ServiceAccount or its token
   */
  as(who: TestUser | TestServiceAccount): Promise<TestClient>;
}

/** A ServiceAccount of the server, as whom a client acts. */
export interface TestServiceAccount {
  /** Its name. */
  readonly serviceAccount: string;
  /** `default` by default. */
  readonly namespace?: string;
  /** How long its token is valid, by the clock of the server; an hour by default, and ten minutes at least. */
  readonly expirationSeconds?: number;
}

/** A client with the credentials of one user. */
export interface TestClient {
  /** Of a ServiceAccount: the token, as a pod would have it. It is not renewed. Undefined for users. */
  readonly token: string | undefined;
  /** YAML of a kubeconfig. */
  readonly kubeconfig: string;
  /** Sends a request as this user, see {@link TestClients.fetch}. */
  fetch(path: string, init?: Omit<TestRequest, "as">): Promise<TestResponse>;
  /**
   * Loads the kubeconfig into an object of `@kubernetes/client-node`.
   * @param type the class `KubeConfig` of the package, or any other class with `loadFromString`
   */
  kubeConfig<C extends { loadFromString(text: string): void }>(type: new () => C): C;
}

/** The request of {@link TestClients.fetch}. */
export interface TestRequest {
  /** `GET` by default. */
  readonly method?: string;
  /** Added to `Accept: application/json` and the type of the body, or instead of these. */
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * Text and bytes are sent unchanged. Other values are sent as JSON; their type is `application/json`, and
   * `application/merge-patch+json` in a PATCH.
   */
  readonly body?: string | Uint8Array | object;
  /** Who sends it; the admin by default. `anonymous` sends no certificate. */
  readonly as?: TestUser | "anonymous";
  /** Ends the request, or the reading of its answer. */
  readonly signal?: TestSignal;
}

/** An `AbortSignal`; the types of the kit need no host. */
export interface TestSignal {
  /** Whether it has been given. */
  readonly aborted: boolean;
  /** Calls the listener when it is given. */
  addEventListener(type: "abort", listener: () => void): void;
}

/** A `Response` of the Fetch standard; its members that need no types of a host. */
export interface TestResponse {
  /** Such as 201. */
  readonly status: number;
  /** Whether the status is 200 to 299. */
  readonly ok: boolean;
  /** The headers of the answer. */
  readonly headers: { get(name: string): string | null };
  /** The body, as it arrives. */
  readonly body: AsyncIterable<Uint8Array> | null;
  /** @returns the whole body as text */
  text(): Promise<string>;
  /** @returns the object in the body @throws SyntaxError when it is not JSON */
  // biome-ignore lint/suspicious/noExplicitAny: as in the Fetch standard: tests read what they expect.
  json(): Promise<any>;
}

/** Hooks of a test runner: those of node:test, or those of Vitest, Jest, Bun and Deno. */
export type TestRunner = EachHooks & (AllHooksOfNode | AllHooks);

/** Registers a function that the runner calls. */
export type RegisterHook = (run: () => Promise<void>) => unknown;

/** Hooks around each test, which all runners have. */
export interface EachHooks {
  /** Before each test. */
  readonly beforeEach: RegisterHook;
  /** After each test. */
  readonly afterEach: RegisterHook;
}

/** Hooks around all tests, as node:test names them. */
export interface AllHooksOfNode {
  /** Before the first test. */
  readonly before: RegisterHook;
  /** After the last test. */
  readonly after: RegisterHook;
}

/** Hooks around all tests, as the other runners name them. */
export interface AllHooks {
  /** Before the first test. @param timeoutMs how long it may take */
  readonly beforeAll: (run: () => Promise<void>, timeoutMs?: number) => unknown;
  /** After the last test. */
  readonly afterAll: RegisterHook;
}

/** A server that starts before the tests of a file, and is closed after them. */
export interface ServerFixture {
  /**
   * The server. Rules of its faults that a test adds are removed after the test; those of hooks before all tests stay.
   * @throws Error before it is started
   */
  readonly server: TestServer;
  /**
   * Creates a namespace that is deleted after the test. Finalizers of its objects that no controller removes are removed
   * then, and named in a warning.
   *
   * @param test the context of the test, which node:test and Vitest pass to it; needed while several tests run at once
   * @returns its name, which no other namespace of the server has
   * @throws Error when no test runs, or several run and `test` is undefined
   */
  namespace(test?: object): Promise<string>;
  /**
   * Forks the server, and closes the fork after the test, whose timeline is printed when the test fails. The namespaces
   * of tests that have ended are not in it.
   *
   * @param test as in `namespace`
   * @param from a snapshot of the server, such as `kit.prepared`
   * @returns a server of this test alone, with the objects that the server has now, or that the snapshot has
   * @throws Error when no test runs, or several run and `test` is undefined
   */
  fork(test?: object, from?: Snapshot): Promise<TestServer>;
  /**
   * The state of the server after `setup`, which each fork can begin with, whatever tests have done since.
   * @throws Error without the option `setup`, and before the server is started
   */
  readonly prepared: Snapshot;
  /**
   * Registers a webhook, see {@link TestServer.webhook}, until the end of the test.
   *
   * @param test as in `namespace`
   * @throws Error when a field is not valid, the server rejects the configuration, or it is not clear which test runs
   */
  webhook<S extends WebhookSpec>(spec: S, handler: WebhookHandler<S>, test?: object): Promise<TestWebhook>;
  /**
   * Installs objects, see {@link TestServer.install}, and removes those that it has created after the test.
   *
   * @param test as in `namespace`
   * @throws Error when something is not valid, the server rejects an object, or it is not clear which test runs
   */
  install(source: InstallSource, options?: InstallOptions, test?: object): Promise<Installation>;
  /**
   * Creates a client, see {@link TestClients.as}. A ServiceAccount that does not exist is created until the end of the
   * test.
   *
   * @param test as in `namespace`
   * @throws TypeError when it has no name
   * @throws Error when the server rejects the ServiceAccount, or it is not clear which test runs
   */
  as(who: TestUser | TestServiceAccount, test?: object): Promise<TestClient>;
  /**
   * Prints the timeline when a test fails, for runners whose hooks do not know whether a test has failed: Jest, Bun and
   * Deno. The kit does this itself with node:test and Vitest.
   *
   * @param run the body of a test
   * @returns the function to pass to the runner
   */
  withTimeline(run: () => unknown): () => Promise<void>;
}
