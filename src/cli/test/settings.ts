/** The server of `coxswain test`: in memory, on a free port unless a flag chooses one. */
import { FlagError, type Settings } from "../flags/contract.ts";
import { type ServerFlags, serverFlags } from "../flags/parse-flags.ts";

/** No data directory; a file system has none with this name. */
const noDirectory = "\0";

/** Flags of every server; later ones replace them. */
const testFlags = ["--storage=memory", `--data-dir=${noDirectory}`, "--secure-port=0", "--enable-test-control=true"];

/** The flags that a command accepts for its server. */
export const testServerFlags = (): ServerFlags => serverFlags(testFlags);

/**
 * The settings of a server in memory.
 * @param options its `kubernetesVersion` is the release that the server emulates
 * @throws FlagError
 */
export function testSettings(
  flags: ServerFlags,
  { kubernetesVersion }: { readonly kubernetesVersion?: string } = {},
): Settings {
  const settings = flags.settings();
  const { storage, dataDir } = settings.server;
  if (storage !== "memory") throw new FlagError(`the server keeps its objects in memory, not in ${storage}`);
  if (dataDir !== noDirectory) throw new FlagError("the server keeps its objects in memory: it has no --data-dir");
  const emulated = kubernetesVersion !== undefined && { emulatedVersion: kubernetesVersion };
  return { ...settings, server: { ...settings.server, ...emulated, dataDir: undefined } };
}
