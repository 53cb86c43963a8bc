/** Faults on order: rules that make requests fail, wait or see old states. */

/** Matches a text exactly, or by a pattern in which `*` matches any characters; of a list, one must match. */
export type TextMatch = string | readonly string[];

/** Which requests a fault applies to. Without conditions: every request to which the fault can apply. */
export interface FaultRule {
  /** The name of the user whose rights apply. */
  readonly user?: TextMatch;
  /** The header `User-Agent`. */
  readonly userAgent?: TextMatch;
  /**
   * The address of the client, such as `127.0.0.1`, or the id of its credential as in the user's extra
   * `authentication.kubernetes.io/credential-id`, such as `X509SHA256=…` and `JTI=…`.
   */
  readonly client?: TextMatch;
  /**
   * `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`, `proxy`, or the method of other
   * paths, in lower case.
   */
  readonly verb?: TextMatch;
  /** Such as `pods`, or with its group, `deployments.apps`. Empty for paths that name no resource. */
  readonly resource?: TextMatch;
  /** Such as `status`; an empty text matches requests without a subresource. */
  readonly subresource?: TextMatch;
  /** The name in the path, which is empty for lists and creations. */
  readonly name?: TextMatch;
  readonly namespace?: TextMatch;
  /** So many matching requests are served as usual first. */
  readonly after?: number;
  /** The fault applies so many times; without a limit if unset. */
  readonly count?: number;
  /** Between 0 and 1: the share of matching requests to which the fault applies; 1 if unset. */
  readonly probability?: number;
  /**
   * Whether the rule may end without having applied. Otherwise the fixture of a test reports a rule of the test that
   * never applied as a failure of the test. False if unset.
   */
  readonly optional?: boolean;
  /** Of the random numbers for `probability`; the same seed makes the same decisions. 1 if unset. */
  readonly seed?: number;
}

/** What happens to a request. Each type is a separate interface, so that the compiler checks its fields. */
export type Fault =
  | ConflictFault
  | GoneFault
  | TooManyRequestsFault
  | InternalErrorFault
  | TimeoutFault
  | LatencyFault
  | CutConnectionFault
  | CutWatchFault
  | StallWatchFault
  | MissingBookmarkFault
  | StaleReadFault;

/** 409 with the reason Conflict, as when another client has changed the object. Only update, patch and delete. */
export interface ConflictFault {
  readonly type: "conflict";
}

/** 410 with the reason Expired. Only list, and watch, which gets it as an event. */
export interface GoneFault {
  readonly type: "gone";
}

/** 429 with `Retry-After`, as when the server has too many requests in flight. */
export interface TooManyRequestsFault {
  readonly type: "tooManyRequests";
  /** 1 if unset. */
  readonly retryAfterSeconds?: number;
}

/** 500 with the reason InternalError; nothing is written. */
export interface InternalErrorFault {
  readonly type: "internalError";
  readonly message?: string;
}

/**
 * 504 with the reason Timeout. `timeoutBeforeCommit`: nothing is written. `timeoutAfterCommit`: the write is made, and its
 * success is answered with the timeout; only writes. A write that fails has its own answer.
 */
export interface TimeoutFault {
  readonly type: "timeoutBeforeCommit" | "timeoutAfterCommit";
}

/**
 * The request waits before it is served, by the clock of the server, or until the rule is removed. At the server's request
 * timeout it gets 504.
 */
export interface LatencyFault {
  readonly type: "latency";
  /** Milliseconds; at most ten minutes. */
  readonly ms: number;
}

/** The connection of the client is closed, with all requests on it, without an answer. */
export interface CutConnectionFault {
  readonly type: "cutConnection";
  /** Whether the request is not served at all, or served and not answered; `before` if unset. */
  readonly when?: "before" | "after";
}

/** A watch ends. Watches that are open when the rule is added end, too. */
export interface CutWatchFault {
  readonly type: "cutWatch";
  /** After so many events, initial ones included, and bookmarks not; 0 if unset: at once. */
  readonly events?: number;
  /** `drop`: the connection is lost, with all requests on it. `end`: as at the watch's timeout. `drop` if unset. */
  readonly how?: "drop" | "end";
}

/**
 * A watch stays open and delivers nothing until the rule is removed; then it delivers what it has missed. Watches that are
 * open when the rule is added stall, too.
 */
export interface StallWatchFault {
  readonly type: "stallWatch";
  /** After so many events; 0 if unset: at once. */
  readonly events?: number;
}

/** A watch gets no bookmarks. Watches that are open when the rule is added get no more, either. */
export interface MissingBookmarkFault {
  readonly type: "missingBookmark";
  /** `initialEventsEnd`: only the one that ends the initial events is missing. `all` if unset. */
  readonly which?: "all" | "initialEventsEnd";
}

/**
 * A get or list is answered from an older state of its resource, with the resourceVersion of that state, as from a watch
 * cache that lags. A request for a minimal or exact resourceVersion gets no older state than it names. Exactly one of the
 * fields is required.
 */
export interface StaleReadFault {
  readonly type: "staleRead";
  /** The state before so many of the newest changes of the resource. */
  readonly changes?: number;
  /** The state so many milliseconds ago, by the clock of the server. */
  readonly ms?: number;
}

/** A rule in effect. */
export interface FaultHandle {
  /** Names the rule in the timeline, and in the paths of the control. */
  readonly id: string;
  readonly rule: FaultRule;
  readonly fault: Fault;
  /** How often the fault was applied. */
  readonly hits: number;
  /** Ends the rule, and releases the requests that it delays and the watches that it stalls. Can be called again. */
  remove(): void;
}

/**
 * The faults of a server. Of several rules that match a request the first one applies that was added and is not used up.
 * Rules see requests of clients after authorization: not those for health checks and control paths, and not the server's
 * own writes.
 */
export interface Faults {
  /**
   * Adds a rule.
   * @throws FaultRuleError when a field is not valid, the rule can never apply, or 1000 rules exist
   */
  add(rule: FaultRule, fault: Fault): FaultHandle;
  /** Rules in the order in which they were added, also used up ones. */
  list(): readonly FaultHandle[];
  /** Removes all rules. */
  clear(): void;
}
