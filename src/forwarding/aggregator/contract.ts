/**
 * The contract of aggregation: the registered APIServices, and calls to the servers that they name.
 * Source: Kubernetes docs, "Kubernetes API Aggregation Layer".
 */
import type { Address, WebhookAnswer } from "../../webhook/contract.ts";

/** An APIService. A changed object gets a new value; values do not change. */
export interface ApiServiceView {
  /** `version.group`, such as `v1.apps`; `v1.` for the core group. */
  readonly name: string;
  readonly group: string;
  readonly version: string;
  readonly uid: string;
  readonly resourceVersion: string;
  /** Undefined for local APIServices, which this server serves itself. */
  readonly service: ServiceReference | undefined;
  /** PEM; empty for the authorities of the system. It may be malformed. */
  readonly caBundle: string;
  readonly insecureSkipTlsVerify: boolean;
  readonly groupPriorityMinimum: number;
  readonly versionPriority: number;
  /** Whether the condition `Available` is True. */
  readonly isAvailable: boolean;
}

/** The Service in front of a server. */
export interface ServiceReference {
  readonly namespace: string;
  readonly name: string;
  readonly port: number;
}

/** An APIService whose requests another server serves. */
export interface RemoteApiService extends ApiServiceView {
  readonly service: ServiceReference;
}

/** Whether another server serves the APIService. */
export function isRemote(view: ApiServiceView): view is RemoteApiService {
  return view.service !== undefined;
}

/** The current APIServices, in memory. */
export interface ApiServices {
  /** Local and remote ones, ordered by name. */
  list(): readonly ApiServiceView[];
  /** Those with a service, ordered by name. */
  remotes(): readonly RemoteApiService[];
  /** Whether there are any. */
  readonly hasRemotes: boolean;
  get(name: string): ApiServiceView | undefined;
  find(group: string, version: string): ApiServiceView | undefined;
  /** Incremented by every change, so that documents derived from the APIServices can be cached. */
  readonly generation: number;
  /**
   * Calls `run` after each change, with the old and the new value: the old one is undefined for a
   * new APIService, the new one for a deleted one. Existing APIServices are not reported.
   *
   * @returns a function that ends the calls
   */
  onChange(run: ApiServiceObserver): () => void;
}

/** Receives changes of APIServices. */
export type ApiServiceObserver = (old: ApiServiceView | undefined, next: ApiServiceView | undefined) => void;

/** The user of a call, sent in request headers. */
export interface BackendUser {
  readonly name: string;
  readonly uid?: string;
  readonly groups: readonly string[];
}

/** A GET request of this server itself. */
export interface BackendRequest {
  /** With the query, as `/apis/metrics.k8s.io/v1beta1`. */
  readonly path: string;
  /** By lower-case name, such as `accept`. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly user: BackendUser;
  /** The limit for the whole call, including the connection. */
  readonly timeoutMs: number;
  /** The limit of the body of the response. */
  readonly answerBytesMax: number;
  /** Cancels the call. */
  readonly signal?: AbortSignal;
  /** The address of the server, if it is resolved already. */
  readonly address?: Address;
}

/** A complete response. Redirects are responses too. */
export type BackendAnswer = WebhookAnswer;

/**
 * Calls servers as upstream's controllers do: for probes, discovery and OpenAPI documents. All
 * calls use the proxy client certificate of this server, whether the APIService is available or
 * not, and follow no redirects.
 */
export interface Backends {
  /** @throws Error with Go's message when the authorities of the APIService cannot be read */
  checkTransport(remote: RemoteApiService): void;
  /** @throws WebhookError of kind `resolve` when the Service has no address */
  resolve(remote: RemoteApiService): Promise<Address>;
  /**
   * Reads a whole response.
   *
   * @throws WebhookError without a complete response, with Go's message; Error as `checkTransport`
   */
  get(remote: RemoteApiService, request: BackendRequest): Promise<BackendAnswer>;
  /** As `get`, for the status code alone: returns it when the header has arrived. */
  status(remote: RemoteApiService, request: Omit<BackendRequest, "answerBytesMax">): Promise<number>;
}
