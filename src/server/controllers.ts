/** Builds the controllers of this server. */
import type { MutableCatalog } from "../catalog/contract.ts";
import { apiServiceAvailability } from "../controllers/api-services/availability.ts";
import { apiServiceRegistration } from "../controllers/api-services/registration.ts";
import { bootstrapSigner } from "../controllers/bootstrap-signer.ts";
import { clusterTrustController } from "../controllers/cluster-trust.ts";
import type { Controller, ControllerOptions } from "../controllers/contract.ts";
import type { DefinitionController, DefinitionControllerOptions } from "../controllers/crd/definitions.ts";
import type { ControllerName } from "../controllers/enabled.ts";
import { flowControlMaintenance } from "../controllers/flow-control/objects/ensure-objects.ts";
import { garbageCollector } from "../controllers/garbage-collector/garbage-collector.ts";
import { legacyTokenCleaner } from "../controllers/legacy-tokens/cleaner.ts";
import { legacyTokenTracking } from "../controllers/legacy-tokens/tracking.ts";
import { namespaceController } from "../controllers/namespace.ts";
import { policyStatusController } from "../controllers/policy-status/policy-status.ts";
import { attributesClassProtectionController } from "../controllers/protection/attributes-classes.ts";
import { claimProtectionController } from "../controllers/protection/claims.ts";
import { podGroupProtectionController } from "../controllers/protection/pod-groups.ts";
import { volumeProtectionController } from "../controllers/protection/volumes.ts";
import { resourceQuotaController } from "../controllers/resource-quota/resource-quota.ts";
import { roleAggregation } from "../controllers/role-aggregation.ts";
import { rootCaPublisher } from "../controllers/root-ca.ts";
import { serviceAccountController } from "../controllers/service-account.ts";
import {
  type ServiceAccountTokensOptions,
  serviceAccountTokensController,
} from "../controllers/service-account-tokens.ts";
import { serviceCidrController } from "../controllers/service-cidrs/service-cidrs.ts";
import { storageMigrationController } from "../controllers/storage-migration/storage-migration.ts";
import { storageVersionCollector } from "../controllers/storage-versions/collector.ts";
import { tokenCleaner } from "../controllers/token-cleaner.ts";
import type { Listener } from "../http/listener/listen.ts";
import type { RegistryContext } from "../registry/contract.ts";
import type { ReviewObserver } from "../request/webhook-review.ts";
import type { Address, LoopbackCredentials } from "../webhook/contract.ts";
import { selfAddress } from "./addresses.ts";
import type { ServerAggregation } from "./aggregation.ts";
import type { Closers } from "./closers.ts";
import { definitionsOnDemand } from "./definitions.ts";
import type { ServerFlowControl } from "./flow-control.ts";
import { electedControllers, electionController } from "./leader-election.ts";
import type { ServerMetrics } from "./metrics.ts";
import type { ServerOptions } from "./options.ts";
import type { ServerServiceAddresses } from "./service-addresses.ts";
import type { ServingSetup } from "./serving/serving-setup.ts";
import type { ServerState } from "./state.ts";
import { openWebhooks } from "./webhooks.ts";

interface Needs {
  readonly registry: RegistryContext;
  readonly catalog: MutableCatalog;
  readonly aggregation: ServerAggregation;
  readonly flowControl: Pick<ServerFlowControl, "controller">;
  readonly serviceAddresses: ServerServiceAddresses;
  readonly release: DefinitionControllerOptions["release"];
  /** Undefined without tokens of Secrets. */
  readonly issueForSecret: ServiceAccountTokensOptions["issue"] | undefined;
  readonly serving: ServingSetup;
  readonly listener: Listener;
  readonly state: ServerState;
  readonly loopback: LoopbackCredentials;
  /** Only on test servers. */
  readonly reviewed: ReviewObserver | undefined;
  readonly metrics: ServerMetrics;
  readonly closers: Closers;
}

/**
 * Resolves when the CustomResourceDefinitions of the store are served, or could not be read, and
 * flow control follows the stored objects.
 *
 * @returns the controller of CustomResourceDefinitions
 */
