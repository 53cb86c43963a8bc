/** Builds the maintenance of service addresses and node ports, which every server over a store runs. */
import { ensureDefaultServiceRange } from "../controllers/bootstrap/default-service-range.ts";
import type { Controller, ControllerOptions } from "../controllers/contract.ts";
import { serverWrites } from "../controllers/controller-write.ts";
import { type EventRecorder, openEventRecorder } from "../controllers/event-recorder.ts";
import { recordEvent } from "../controllers/record-event.ts";
import { repeatedController } from "../controllers/repeated.ts";
import {
  addressRepairController,
  repairAllAddresses,
  repairIntervalMs,
} from "../controllers/service-addresses/address-repair.ts";
import { addressRepair } from "../controllers/service-addresses/repair-addresses.ts";
import { type PortRepair, repairNodePorts } from "../controllers/service-addresses/repair-ports.ts";
import type { RegistryContext } from "../registry/contract.ts";
import type { ServerMetrics } from "./metrics.ts";
import type { ServerOptions } from "./options.ts";
import { hostnameOf } from "./peers.ts";
import type { Settings } from "./settings.ts";

/** The maintenance of what services have. */
export interface ServerServiceAddresses {
  /**
   * Creates the ServiceCIDR of the command line.
   * @throws ApiError
   */
  ensureRange(): Promise<void>;
  /** Stores the node ports in use, as the Services have them. Logs errors. */
  repairPorts(): Promise<void>;
  /** Creates the missing IPAddresses of Services, such as those of older versions. Logs errors. */
  repairAddresses(): Promise<void>;
  readonly controllers: readonly Controller[];
}

interface Needs {
  readonly registry: RegistryContext;
  readonly settings: Pick<Settings, "nodePorts">;
  readonly metrics: Pick<ServerMetrics, "queues" | "allocators">;
}

/** Source: k8s.io/kubernetes@v1.36.0/pkg/controlplane/controller/defaultservicecidr. */
const rangeIntervalMs = 10_000;

/** Builds the maintenance. */
export function serverServiceAddresses(
  { logger, hostname, serviceClusterIpRange }: Pick<ServerOptions, "logger" | "hostname" | "serviceClusterIpRange">,
  { registry, settings, metrics }: Needs,
): ServerServiceAddresses {
  const options = { registry, logger, queues: metrics.queues.observers };
  const recorder = (component: string): EventRecorder =>
    openEventRecorder({ registry, logger, component, hostname: hostnameOf({ hostname }) });
  const portEvents = recorder("portallocator-repair-controller");
  const addressEvents = recorder("ipallocator-repair-controller");
  const ports: PortRepair = {
    registry,
    range: settings.nodePorts,
    leaks: new Map(),
    observer: metrics.allocators.portRepair,
    report: (...problem) => void portEvents.warn(...problem),
  };
  const addresses = addressRepair(registry, (...problem) => void addressEvents.warn(...problem));
  const report = rangeReporter(options);
  const ensureRange = async (deciding: RegistryContext): Promise<boolean> => {
    let isRight = true;
    await ensureDefaultServiceRange(deciding, serviceClusterIpRange, (range, problem) => {
      isRight = false;
      report(deciding, range, problem);
    });
    return isRight;
  };
  const attempt = async (what: string, repair: Promise<void>): Promise<void> =>
    repair.catch((error: unknown) => logger.error(`Could not repair ${what} at the start`, { error: String(error) }));
  return {
    ensureRange: async () => void (await ensureRange(registry)),
    repairPorts: () => attempt("the node ports in use", repairNodePorts(ports)),
    repairAddresses: () => attempt("service addresses", repairAllAddresses(addresses)),
    controllers: [
      addressRepairController(options, addresses),
      repeatedController(options, {
        task: "repair the node ports in use",
        intervalMs: repairIntervalMs,
        dependsOnStoreOnly: true,
        // A port that leaks is released by the passes that follow.
        run: (deciding) => repairNodePorts({ ...ports, registry: deciding }).then(() => ports.leaks.size === 0),
      }),
      repeatedController(options, {
        task: "maintain the default ServiceCIDR",
        intervalMs: rangeIntervalMs,
        dependsOnStoreOnly: true,
        run: ensureRange,
      }),
    ],
  };
}

const component = "kubernetes-service-cidr-controller";

/** Reports each kind of problem of the default ServiceCIDR once, as an Event. */
function rangeReporter({
  logger,
}: ControllerOptions): (
  registry: RegistryContext,
  ...problem: Parameters<NonNullable<Parameters<typeof ensureDefaultServiceRange>[2]>>
) => void {
  const reported = new Set<string>();
  return (registry, { metadata }, { kind, reason, message }) => {
    if (reported.has(kind)) return;
    reported.add(kind);
    logger.warn("The default ServiceCIDR needs attention", { reason, message });
    const { name = "", uid = "", resourceVersion = "" } = metadata;
    const subject = {
      apiVersion: "networking.k8s.io/v1",
      kind: "ServiceCIDR",
      namespace: "",
      name,
      uid,
      resourceVersion,
    };
    recordEvent(registry, serverWrites, subject, { type: "Warning", reason, message, component }).catch(
      (error: unknown) => logger.warn("Could not record an Event", { component, reason, error: String(error) }),
    );
  };
}
