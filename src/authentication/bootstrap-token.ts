/** Tokens by which nodes join, each in a secret. Source: access-control §5.2; plugin/pkg/auth/authenticator/token/bootstrap. */
import {
  bootstrapData,
  bootstrapExpiration,
  bootstrapGroups,
  bootstrapNamespace,
  bootstrapSecretName,
  bootstrapTokenType,
} from "../apimachinery/bootstrap-token.ts";
import type { Clock } from "../apimachinery/clock.ts";
import type { KubeObject } from "../apimachinery/object.ts";
import type { UserInfo } from "../apimachinery/user.ts";
import { isSameSecret } from "../lib/secrets/same-secret.ts";
import type { TokenAuthenticator } from "./contract.ts";
import type { LiveObjects } from "./service-account/live-objects.ts";

export interface BootstrapTokenOptions {
  readonly live: LiveObjects;
  readonly clock: Clock;
}

const tokenForm = /^([a-z0-9]{6})\.([a-z0-9]{16})$/;

/** Whatever is wrong with a token of this form, it is as good as one of another kind: upstream says no more. */
export function bootstrapTokenAuthenticator({ live, clock }: BootstrapTokenOptions): TokenAuthenticator {
  return (token) => {
    const [, id, secret] = tokenForm.exec(token) ?? [];
    return id === undefined || secret === undefined ? undefined : look(id, secret);
  };

  async function look(id: string, secret: string): Promise<Awaited<ReturnType<TokenAuthenticator>>> {
    await live.caughtUp();
    const name = bootstrapSecretName(id);
    const seen = live.find("secrets", bootstrapNamespace, name);
    const holder = live.read("secrets", bootstrapNamespace, name);
    const user = holder && userOf(holder, id, secret, clock.now());
    if (holder === undefined || user === undefined) return undefined;
    const expiresAt = bootstrapExpiration(holder);
    return {
      user,
      audiences: [],
      ...(expiresAt !== undefined && { expiresAt }),
      stillHolds: () => live.find("secrets", bootstrapNamespace, name) === seen, // Another state of the secret is looked at again.
    };
  }
}

function userOf(holder: KubeObject, id: string, secret: string, now: number): UserInfo | undefined {
  if (holder.metadata.deletionTimestamp !== undefined || holder.type !== bootstrapTokenType) return undefined;
  if (!isSameSecret(bootstrapData(holder, "token-secret"), Buffer.from(secret))) return undefined;
  if (bootstrapData(holder, "token-id").toString() !== id) return undefined;
  if (now >= (bootstrapExpiration(holder) ?? Number.POSITIVE_INFINITY)) return undefined;
  if (bootstrapData(holder, "usage-bootstrap-authentication").toString() !== "true") return undefined;
  const groups = bootstrapGroups(holder);
  return groups && { name: `system:bootstrap:${id}`, uid: "", groups, extra: new Map() };
}
