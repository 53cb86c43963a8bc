/** What a limit counts together. */
export type LimitType = "Server" | "Namespace" | "User" | "SourceAndObject";

/** A limit of the plugin EventRateLimit. */
export interface EventLimit {
  readonly type: LimitType;
  /** Events per second, in the long run. */
  readonly qps: number;
  /** Events at once. */
  readonly burst: number;
  /** The number of buckets that are kept; unused for the type `Server`. */
  readonly cacheSize: number;
}