export async function startControllers(
  running: ReadonlySet<ControllerName>,
  options: ServerOptions,
  needs: Needs,
): Promise<Pick<DefinitionController, "settled">> {
  const { registry, catalog, flowControl, release, metrics, closers } = needs;
  const { logger } = options;
  const { observers: queues } = metrics.queues;
  const self = (): Address => selfAddress(options, needs.state);
  const webhooks = openWebhooks(options, {
    catalog,
    metrics,
    self,
    loopback: needs.loopback,
    reviewed: needs.reviewed,
  });
  closers.add(() => webhooks.close());
  const registration = apiServiceRegistration({ registry, logger, queues, ...needs.aggregation });
  const definitions = definitionsOnDemand({
    versions: registration.definitions,
    registry,
    catalog,
    release,
    logger,
    queues,
    webhooks: webhooks.conversion,
  });
  const election = await electionController(options, needs);
  const controllers = [
    definitions,
    legacyTokenTracking({ registry, logger }),
    flowControlMaintenance({ registry, logger }),
    ...needs.serviceAddresses.controllers,
    apiServiceAvailability({ registry, logger, queues, ...needs.aggregation }),
    ...(flowControl.controller === undefined ? [] : [flowControl.controller]),
    ...(election === undefined ? [] : [election]),
    await electedControllers(options, needs, (electedRegistry) =>
      managerControllers(running, options, { ...needs, registry: electedRegistry }),
    ),
  ];
  closers.add(async () => void (await Promise.all(controllers.map((controller) => controller.stop()))));
  for (const controller of controllers) controller.start();
  await definitions.ready;
  needs.state.reached.add("definitions");
  closers.add(() => registration.stop());
  registration.start();
  await registration.tried;
  await flowControl.controller?.ready;
  publishTrust(options, needs);
  needs.state.reached.add("controllers");
  return definitions;
}

const noController: Controller = { start() {}, stop: async () => {} };

/** The controllers of kube-controller-manager. Where servers share a store, one server runs them. */
function managerControllers(
  running: ReadonlySet<ControllerName>,
  { logger, legacyTokenCleanUpMs: unusedMs, resourceQuotaSyncMs }: ServerOptions,
  { registry, serving: { caBundle }, issueForSecret: issue, metrics, state }: Needs,
): Controller[] {
  const { observers: queues } = metrics.queues;
  const makers: Readonly<Record<ControllerName, () => Controller>> = {
    ...protectionMakers({ registry, logger, queues }),
    "namespace-controller": () => namespaceController({ registry, logger, queues }),
    "service-cidr-controller": () => serviceCidrController({ registry, logger, queues }),
    "serviceaccount-controller": () => serviceAccountController({ registry, logger }),
    "root-ca-certificate-publisher-controller": () => rootCaPublisher({ registry, logger, caBundle }),
    "serviceaccount-token-controller": () =>
      issue === undefined
        ? noController
        : serviceAccountTokensController({ registry, logger, queues, caBundle, issue }),
    "clusterrole-aggregation-controller": () => roleAggregation({ registry, logger, queues }),
    "garbage-collector-controller": () => startedAfter(state.started, garbageCollector({ registry, logger, queues })),
    "legacy-serviceaccount-token-cleaner-controller": () => legacyTokenCleaner({ registry, logger, unusedMs }),
    "bootstrap-signer-controller": () => bootstrapSigner({ registry, logger, queues }),
    "resourcequota-controller": () =>
      resourceQuotaController({ registry, logger, queues, syncMs: resourceQuotaSyncMs }),
    "storage-version-migrator-controller": () => storageMigrationController({ registry, logger, queues }),
    "storageversion-garbage-collector-controller": () => storageVersionCollector({ registry, logger, queues }),
    "token-cleaner-controller": () => tokenCleaner({ registry, logger, queues }),
    "validatingadmissionpolicy-status-controller": () =>
      policyStatusController({
        registry,
        logger,
        queues,
        loadChecker: async () => (await import("./policy-expressions.ts")).policyTypeChecker,
      }),
  };
  return Array.from(running, (name) => makers[name]());
}

/** A controller that reads so much that the start does not wait for it, and the first requests neither. */
function startedAfter(started: Promise<void>, controller: Controller): Controller {
  let stopped = false;
  return {
    start: () => void started.then(() => !stopped && controller.start()),
    stop() {
      stopped = true;
      return controller.stop();
    },
  };
}

/** The controllers that remove the finalizers of admission plugins. */
function protectionMakers(options: ControllerOptions) {
  const { gates } = options.registry;
  return {
    "persistentvolumeclaim-protection-controller": () =>
      claimProtectionController(options, gates.enabled("PersistentVolumeClaimUnusedSinceTime")),
    "persistentvolume-protection-controller": () => volumeProtectionController(options),
    "volumeattributesclass-protection-controller": () => attributesClassProtectionController(options),
    "podgroup-protection-controller": () => podGroupProtectionController(options),
  };
}

/** Clients and proxies are trusted as the files of authorities say, also after these have changed. */
function publishTrust(options: ServerOptions, { registry, serving, listener, metrics, closers }: Needs): void {
  const { observers: queues } = metrics.queues;
  const trust = clusterTrustController({
    registry,
    logger: options.logger,
    queues,
    trust: { ...options, ...serving },
  });
  trust.start();
  closers.add(() => trust.stop());
  serving.follow(() => {
    listener.replaceCertificates(serving.material());
    trust.update();
  });
}
