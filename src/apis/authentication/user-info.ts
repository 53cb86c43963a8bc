/** Converts a user to the UserInfo of this API group. */
import type { UserInfo } from "../../apimachinery/user.ts";
import type { Part } from "../fields.ts";

export function userInfoOf({ name, uid, groups, extra }: UserInfo): Part {
  return {
    username: name,
    uid,
    groups: [...groups],
    extra: Object.fromEntries([...extra].map(([key, values]) => [key, [...values]])),
  };
}
