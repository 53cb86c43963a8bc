/** Follows the Secrets that contain bootstrap tokens, and reports when they expire. */
import { bootstrapExpiration, bootstrapNamespace, bootstrapTokenType } from "../apimachinery/bootstrap-token.ts";
import type { ResourceStore } from "../catalog/contract.ts";
import type { RegistryContext } from "../registry/contract.ts";
import { type Follower, followCache } from "../watch-cache/follow.ts";

interface BootstrapSecretsOptions {
  readonly registry: RegistryContext;
  readonly secrets: ResourceStore;
  /** Called when a Secret was created, changed, deleted, or has expired. */
  changed(key: string): void;
  /** Called when the list failed; it is retried. */
  failed(error: unknown): void;
}

/** The longest delay of the timer; Node's limit is 24.8 days. */
const timerMaxMs = 24 * 3600_000;

export function followBootstrapSecrets({
  registry,
  secrets,
  changed,
  failed,
}: BootstrapSecretsOptions): Pick<Follower, "stop"> {
  const { clock } = registry;
  const prefix = `${secrets.form.prefix}${bootstrapNamespace}/`;
  /** The expiration of each Secret, by key. */
  const expirations = new Map<string, number>();
  let timerAt = Number.POSITIVE_INFINITY;
  let cancelTimer = (): void => {};

  const waitFor = (expiration: number): void => {
    if (expiration >= timerAt) return;
    cancelTimer();
    timerAt = expiration;
    cancelTimer = clock.after(Math.min(expiration - clock.now(), timerMaxMs), expire);
  };
  const expire = (): void => {
    timerAt = Number.POSITIVE_INFINITY;
    let next = Number.POSITIVE_INFINITY;
    for (const [key, expiration] of expirations) {
      if (expiration > clock.now()) next = Math.min(next, expiration);
      else changed(key);
    }
    waitFor(next);
  };
  const drop = (key: string): void => {
    if (expirations.delete(key)) changed(key);
  };
  const follower = followCache({
    cache: secrets.cache,
    prefix,
    clock,
    set(entry) {
      if (!entry.key.startsWith(prefix) || entry.index.fields.get("type") !== bootstrapTokenType) return;
      const expiration = bootstrapExpiration(secrets.decode(entry)) ?? Number.POSITIVE_INFINITY;
      expirations.set(entry.key, expiration);
      changed(entry.key);
      if (expiration > clock.now()) waitFor(expiration);
    },
    deleted: ({ key }) => drop(key),
    knownKeys: () => expirations.keys(),
    missing: drop,
    failed,
  });
  return {
    stop() {
      cancelTimer();
      follower.stop();
    },
  };
}
