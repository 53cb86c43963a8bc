/**
 * The keys of service account tokens that each server publishes in its Lease, so that servers over one store notice that
 * they reject each other's tokens. Only hashes of public keys are published, which the issuer's key set contains, too.
 */
import type { Logger } from "../../apimachinery/logger.ts";
import { identityLabel, identityNamespace } from "../../apimachinery/server-identity.ts";
import type { RegistryContext } from "../../registry/contract.ts";

/** The ids of keys, as in the key set. */
export interface TokenKeys {
  readonly signing: string;
  /** Includes `signing`. */
  readonly accepted: readonly string[];
}

const annotation = "coxswain/service-account-keys";
/** Of the annotation of another server, in characters. */
const textMax = 16 * 1024;
/** Servers that are named in a warning. */
const namedMax = 10;

/** The annotation with which a server publishes its keys. */
export function tokenKeysAnnotation({ signing, accepted }: TokenKeys): Readonly<Record<string, string>> {
  return { [annotation]: [signing, ...accepted.filter((one) => one !== signing)].join(",") };
}

/** @returns undefined for servers that publish none */
function parse(text: string | undefined): TokenKeys | undefined {
  if (text === undefined || text === "" || text.length > textMax) return undefined;
  const accepted = text.split(",");
  return { signing: accepted[0] as string, accepted };
}

/**
 * Warns when this server and another one over its store reject each other's tokens. kube-apiservers publish no keys.
 *
 * @param self the identity of this server
 */
export async function checkTokenKeys(
  registry: RegistryContext,
  { self, keys, logger }: { readonly self: string; readonly keys: TokenKeys; readonly logger: Logger },
): Promise<void> {
  const store = registry.catalog.findServed("coordination.k8s.io", "v1", "leases")?.resource.store;
  if (store === undefined) return;
  const [label, value] = identityLabel;
  const servers: string[] = [];
  for (const entry of (await store.cache.current()).range(store.keyOf(identityNamespace, ""))) {
    const { name, labels } = entry.index;
    if (name === self || labels.get(label) !== value) continue;
    const other = parse(store.decode(entry).metadata.annotations?.[annotation]);
    if (other !== undefined && !agree(keys, other)) servers.push(name);
  }
  if (servers.length === 0) return;
  logger.warn("Servers over this store reject each other's service account tokens; they need the same signing key", {
    flag: "--service-account-signing-key-file",
    servers: servers.slice(0, namedMax).join(","),
  });
}

function agree(one: TokenKeys, other: TokenKeys): boolean {
  return one.accepted.includes(other.signing) && other.accepted.includes(one.signing);
}
