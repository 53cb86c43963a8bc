/**
 * Converts Ingresses and their classes from versions that are only stored. Sources: `defaults.go` and
 * `conversion.go` of `k8s.io/kubernetes@v1.36.0/pkg/apis/networking/v1beta1`.
 */
import type { StoredConversion } from "../../catalog/contract.ts";
import { items, type Part, setAbsent } from "../fields.ts";

/** Ingresses of extensions/v1beta1 and networking.k8s.io/v1beta1. */
export const ingressV1beta1: StoredConversion = {
  toStorage(object) {
    const spec: Part = object.spec ?? {};
    const { backend, ...rest } = spec;
    for (const { http } of items(spec.rules)) {
      for (const path of items(http?.paths)) {
        setAbsent(path, { pathType: "ImplementationSpecific" });
        path.backend = convertBackend(path.backend ?? {});
      }
    }
    object.spec = backend ? { ...rest, defaultBackend: convertBackend(backend) } : rest;
    return object;
  },
};

function convertBackend({ serviceName = "", servicePort = 0, ...backend }: Part): Part {
  if (serviceName === "" && servicePort === 0) return backend;
  const port = typeof servicePort === "string" ? { name: servicePort } : { number: servicePort };
  return { ...backend, service: { name: serviceName, port: servicePort === 0 ? {} : port } };
}

/** IngressClasses of networking.k8s.io/v1beta1, which have no default scope. */
export const ingressClassV1beta1: StoredConversion = { toStorage: (object) => object, setsAllDefaults: true };
