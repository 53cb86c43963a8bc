/**
 * Estimates the work of a request.
 * Source: k8s.io/apiserver@v0.36.0/pkg/util/flowcontrol/request/width.go.
 */
import type { FeatureGates } from "../../apimachinery/feature-gates.ts";
import type { WorkEstimate } from "../../lib/fair-queuing/contract.ts";
import type { RequestInfo } from "../../request/request-info.ts";
import { listWidth } from "./list-width.ts";
import type { FindStats } from "./object-stats.ts";
import type { WatchCounts } from "./watch-counts.ts";
import { oneSeat, writeWork } from "./write-width.ts";

interface EstimateOptions {
  readonly gates: FeatureGates;
  readonly stats: FindStats;
  readonly watches: WatchCounts;
}

/**
 * @param seatsMax the most seats of a request at the priority level; 0 if the level sets no limit
 * @param counted receives the number of watches that a write concerns
 */
export type EstimateWork = (info: RequestInfo, seatsMax: number, counted: (watches: number) => void) => WorkEstimate;

/** Creates the function that estimates the work of requests. */
export function workEstimator({ gates, stats, watches }: EstimateOptions): EstimateWork {
  const bySize = gates.enabled("SizeBasedListCostEstimate");
  const initialEvents = gates.enabled("WatchList");
  const ofList = (info: RequestInfo, seatsMax: number): WorkEstimate => {
    const seats = listWidth(info, {
      bySize,
      consistentFromCache: true,
      seatsMax,
      stats: stats(info.group, info.resource),
    });
    return seats === 1 ? oneSeat : { initialSeats: seats, finalSeats: 0, additionalLatencyMs: 0 };
  };
  return (info, seatsMax, counted) => {
    switch (info.verb) {
      case "list":
        return ofList(info, seatsMax);
      case "watch":
        return initialEvents ? ofList(info, seatsMax) : oneSeat;
      case "create":
      case "update":
      case "patch":
      case "delete": {
        if (info.resource === "serviceaccounts" && info.subresource === "token") return oneSeat; // It has no event.
        const interested = watches.interestedIn(info);
        counted(interested);
        return writeWork(interested, seatsMax);
      }
      default:
        return oneSeat;
    }
  };
}
