/** Loads the code for custom resources when the first CustomResourceDefinition exists. */
import type { DefinitionController } from "../controllers/crd/definitions.ts";
import { type Follower, followCache } from "../watch-cache/follow.ts";
import type { DefinitionNeeds } from "./custom-resources.ts";

/** The controller of CustomResourceDefinitions, which starts with the first of them. */
export function definitionsOnDemand(needs: DefinitionNeeds): DefinitionController {
  const { registry, logger } = needs;
  const store = registry.catalog.findServed("apiextensions.k8s.io", "v1", "customresourcedefinitions")?.resource.store;
  if (store === undefined)
    return { start() {}, stop: async () => {}, ready: Promise.resolve(), settled: async () => {} };
  const { promise: ready, resolve, reject } = Promise.withResolvers<void>();
  let first: Follower | undefined;
  let opened: Promise<DefinitionController> | undefined;
  const open = (): void => {
    first?.stop();
    opened ??= openController(needs);
  };
  const follow = (): Follower =>
    followCache({
      cache: store.cache,
      prefix: store.form.prefix,
      clock: registry.clock,
      set: open,
      deleted() {},
      knownKeys: () => [],
      missing() {},
      failed: (error) => logger.warn("Failed to list CustomResourceDefinitions", { error: String(error) }),
    });
  return {
    ready,
    async settled() {
      const controller = await opened;
      await controller?.ready;
      await controller?.settled();
    },
    start() {
      first = follow();
      first.firstListDone.then(async () => (await opened)?.ready).then(resolve, reject);
    },
    async stop() {
      first?.stop();
      await (await opened)?.stop();
    },
  };
}

async function openController(needs: DefinitionNeeds): Promise<DefinitionController> {
  const { openDefinitions } = await import("./custom-resources.ts");
  const controller = openDefinitions(needs);
  controller.start();
  return controller;
}
