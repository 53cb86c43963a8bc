/**
 * The readiness of registered APIServices. Source: `makeAPIServiceAvailableHealthCheck` in
 * k8s.io/kubernetes@v1.36.0/pkg/controlplane/apiserver/aggregator.go.
 */
import type { ApiServices, ApiServiceView } from "./contract.ts";

/**
 * Waits until each APIService was available once.
 *
 * @returns a function that returns the names of the others, sorted
 */
export function pendingApiServices(services: ApiServices, names: readonly string[]): () => readonly string[] {
  const pending = new Set(names);
  const check = (view: ApiServiceView | undefined): void => {
    if (view?.isAvailable) pending.delete(view.name);
    if (pending.size === 0) stop();
  };
  const stop = services.onChange((_old, next) => check(next));
  for (const view of services.list()) check(view);
  return () => [...pending].sort();
}
