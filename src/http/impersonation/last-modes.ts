/** Which way of impersonation succeeded last for each caller. Source: k8s.io/apiserver@v0.36.0/pkg/endpoints/filters/impersonation/cache.go. */
import type { Mode } from "./modes.ts";

/** Upstream's number; of the callers beyond it, the one that impersonated longest ago is forgotten. */
const callersMax = 10_000;

/** It decides only which way is tried first: every way asks the authorizer each time. */
export class LastModes {
  readonly #modes = new Map<string, Mode>();

  /** @returns the modes, the caller's last one first */
  order(caller: string, modes: readonly Mode[]): readonly Mode[] {
    const last = this.#modes.get(caller);
    return last === undefined ? modes : [last, ...modes.filter((mode) => mode !== last)];
  }

  keep(caller: string, mode: Mode): void {
    this.#modes.delete(caller);
    this.#modes.set(caller, mode);
    if (this.#modes.size > callersMax) this.#modes.delete(this.#modes.keys().next().value as string);
  }
}
