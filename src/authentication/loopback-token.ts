/**
 * The token with which the server calls itself.
 * Source: `AuthorizeClientBearerToken` in k8s.io/apiserver@v0.36.0/pkg/server/config.go.
 */
import { timingSafeEqual } from "node:crypto";
import { loopbackUser } from "../apimachinery/system-user.ts";
import type { TokenAuthenticator } from "./contract.ts";

/**
 * Accepts one token, as that of the loopback user.
 *
 * @param uid of the user
 */
export function loopbackTokenAuthenticator(token: string, uid: string): TokenAuthenticator {
  const expected = Buffer.from(token);
  const accepted = { user: { ...loopbackUser, uid }, audiences: [] };
  return (text) => {
    const given = Buffer.from(text);
    return given.length === expected.length && timingSafeEqual(given, expected) ? accepted : undefined;
  };
}
