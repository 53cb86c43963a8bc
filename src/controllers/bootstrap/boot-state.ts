/**
 * The objects that the first start creates in every cluster: the system namespaces, the Service
 * `kubernetes` and the system priority classes.
 */
import { ApiError } from "../../apimachinery/errors.ts";
import type { Logger } from "../../apimachinery/logger.ts";
import type { RegistryContext } from "../../registry/contract.ts";
import { UnreadableObjects } from "../../watch-cache/unreadable.ts";
import { type BootObject, ensureObject } from "./ensure-object.ts";
import { kubernetesService, type ServiceOptions } from "./kubernetes-service/service.ts";
import { seed } from "./seed.ts";

interface BootOptions extends ServiceOptions {
  readonly logger?: Logger;
}

/**
 * Creates the missing objects of the boot state. Existing ones are not changed.
 *
 * @returns whether the store had no namespace, as a new one
 * @throws ApiError if an object cannot be created
 */
export async function ensureBootState(registry: RegistryContext, options: BootOptions): Promise<boolean> {
  const isNew = (await registry.storage.count("/registry/namespaces/")) === 0;
  if (!isNew || !(await seed(registry, systemObjects))) await ensureAll(registry, systemObjects, options);
  await ensureAll(registry, [kubernetesService(options)], options); // Its address is allocated, and it needs its namespace.
  return isNew;
}

/**
 * Logs an object whose creation has to read damaged objects, such as the Service, and creates the
 * others.
 */
async function ensureAll(
  registry: RegistryContext,
  objects: readonly BootObject[],
  { logger }: BootOptions,
): Promise<void> {
  const ensureOne = async (desired: BootObject): Promise<void> => {
    try {
      await ensureObject(registry, desired);
    } catch (error) {
      // The addresses of the command line may not be those of the store: the Service has none then.
      const isRejected = error instanceof ApiError && error.status.reason === "Invalid";
      if (!isRejected && !(error instanceof UnreadableObjects)) throw error;
      const { resource, namespace, object } = desired;
      logger?.error("Could not create an object of the boot state", {
        resource,
        namespace,
        name: object.metadata.name,
        error: error.message,
      });
    }
  };
  await Promise.all(objects.map(ensureOne));
}

const namespaceNamed = (name: string): BootObject => ({
  group: "",
  version: "v1",
  resource: "namespaces",
  namespace: "",
  object: { kind: "Namespace", metadata: { name } },
});

const priorityClass = (name: string, value: number, description: string): BootObject => ({
  group: "scheduling.k8s.io",
  version: "v1",
  resource: "priorityclasses",
  namespace: "",
  object: { kind: "PriorityClass", metadata: { name }, value, description, preemptionPolicy: "PreemptLowerPriority" },
});

const priorityClasses: readonly BootObject[] = [
  priorityClass(
    "system-cluster-critical",
    2_000_000_000,
    "Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.",
  ),
  priorityClass(
    "system-node-critical",
    2_000_001_000,
    "Used for system critical pods that must not be moved from their current node.",
  ),
];

/** The namespaces that every store has. */
export const systemNamespaces: readonly string[] = ["default", "kube-system", "kube-public", "kube-node-lease"];

/** The objects of the boot state that do not depend on options. */
export const systemObjects: readonly BootObject[] = [...systemNamespaces.map(namespaceNamed), ...priorityClasses];
