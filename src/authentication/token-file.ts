/**
 * The static tokens of `--token-auth-file`.
 * Source: k8s.io/apiserver@v0.36.0/pkg/authentication/token/tokenfile/tokenfile.go.
 */
import { createHmac, randomBytes } from "node:crypto";
import type { UserInfo } from "../apimachinery/user.ts";
import { CsvError, parseCsv } from "../lib/csv/csv.ts";
import type { TokenAuthenticator } from "./contract.ts";

/**
 * @param text CSV with the columns token, user name, user uid and, optionally, groups separated by
 *   commas
 * @throws Error with the number of the invalid line, without its content
 */
export function tokenFileAuthenticator(text: string, file: string): TokenAuthenticator {
  // Tokens are looked up by a keyed hash, so that timing reveals nothing about them.
  const secret = randomBytes(32);
  const hash = (token: string): string => createHmac("sha256", secret).update(token).digest("base64");
  const users = new Map<string, UserInfo>();
  const lines = new Map<string, number>();
  for (const { line, fields } of recordsOf(text, file)) {
    const [token = "", name = "", uid = "", groups] = fields;
    const fail = (problem: string): Error => new Error(`token file '${file}' line ${line}: ${problem}`);
    if (fields.length < 3)
      throw fail(`must have at least 3 columns (token, user name, user uid), found ${fields.length}`);
    if (token === "") throw fail("the token is empty");
    if (name === "") throw fail("the user name is empty");
    const key = hash(token);
    const before = lines.get(key);
    if (before !== undefined) throw fail(`the token is equal to that of line ${before}`);
    lines.set(key, line);
    users.set(key, { name, uid, groups: groups === undefined ? [] : groups.split(","), extra: new Map() });
  }
  return (token) => {
    const user = users.get(hash(token));
    return user && { user, audiences: [] };
  };
}

function recordsOf(text: string, file: string): ReturnType<typeof parseCsv> {
  try {
    return parseCsv(text);
  } catch (error) {
    if (error instanceof CsvError) throw new Error(`token file '${file}': ${error.message}`);
    throw error;
  }
}
