/** Tells callers who they are, as every stage of authentication left them; nothing of what is sent comes back. Source: access-control §4.2. */
import { type Clock, formatTime } from "../../api/clock.ts";
import type { KubeObject } from "../../api/object.ts";
import type { UserInfo } from "../../api/user.ts";
import type { Review } from "../../registry/contract.ts";

export function selfSubjectReview(clock: Clock): Review {
  return {
    check() {},
    answer: (_sent, user) => ({ metadata: { creationTimestamp: formatTime(clock.now()) }, status: { userInfo: userInfoOf(user) } }),
  };
}

function userInfoOf({ name, uid, groups, extra }: UserInfo): KubeObject["status"] {
  return { username: name, uid, groups: [...groups], extra: Object.fromEntries([...extra].map(([key, values]) => [key, [...values]])) };
}
