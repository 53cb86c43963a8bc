/**
 * Ends some connections, so that clients of a load balancer connect to other servers.
 * Source: k8s.io/apiserver@v0.36.0/pkg/server/filters/goaway.go.
 */
import type { Filter } from "../../request/context.ts";

/** @param random from 0 to 1, without 1 */
export function goawayFilter(chance: number, random: () => number): Filter {
  return ({ exchange }) => {
    if (exchange.protocol === "HTTP/2.0" && random() < chance) exchange.endConnection();
  };
}
