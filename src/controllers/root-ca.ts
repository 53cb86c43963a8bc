/**
 * Publishes the CA bundle with which Pods verify this server, in every namespace. Source:
 * `k8s.io/kubernetes@v1.36.0/pkg/controller/certificates/rootcacertpublisher`.
 */

import type { Logger } from "../apimachinery/logger.ts";
import type { KubeObject } from "../apimachinery/object.ts";
import { deepEqual } from "../lib/json/values.ts";
import type { RegistryContext } from "../registry/contract.ts";
import type { Controller } from "./contract.ts";
import { writesAs } from "./controller-write.ts";
import { namespaceObject } from "./namespace-object.ts";

const name = "kube-root-ca.crt";
const annotation = "kubernetes.io/description";
/** Upstream's text, which clients print. */
const description =
  "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. " +
  "No other usage is guaranteed across distributions of Kubernetes clusters.";

interface RootCaOptions {
  readonly registry: RegistryContext;
  readonly logger: Logger;
  /** PEM. */
  readonly caBundle: string;
}

/** Creates the controller that writes the ConfigMap `kube-root-ca.crt` to each namespace. */
export function rootCaPublisher({ registry, logger, caBundle }: RootCaOptions): Controller {
  const { data } = rootCaConfigMap(caBundle);
  const correction = {
    isNeeded: ({ metadata, data: existing }: KubeObject): boolean =>
      (metadata.annotations?.[annotation] ?? "") === "" || !deepEqual(existing, data),
    apply(object: KubeObject): void {
      object.data = { ...data };
      object.metadata.annotations = { ...object.metadata.annotations, [annotation]: description };
    },
  };
  return namespaceObject({
    registry,
    logger,
    writes: writesAs("root-ca-cert-publisher"),
    resource: "configmaps",
    name,
    make: () => rootCaConfigMap(caBundle),
    correction,
  });
}

/** The ConfigMap that the controller creates. @param caBundle PEM */
export function rootCaConfigMap(caBundle: string): KubeObject {
  const metadata = { name, annotations: { [annotation]: description } };
  return { kind: "ConfigMap", apiVersion: "v1", metadata, data: { "ca.crt": caBundle } };
}
