/** Webhooks and installations of a server. Their code is loaded when a test needs it. */
import type { TestClients } from "./contract.ts";
import type { Finalizers } from "./held-objects.ts";
import type { Installation, InstallOptions, InstallSource } from "./install/contract.ts";
import type { ManifestObject } from "./install/manifest.ts";
import type { Webhooks } from "./webhooks/webhooks.ts";

/** The tools of a server. */
export interface TestTools {
  readonly finalizers: Finalizers;
  webhooks(): Promise<Webhooks>;
  /** @throws ManifestError when something is not valid @throws Error when the server rejects an object */
  install(source: InstallSource, options?: InstallOptions): Promise<Installation>;
  /** Installs objects that were read before. @throws Error when the server rejects an object */
  installObjects(objects: readonly ManifestObject[], options?: InstallOptions): Promise<Installation>;
  /** The server no longer holds the process. */
  unref(): void;
  close(): Promise<void>;
}

/** What the tools need of a server. */
export interface ToolNeeds {
  readonly fetch: TestClients["fetch"];
  readonly finalizers: Finalizers;
  /** Resolves when the definitions in the watch cache are served as they are. */
  definitionsServed(): Promise<void>;
  /** The server no longer holds the process. */
  unref(): void;
}

/** Creates the tools of a server. */
export function openTools(needs: ToolNeeds): TestTools {
  let webhooks: Promise<Webhooks> | undefined;
  const installObjects: TestTools["installObjects"] = async (objects, options = {}) => {
    const { install } = await import("./install/install.ts");
    return install(objects, options, needs);
  };
  return {
    finalizers: needs.finalizers,
    unref: needs.unref,
    webhooks() {
      webhooks ??= import("./webhooks/webhooks.ts").then(({ openWebhooks }) => openWebhooks(needs));
      return webhooks;
    },
    async install(source, options) {
      const { readSource } = await import("./install/read-source.ts");
      return installObjects(await readSource(source), options);
    },
    installObjects,
    close: async () => (await webhooks)?.close(),
  };
}

const ofServers = new WeakMap<object, TestTools>();

/** Remembers the tools of a server, which its users do not see. */
export function keepTools(server: object, tools: TestTools): void {
  ofServers.set(server, tools);
}

/** @throws TypeError when it is not a server of the kit */
export function toolsOf(server: object): TestTools {
  const found = ofServers.get(server);
  if (found === undefined) throw new TypeError("not a server of the test kit");
  return found;
}
