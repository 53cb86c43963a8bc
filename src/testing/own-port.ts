/** The port of a server in the Service `kubernetes`. */
import { notFound } from "../apimachinery/errors.ts";
import type { RegistryContext } from "../registry/contract.ts";
import { currentObject } from "../registry/current-entry.ts";
import { serverWrite } from "../registry/server-write.ts";
import { update } from "../registry/update.ts";

const [namespace, name] = ["default", "kubernetes"];

/** Replaces the port of the server with whose state this one has begun, if there is a Service. */
export async function writeOwnPort(registry: RegistryContext, port: number): Promise<void> {
  const target = registry.catalog.findServed("", "v1", "services");
  if (target === undefined) return; // Disabled by --runtime-config.
  const { definition } = target.resource;
  if ((await currentObject(registry.catalog, definition, namespace, name)) === undefined) return;
  await update(registry, {
    ...serverWrite({ target, namespace, name }),
    next(current) {
      const service = current?.();
      if (service === undefined) throw notFound(definition, name);
      for (const one of service.spec.ports) one.targetPort = port;
      return service;
    },
  });
}
