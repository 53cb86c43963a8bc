/**
 * The plugin NamespaceExists rejects writes and deletions in a namespace that does not exist.
 * Source: k8s.io/kubernetes@v1.36.0/plugin/pkg/admission/namespace/exists/admission.go.
 */

import type { AdmissionAttributes } from "../../registry/admission-attributes.ts";
import type { AdmissionPlugin } from "../contract.ts";
import type { Namespaces } from "../matching/namespaces.ts";

/** @returns the plugin NamespaceExists */
export function namespaceExists(namespaces: Pick<Namespaces, "find">): AdmissionPlugin {
  return {
    name: "NamespaceExists",
    async validate(attributes) {
      if (attributes.operation === "CONNECT" || !isInNamespace(attributes)) return;
      await namespaces.find(attributes.namespace);
    },
  };
}

/** Whether a request is for a namespaced resource. */
export function isInNamespace({ namespace, target }: AdmissionAttributes): boolean {
  const { group, resource } = target.resource.definition;
  return namespace !== "" && !(group === "" && resource === "namespaces");
}
