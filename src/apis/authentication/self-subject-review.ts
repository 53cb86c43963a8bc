/** Tells callers who they are, as every stage of authentication left them; nothing of what is sent comes back. Source: access-control §4.2. */
import { type Clock, formatTime } from "../../apimachinery/clock.ts";
import type { Review } from "../../registry/contract.ts";
import { userInfoOf } from "./user-info.ts";

export function selfSubjectReview(clock: Clock): Review {
  return {
    check() {},
    answer: (_sent, user) => ({
      metadata: { creationTimestamp: formatTime(clock.now()) },
      status: { userInfo: userInfoOf(user) },
    }),
  };
}
