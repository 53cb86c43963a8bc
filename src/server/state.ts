/** What a server has reached: health checks, discovery and the issuer read it with each request. */
import type { ServerOptions } from "../options.ts";

export interface ServerState {
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  /** The objects that every store has exist, and all controllers run. */
  isBooted: boolean;
  isStopping: boolean;
  /** 0 until the server listens. */
  port: number;
}

/** The state of a server that starts now. */
export function newState({ clock }: Pick<ServerOptions, "clock">): ServerState {
  return { startedAt: clock.now(), isBooted: false, isStopping: false, port: 0 };
}
