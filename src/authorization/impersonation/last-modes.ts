/**
 * The last successful mode of each user. Source:
 * k8s.io/apiserver@v0.36.0/pkg/endpoints/filters/impersonation/cache.go.
 */
import type { Mode } from "./modes.ts";

/** Upstream's limit; above it, the user with the oldest impersonation is removed. */
const callersMax = 10_000;

/** Decides only which mode is tried first: every mode calls the authorizer each time. */
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
