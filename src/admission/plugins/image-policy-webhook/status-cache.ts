/** Caches the answers of the webhook of ImagePolicyWebhook. */
import { hash } from "node:crypto";
import type { Clock } from "../../../apimachinery/clock.ts";
import type { ImageReviewStatus } from "./contract.ts";

/** As upstream's. */
const entriesMax = 1024;
/** In characters of JSON; larger answers are not cached. Upstream has no limit. */
const statusMax = 10_000;

/** Remembers answers by question. */
export interface StatusCache {
  find(spec: string): ImageReviewStatus | undefined;
  add(spec: string, status: ImageReviewStatus, ttlMs: number): void;
}

/** @returns a cache that forgets the answer that was used least recently */
export function statusCache(clock: Pick<Clock, "now">): StatusCache {
  // By hashes, because clients choose the size of questions.
  const entries = new Map<string, { readonly status: ImageReviewStatus; readonly until: number }>();
  return {
    find(spec) {
      const key = hash("sha256", spec, "base64");
      const found = entries.get(key);
      if (found === undefined) return undefined;
      entries.delete(key);
      if (found.until <= clock.now()) return undefined;
      entries.set(key, found); // Moves it to the end.
      return found.status;
    },
    add(spec, status, ttlMs) {
      if (ttlMs <= 0 || JSON.stringify(status).length > statusMax) return;
      entries.set(hash("sha256", spec, "base64"), { status, until: clock.now() + ttlMs });
      if (entries.size > entriesMax) entries.delete(entries.keys().next().value as string);
    },
  };
}
