/**
 * The plugin NamespaceAutoProvision creates the namespace of a new object if it does not exist.
 * Users who can create an object in a namespace do not need the permission to create namespaces.
 * Source: k8s.io/kubernetes@v1.36.0/plugin/pkg/admission/namespace/autoprovision/admission.go.
 */
import { ApiError } from "../../apimachinery/errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { loopbackUser } from "../../apimachinery/system-user.ts";
import type { AdmissionAttributes } from "../../registry/admission-attributes.ts";
import type { RegistryContext } from "../../registry/contract.ts";
import { create } from "../../registry/create.ts";
import type { AdmissionPlugin } from "../contract.ts";
import type { Namespaces } from "../matching/namespaces.ts";
import { rejection } from "../rejection.ts";
import { isInNamespace } from "./namespace-exists.ts";

interface AutoProvisionNeeds {
  readonly namespaces: Pick<Namespaces, "find">;
  /** The registry exists after the plugins. */
  readonly registry: () => RegistryContext;
}

const writer = "kube-apiserver";

/** @returns the plugin NamespaceAutoProvision */
export function namespaceAutoProvision({ namespaces, registry }: AutoProvisionNeeds): AdmissionPlugin {
  return {
    name: "NamespaceAutoProvision",
    async mutate(attributes) {
      if (attributes.operation !== "CREATE" || attributes.dryRun || !isInNamespace(attributes)) return;
      try {
        await namespaces.find(attributes.namespace);
      } catch (error) {
        if (!hasReason(error, "NotFound")) throw error;
        await createNamespace(registry(), attributes);
      }
    },
  };
}

/**
 * The namespace passes through admission, as every write of the server.
 *
 * @throws ApiError 403 if it cannot be created
 */
async function createNamespace(registry: RegistryContext, attributes: AdmissionAttributes): Promise<void> {
  const { namespace: name } = attributes;
  const target = registry.catalog.findServed("", "v1", "namespaces");
  if (target === undefined) return;
  try {
    await create(registry, {
      target,
      namespace: "",
      name: "",
      subresource: "",
      user: loopbackUser,
      dryRun: false,
      fieldManager: writer,
      userAgent: writer,
      warnings: [],
      decode() {
        const namespace: KubeObject = { kind: "Namespace", apiVersion: "v1", metadata: { name } };
        target.resource.definition.strategy.setDefaults(namespace);
        return namespace;
      },
    });
  } catch (error) {
    if (hasReason(error, "AlreadyExists")) return;
    if (!(error instanceof ApiError) || error.status.reason === "Forbidden") throw error;
    throw rejection(attributes, error.message);
  }
}

function hasReason(error: unknown, reason: string): boolean {
  return error instanceof ApiError && error.status.reason === reason;
}
