/** Limits of rates. Source: golang.org/x/time/rate, whose results these are. */
import { hash } from "node:crypto";
import type { Clock } from "../../../apimachinery/clock.ts";

/** In seconds: waiting for a shorter time counts as not waiting. */
const nanosecond = 1e-9;

/** The state of a bucket. */
interface Bucket {
  tokens: number;
  /** Milliseconds since 1970. */
  since: number;
}

interface BucketsOptions {
  /** Tokens per second. */
  readonly qps: number;
  /** The size of a bucket, which starts full. */
  readonly burst: number;
  /** The bucket that was used least recently is forgotten, and full when it is needed again. */
  readonly bucketsMax: number;
  readonly clock: Pick<Clock, "now">;
}

/**
 * @returns a function that takes a token from the bucket of a key, and returns false if the bucket
 *   is empty
 */
export function tokenBuckets({ qps, burst, bucketsMax, clock }: BucketsOptions): (key: string) => boolean {
  // By hashes, because clients choose the size of keys.
  const buckets = new Map<string, Bucket>();
  const bucketOf = (key: string, now: number): Bucket => {
    const hashed = hash("sha256", key, "base64");
    const bucket = buckets.get(hashed) ?? { tokens: burst, since: now };
    buckets.delete(hashed);
    buckets.set(hashed, bucket); // Moves it to the end.
    if (buckets.size > bucketsMax) buckets.delete(buckets.keys().next().value as string);
    return bucket;
  };
  return (key) => {
    const now = clock.now();
    const bucket = bucketOf(key, now);
    // A clock that was set back adds nothing.
    const added = (Math.max(0, now - bucket.since) / 1000) * qps;
    const tokens = Math.min(burst, bucket.tokens + added) - 1;
    if (-tokens / qps >= nanosecond) return false;
    bucket.tokens = tokens;
    bucket.since = now;
    return true;
  };
}
