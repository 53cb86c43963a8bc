/**
 * The headers by which a server behind this one knows the user. Source: `SetAuthProxyHeaders` in
 * k8s.io/client-go@v0.36.0/transport/round_trippers.go.
 */
import type { UserInfo } from "../../apimachinery/user.ts";

type Identity = Pick<UserInfo, "name" | "groups"> & Partial<Pick<UserInfo, "uid" | "extra">>;

const extraPrefix = "x-remote-extra-";
const replaced: ReadonlySet<string> = new Set(["x-remote-user", "x-remote-uid", "x-remote-group"]);
/** Bytes of a token of RFC 9110, section 5.6.2, except the percent sign, which starts an escape. */
const plainByte = /^[!#$&'*+.^_`|~0-9A-Za-z-]$/;

/** Formats a user as header names and values, alternately. */
export function identityHeaders({ name, uid = "", groups, extra }: Identity): string[] {
  const lines = ["X-Remote-User", name];
  if (uid !== "") lines.push("X-Remote-Uid", uid);
  for (const group of groups) lines.push("X-Remote-Group", group);
  for (const [key, values] of extra ?? [])
    for (const value of values) lines.push(`X-Remote-Extra-${escapeKey(key)}`, value);
  return lines.map((text, index) => (index % 2 === 0 ? text : headerBytes(text)));
}

/**
 * Whether a header of a client would name a user.
 *
 * @param name in lower case
 */
export function isIdentityHeader(name: string): boolean {
  return replaced.has(name) || name.startsWith(extraPrefix);
}

/** Node writes headers as Latin-1: each byte of the UTF-8 text becomes a character. */
function headerBytes(text: string): string {
  return Buffer.from(text).toString("latin1");
}

function escapeKey(key: string): string {
  return Array.from(Buffer.from(key), (byte) => {
    const character = String.fromCharCode(byte);
    return plainByte.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  }).join("");
}
