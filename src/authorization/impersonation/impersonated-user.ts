/** The user that the `Impersonate-…` headers request. */
import { badRequest } from "../../apimachinery/errors.ts";
import { headerKey, headerText } from "../../apimachinery/header-text.ts";
import type { UserInfo } from "../../apimachinery/user.ts";
import { quoteGo } from "../../lib/json/quote.ts";
import type { Exchange } from "../../request/exchange.ts";

const extraPrefix = "impersonate-extra-";
const letterI = 0x69;

/**
 * Parses the headers, without adding groups.
 * @param constrained whether the gate ConstrainedImpersonation is on, which changes the message
 * @returns undefined when impersonation is not requested
 * @throws ApiError 400 for groups, a uid or extra without a user
 */
export function impersonatedUser(
  { rawHeaders }: Pick<Exchange, "rawHeaders">,
  constrained: boolean,
): UserInfo | undefined {
  if (!rawHeaders.some(mayBeImpersonation)) return undefined; // Fast path for most requests.
  let name: string | undefined;
  let uid = "";
  const groups: string[] = [];
  const extra = new Map<string, string[]>();
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const header = (rawHeaders[at] as string).toLowerCase();
    if (!header.startsWith("impersonate-")) continue;
    const value = headerText(rawHeaders[at + 1] as string);
    // The first of repeated headers counts.
    if (header === "impersonate-user") name ??= value;
    else if (header === "impersonate-uid") uid ||= value;
    else if (header === "impersonate-group") groups.push(value);
    else if (header.startsWith(extraPrefix)) add(extra, headerKey(header.slice(extraPrefix.length)), value);
  }
  const user = { name: name ?? "", uid, groups, extra };
  if (user.name !== "") return user;
  // As upstream, which does not distinguish an empty header from none.
  if (uid === "" && groups.length === 0 && extra.size === 0) return undefined;
  const what = constrained
    ? `${goSyntax(user)} without impersonating a user name`
    : `${references(user)} without impersonating a user`;
  throw badRequest(`requested ${what}`);
}

function mayBeImpersonation(text: string, at: number): boolean {
  return at % 2 === 0 && (text.charCodeAt(0) | 0x20) === letterI;
}

function add(extra: Map<string, string[]>, key: string, value: string): void {
  const values = extra.get(key);
  if (values === undefined) extra.set(key, [value]);
  else values.push(value);
}

/** Each requested value as a reference, as the message of upstream's filter without constraints prints them. */
function references({ uid, groups, extra }: UserInfo): string {
  const version = "authentication.k8s.io/v1";
  const extras = [...extra].flatMap(([key, values]) =>
    values.map((value) => `{UserExtra  ${value}  ${version}  ${key}}`),
  );
  const all = [
    ...groups.map((group) => `{Group  ${group}    }`),
    ...extras,
    ...(uid === "" ? [] : [`{UID  ${uid}  ${version}  }`]),
  ];
  return `[${all.join(" ")}]`;
}

/** The user as upstream's message prints it. */
function goSyntax({ name, uid, groups, extra }: UserInfo): string {
  const list = (values: readonly string[]): string =>
    values.length === 0 ? "[]string(nil)" : `[]string{${values.map(quoteGo).join(", ")}}`;
  const keys = [...extra.keys()].sort();
  const map = keys.map((key) => `${quoteGo(key)}:${list(extra.get(key) as string[])}`).join(", ");
  const extras = keys.length === 0 ? "map[string][]string(nil)" : `map[string][]string{${map}}`;
  return `&user.DefaultInfo{Name:${quoteGo(name)}, UID:${quoteGo(uid)}, Groups:${list(groups)}, Extra:${extras}}`;
}
