/** Opens the ciphers of an EncryptionConfiguration for the commands of stores. */
import { systemClock } from "../../../apimachinery/clock.ts";
import { silentLogger } from "../../../apimachinery/logger.ts";
import { resourcesOfKeys } from "../../../catalog/resource-of-key.ts";
import { readGiven } from "../../../lib/kubeconfig/kubeconfig.ts";
import { readEncryptionConfiguration } from "../../../storage/encryption/configuration.ts";
import { type OpenedEncryption, openEncryption } from "../../../storage/encryption/open-encryption.ts";
import { silentObserver } from "../../../storage/encryption/silent-observer.ts";
import { keysWithPrefix } from "../../../storage/etcd/keys.ts";
import type { StoreLocation } from "../location.ts";

export { decryptedReader } from "../../../storage/copy/encrypted-ends.ts";

/**
 * @param file the EncryptionConfiguration
 * @throws Error when the file cannot be read, or ConfigurationError
 */
export async function openStoreEncryption(file: string, location: StoreLocation): Promise<OpenedEncryption> {
  const configuration = readEncryptionConfiguration(await readGiven(file), { file, reloads: false });
  const keys = keysWithPrefix(location.engine === "etcd" ? location.place.prefix : "/registry");
  return openEncryption(configuration, {
    resourceOf: resourcesOfKeys(),
    pathOf: keys.pathOf,
    allowsFirstKms: true, // A command reads what a server with the gate has stored.
    clock: systemClock,
    logger: silentLogger,
    observer: silentObserver,
  });
}
