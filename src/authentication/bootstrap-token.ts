/**
 * Bootstrap tokens in Secrets.
 * Source: k8s.io/kubernetes@v1.36.0/plugin/pkg/auth/authenticator/token/bootstrap/bootstrap.go.
 */
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

interface BootstrapTokenOptions {
  readonly live: LiveObjects;
  readonly clock: Clock;
}

const tokenForm = /^([a-z0-9]{6})\.([a-z0-9]{16})$/;

/**
 * @returns an authenticator that, as upstream, treats an invalid bootstrap token like an unknown
 *   token
 */
export function bootstrapTokenAuthenticator({ live, clock }: BootstrapTokenOptions): TokenAuthenticator {
  return (token) => {
    const [, id, secret] = tokenForm.exec(token) ?? [];
    return id === undefined || secret === undefined ? undefined : authenticateSecret(id, secret);
  };

  async function authenticateSecret(id: string, secret: string): Promise<Awaited<ReturnType<TokenAuthenticator>>> {
    await live.waitUntilCurrent();
    const name = bootstrapSecretName(id);
    const entry = live.find("secrets", bootstrapNamespace, name);
    const secretObject = live.read("secrets", bootstrapNamespace, name);
    const user = secretObject && userOf(secretObject, id, secret, clock.now());
    if (secretObject === undefined || user === undefined) return undefined;
    const expiresAt = bootstrapExpiration(secretObject);
    return {
      user,
      audiences: [],
      ...(expiresAt !== undefined && { expiresAt }),
      isStillValid: () => live.find("secrets", bootstrapNamespace, name) === entry, // A changed secret is read again.
    };
  }
}

function userOf(secretObject: KubeObject, id: string, secret: string, now: number): UserInfo | undefined {
  if (secretObject.metadata.deletionTimestamp !== undefined || secretObject.type !== bootstrapTokenType)
    return undefined;
  if (!isSameSecret(bootstrapData(secretObject, "token-secret"), Buffer.from(secret))) return undefined;
  if (bootstrapData(secretObject, "token-id").toString() !== id) return undefined;
  if (now >= (bootstrapExpiration(secretObject) ?? Number.POSITIVE_INFINITY)) return undefined;
  if (bootstrapData(secretObject, "usage-bootstrap-authentication").toString() !== "true") return undefined;
  const groups = bootstrapGroups(secretObject);
  return groups && { name: `system:bootstrap:${id}`, uid: "", groups, extra: new Map() };
}
