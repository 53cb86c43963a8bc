/**
 * Finds the service accounts of pods. Source: `getServiceAccount` in
 * k8s.io/kubernetes@v1.36.0/plugin/pkg/admission/serviceaccount/admission.go.
 */
import { type Clock, realClock } from "../../../apimachinery/clock.ts";
import type { KubeObject } from "../../../apimachinery/object.ts";
import { parseBool } from "../../../apimachinery/parse-bool.ts";
import { items } from "../../../apis/fields.ts";
import type { Catalog } from "../../../catalog/contract.ts";
import type { CacheEvent, WatchCache } from "../../../watch-cache/contract.ts";
import { lookUp } from "../../lookup.ts";

/** The account of pods that name none. A controller creates it in each namespace. */
export const defaultAccountName = "default";

const enforceAnnotation = "kubernetes.io/enforce-mountable-secrets";
const resource = { group: "", resource: "serviceaccounts" };

/** What the plugin needs of a ServiceAccount. */
export interface Account {
  readonly name: string;
  readonly automountsToken: boolean | undefined;
  /** Names, in the order of the account. */
  readonly imagePullSecrets: readonly string[];
  /** The names of the secrets that pods can mount; undefined if they can mount all. */
  readonly mountableSecrets: ReadonlySet<string> | undefined;
}

/** Finds service accounts. */
export interface Accounts {
  /**
   * Finds an account that was stored before the call; for the account `default` it waits a short
   * time until the account is created.
   */
  find(namespace: string, name: string): Promise<Account | undefined>;
}

/** What finding accounts needs of the server. */
export interface AccountsNeeds {
  readonly catalog: Pick<Catalog, "findResource">;
  readonly clock: Clock;
}

/** Finds accounts in the watch cache. */
export function serviceAccounts({ catalog, clock }: AccountsNeeds): Accounts {
  const accounts = lookUp(catalog, resource, accountOf);
  return {
    async find(namespace, name) {
      const account = await accounts.find(namespace, name);
      if (account !== undefined || name !== defaultAccountName) return account;
      const store = catalog.findResource(resource.group, resource.resource)?.store;
      if (store === undefined) return undefined;
      await untilStored(store.cache, store.keyOf(namespace, name), clock);
      return accounts.find(namespace, name);
    },
  };
}

function accountOf(object: KubeObject): Account {
  const { metadata, automountServiceAccountToken, secrets, imagePullSecrets } = object;
  const namesOf = (list: unknown): string[] => items(list).map(({ name = "" }) => name);
  const enforces = parseBool(metadata.annotations?.[enforceAnnotation] ?? "") === true;
  return {
    name: metadata.name ?? "",
    automountsToken: automountServiceAccountToken,
    imagePullSecrets: namesOf(imagePullSecrets),
    mountableSecrets: enforces ? new Set(namesOf(secrets)) : undefined,
  };
}

/** Upstream reads the account nine more times, with a pause of 100 to 200 ms before each. */
const waitMs = 9 * 150;

async function untilStored(cache: WatchCache, key: string, clock: Clock): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const cancel = realClock(clock).after(waitMs, resolve);
  const events = (batch: readonly CacheEvent[]): void => {
    if (batch.some(({ entry }) => entry.key === key)) resolve();
  };
  const subscription = cache.subscribe(cache.latest().revision, { events, end: () => resolve() }, { key });
  if (cache.latest().get(key) !== undefined) resolve();
  await promise;
  cancel();
  subscription.close();
}
