/** Flags of the election of the server that runs the controllers. Names and defaults are kube-controller-manager's. */
import type { ElectionTimes, LeaderElectionOptions } from "../controllers/leader-election/contract.ts";
import { boolValue, durationMs, FlagValueError } from "./flag-values.ts";
import type { Flag } from "./flags.ts";

/** @param read parses a value @throws FlagValueError */
function option<Key extends keyof LeaderElectionOptions>(
  key: Key,
  read: (text: string) => LeaderElectionOptions[Key],
): Flag["set"] {
  return (text, { server }) => {
    server.leaderElection = { ...server.leaderElection, [key]: read(text) };
  };
}

/** @param key of the coordinated election */
function coordinated(key: keyof ElectionTimes): Flag["set"] {
  return (text, { server }) => {
    server.coordinatedLeadership = { ...server.coordinatedLeadership, [key]: durationMs(text) };
  };
}

function nonEmpty(text: string): string {
  if (text === "") throw new FlagValueError("must not be empty");
  return text;
}

export const leaderElectionFlags: readonly Flag[] = [
  {
    term: "--leader-elect [bool]",
    help: "Runs the controllers only while this server holds the lease of kube-controller-manager. If unset, true if other servers can use the same store.",
    set: option("elect", boolValue),
  },
  {
    term: "--leader-elect-lease-duration <duration>",
    help: "How long other servers wait after the last observed renewal of the lease before they acquire it.",
    shown: "15s",
    set: option("leaseDurationMs", durationMs),
  },
  {
    term: "--leader-elect-renew-deadline <duration>",
    help: "How long after the last renewal of the lease this server stops its controllers. Less than the lease duration.",
    shown: "10s",
    set: option("renewDeadlineMs", durationMs),
  },
  {
    term: "--leader-elect-retry-period <duration>",
    help: "Interval of attempts to acquire or to renew the lease.",
    shown: "2s",
    set: option("retryPeriodMs", durationMs),
  },
  {
    term: "--leader-elect-resource-lock <type>",
    help: "The type of the object that is the lock: leases.",
    shown: "leases",
    set: (text) => {
      if (text !== "leases") throw new FlagValueError(`Invalid lock-type ${text}`);
    },
  },
  {
    term: "--leader-elect-resource-name <name>",
    help: "Name of the lease.",
    shown: "kube-controller-manager",
    set: option("resourceName", nonEmpty),
  },
  {
    term: "--leader-elect-resource-namespace <namespace>",
    help: "Namespace of the lease.",
    shown: "kube-system",
    set: option("resourceNamespace", nonEmpty),
  },
  {
    term: "--coordinated-leadership-lease-duration <duration>",
    help: "With the feature gate CoordinatedLeaderElection: as --leader-elect-lease-duration, for the server that elects the holders of other leases.",
    shown: "15s",
    set: coordinated("leaseDurationMs"),
  },
  {
    term: "--coordinated-leadership-renew-deadline <duration>",
    help: "With the feature gate CoordinatedLeaderElection: as --leader-elect-renew-deadline, for the same server.",
    shown: "10s",
    set: coordinated("renewDeadlineMs"),
  },
  {
    term: "--coordinated-leadership-retry-period <duration>",
    help: "With the feature gate CoordinatedLeaderElection: as --leader-elect-retry-period, for the same server.",
    shown: "2s",
    set: coordinated("retryPeriodMs"),
  },
];
