/** Which controllers run in this server, and their start and end. */
import type { ConversionWebhooks } from "../apis/apiextensions/conversion/webhook-clients.ts";
import { bootstrapSigner } from "../controllers/bootstrap-signer.ts";
import type { Controller } from "../controllers/contract.ts";
import type { DefinitionControllerOptions } from "../controllers/crd/definitions.ts";
import type { ControllerName } from "../controllers/enabled.ts";
import { garbageCollector } from "../controllers/garbage-collector/garbage-collector.ts";
import { legacyTokenCleaner } from "../controllers/legacy-tokens/cleaner.ts";
import { legacyTokenTracking } from "../controllers/legacy-tokens/tracking.ts";
import { namespaceController } from "../controllers/namespace.ts";
import { roleAggregation } from "../controllers/role-aggregation.ts";
import { rootCaPublisher } from "../controllers/root-ca.ts";
import { serviceAccountController } from "../controllers/service-account.ts";
import {
  type ServiceAccountTokensOptions,
  serviceAccountTokensController,
} from "../controllers/service-account-tokens.ts";
import { tokenCleaner } from "../controllers/token-cleaner.ts";
import type { Closers } from "./closers.ts";
import { definitionsOnDemand } from "./definitions.ts";

export interface ControllerNeeds
  extends Omit<DefinitionControllerOptions, "rules">,
    Omit<ServiceAccountTokensOptions, "issue"> {
  readonly issueForSecret: ServiceAccountTokensOptions["issue"];
  readonly webhooks: ConversionWebhooks;
  readonly legacyTokenCleanUpMs: number;
  readonly closers: Closers;
}

/** @returns when the definitions that were there at the start are served, or could not be read */
export async function startControllers(running: ReadonlySet<ControllerName>, needs: ControllerNeeds): Promise<void> {
  const { registry, logger, queues, caBundle, issueForSecret: issue, closers } = needs;
  const definitions = definitionsOnDemand(needs);
  const makers: Readonly<Record<ControllerName, () => Controller>> = {
    "namespace-controller": () => namespaceController({ registry, logger, queues }),
    "serviceaccount-controller": () => serviceAccountController({ registry, logger }),
    "root-ca-certificate-publisher-controller": () => rootCaPublisher({ registry, logger, caBundle }),
    "serviceaccount-token-controller": () =>
      serviceAccountTokensController({ registry, logger, queues, caBundle, issue }),
    "clusterrole-aggregation-controller": () => roleAggregation({ registry, logger, queues }),
    "garbage-collector-controller": () => garbageCollector({ registry, logger, queues }),
    "legacy-serviceaccount-token-cleaner-controller": () =>
      legacyTokenCleaner({ registry, logger, unusedMs: needs.legacyTokenCleanUpMs }),
    "bootstrap-signer-controller": () => bootstrapSigner({ registry, logger, queues }),
    "token-cleaner-controller": () => tokenCleaner({ registry, logger, queues }),
  };
  const controllers = [
    definitions,
    legacyTokenTracking({ registry, logger }),
    ...Array.from(running, (name) => makers[name]()),
  ];
  closers.add(async () => void (await Promise.all(controllers.map((controller) => controller.stop()))));
  for (const controller of controllers) controller.start();
  await definitions.ready;
}
