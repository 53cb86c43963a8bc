/**
 * SelfSubjectReview: returns the user of the request after authentication and impersonation. The sent object is ignored.
 * Source: KEP-3325.
 */
import { type Clock, formatTime } from "../../apimachinery/clock.ts";
import type { Review } from "../../registry/contract.ts";
import { userInfoOf } from "./user-info.ts";

/** Creates the review. */
export function selfSubjectReview(clock: Clock): Review {
  return {
    check() {},
    answer: (_sent, user) => ({
      metadata: { creationTimestamp: formatTime(clock.now()) },
      status: { userInfo: userInfoOf(user) },
    }),
  };
}
