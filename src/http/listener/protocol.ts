/** What the listener, HTTP/1.1 and HTTP/2 have in common: protocols, which receive connections after their handshake. */
import type { TLSSocket } from "node:tls";
import type { Clock } from "../../apimachinery/clock.ts";
import type { Exchange } from "../../request/exchange.ts";
import type { WorkObserver } from "./contract.ts";
import type { Limits } from "./limits.ts";
import type { Peer } from "./peer.ts";
import type { WriteSlots } from "./write-slots.ts";

/** One protocol. */
export interface Protocol {
  accept(socket: TLSSocket): void;
  /** Ends the connections whose client certificate was rejected, after their open requests. */
  dropRejected(): void;
  /** Completes open requests and closes each connection after its last one. */
  stop(): void;
}

/** What every protocol needs. */
export interface ProtocolOptions {
  readonly limits: Limits;
  readonly clock: Clock;
  readonly onExchange: (exchange: Exchange) => void;
  readonly work?: WorkObserver;
}

/** Shared by the exchanges of one connection. */
export interface Connection {
  readonly peer: Peer;
  readonly clock: Clock;
  readonly bodyMs: number;
  readonly lingerMs: number;
  /** Shared by the long responses of an HTTP/2 connection. */
  readonly slots?: WriteSlots;
  readonly work: WorkObserver | undefined;
}
