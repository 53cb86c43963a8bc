/** The defaults and rules of the options of elections. */
import type { ElectionTimes, LeaderElectionOptions } from "./contract.ts";

/**
 * Those of kube-controller-manager, except that a server that has its store alone does not elect.
 * Source: `k8s.io/component-base@v0.36.0/config/v1alpha1/defaults.go`.
 */
export const defaultLeaderElection: LeaderElectionOptions = {
  elect: undefined,
  leaseDurationMs: 15_000,
  renewDeadlineMs: 10_000,
  retryPeriodMs: 2_000,
  resourceNamespace: "kube-system",
  resourceName: "kube-controller-manager",
};

/**
 * @param isShared whether other servers can have the same store open
 * @returns whether the server runs the controllers only while it holds the lease
 */
export function elects(
  {
    leaderElection,
    controllers,
  }: { readonly leaderElection: LeaderElectionOptions; readonly controllers: readonly string[] },
  isShared: boolean,
): boolean {
  return (leaderElection.elect ?? isShared) && controllers.length > 0;
}

/** Attempts of candidates may be this part of the retry period apart. */
const jitter = 1.2;

/**
 * Checks options of an election.
 * Source: `k8s.io/client-go@v0.36.0/tools/leaderelection/leaderelection.go`, NewLeaderElector.
 *
 * @throws Error with upstream's text
 */
export function checkLeaderElection(options: LeaderElectionOptions): void {
  const { elect, leaseDurationMs, renewDeadlineMs, retryPeriodMs, resourceName, resourceNamespace } = options;
  if (elect === false) return;
  if (leaseDurationMs <= renewDeadlineMs) throw new Error("leaseDuration must be greater than renewDeadline");
  if (renewDeadlineMs <= retryPeriodMs * jitter)
    throw new Error("renewDeadline must be greater than retryPeriod*JitterFactor");
  // A Lease has whole seconds; upstream would write 0, which is not valid.
  if (leaseDurationMs < 1000) throw new Error("leaseDuration must be at least one second");
  if (retryPeriodMs < 1) throw new Error("retryPeriod must be greater than zero");
  if (resourceName === "") throw new Error("leaderElection.resourceName: Required value");
  if (resourceNamespace === "") throw new Error("leaderElection.resourceNamespace: Required value");
}

/**
 * Checks the times of coordinated leadership.
 * Source: `k8s.io/kubernetes@v1.36.0/pkg/controlplane/apiserver/options/validation.go`.
 *
 * @throws Error with upstream's text
 */
export function checkCoordinatedLeadership({ leaseDurationMs, renewDeadlineMs, retryPeriodMs }: ElectionTimes): void {
  const flag = "--coordinated-leadership";
  if (leaseDurationMs <= renewDeadlineMs)
    throw new Error(`${flag}-lease-duration must be greater than ${flag}-renew-deadline`);
  if (renewDeadlineMs <= retryPeriodMs)
    throw new Error(`${flag}-renew-deadline must be greater than ${flag}-retry-period`);
}
