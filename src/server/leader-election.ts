/** Builds the election of the server that runs the controllers of kube-controller-manager. */

import { binaryMinor, formatRelease } from "../apimachinery/effective-version.ts";
import { randomFraction, randomUuid } from "../apimachinery/random.ts";
import type { UserInfo } from "../apimachinery/user.ts";
import type { Controller } from "../controllers/contract.ts";
import { writesBy } from "../controllers/controller-write.ts";
import { candidacy } from "../controllers/coordinated-election/candidacy.ts";
import { candidateCollector } from "../controllers/coordinated-election/candidate-collector.ts";
import { electionCoordinator } from "../controllers/coordinated-election/coordinator.ts";
import { electionKinds, writes as electionWrites } from "../controllers/coordinated-election/election-step.ts";
import type { StoredLease } from "../controllers/leader-election/contract.ts";
import { LeaderElector } from "../controllers/leader-election/elector.ts";
import { leaseLock } from "../controllers/leader-election/lease-lock.ts";
import { elects } from "../controllers/leader-election/options.ts";
import { recordEvent } from "../controllers/record-event.ts";
import type { RegistryContext } from "../registry/contract.ts";
import { currentObject } from "../registry/current-entry.ts";
import type { ServerMetrics } from "./metrics.ts";
import type { ServerOptions } from "./options.ts";
import { hostnameOf } from "./peers.ts";
import type { ServerState } from "./state.ts";

interface Needs {
  readonly registry: RegistryContext;
  readonly metrics: Pick<ServerMetrics, "elections" | "queues">;
  readonly state: ServerState;
}

const component = "kube-controller-manager";
/** Upstream's program writes the Lease with its own certificate. */
const user: UserInfo = {
  name: "system:kube-controller-manager",
  uid: "",
  groups: ["system:authenticated"],
  extra: new Map(),
};
const writes = writesBy(user, component);

/**
 * Returns one controller for all that one server runs at a time.
 *
 * @param make creates new controllers for each term, which write by the registry they get
 */
export async function electedControllers(
  options: ServerOptions,
  needs: Needs,
  make: (registry: RegistryContext) => Controller[],
): Promise<Controller> {
  const { leaderElection: election } = options;
  const { registry, state } = needs;
  const { resourceNamespace: namespace, resourceName: name } = election;
  const lock = leaseLock({ registry, namespace, name, writes });
  if (!elects(options, state.isShared)) return together(make(registry));
  if (lock === undefined) {
    options.logger.warn("Each server runs the controllers: coordination.k8s.io/v1 is not served");
    return together(make(registry));
  }
  const { identity, isGone } = await identityOf(options, needs);
  const candidate = candidateFor(options, needs, identity);
  const elector = new LeaderElector({
    ...common(options, needs),
    lock,
    name,
    identity,
    isGone,
    times: election,
    isCoordinated: candidate !== undefined,
    report: (lease, what) => report(registry, lease, `${identity} ${what}`),
    lead(fence) {
      const controllers = together(make({ ...registry, fence }));
      controllers.start();
      return controllers.stop;
    },
  });
  state.electionProblem = () => elector.problem();
  return together([elector, ...(candidate === undefined ? [] : [candidate])]);
}

/** Makes this server a candidate of coordinated elections. @returns undefined if there are none */
function candidateFor(
  { leaderElection: { resourceNamespace: namespace, resourceName: lease }, logger }: ServerOptions,
  { registry, metrics }: Needs,
  identity: string,
): Controller | undefined {
  if (!registry.gates.enabled("CoordinatedLeaderElection")) return undefined;
  const kinds = electionKinds(registry);
  if (kinds === undefined) return undefined;
  const queues = metrics.queues.observers;
  const versions = {
    binaryVersion: `${formatRelease(binaryMinor)}.0`,
    emulationVersion: `${formatRelease(registry.gates.version.emulated)}.0`,
  };
  return candidacy({ registry, logger, queues, kinds, writes, namespace, lease, identity, versions });
}

/**
 * Returns the controller that elects the holders of other Leases, in one of the servers.
 * Source: `k8s.io/kubernetes@v1.36.0/pkg/controlplane/controller/leaderelection/run_with_leaderelection.go`.
 *
 * @returns undefined while its gate is off, or when LeaseCandidates are not served
 */
export async function electionController(options: ServerOptions, needs: Needs): Promise<Controller | undefined> {
  const { registry, metrics } = needs;
  if (!registry.gates.enabled("CoordinatedLeaderElection")) return undefined;
  const kinds = electionKinds(registry);
  const name = "leader-election-controller";
  const lock = leaseLock({ registry, namespace: "kube-system", name, writes: electionWrites });
  if (kinds === undefined || lock === undefined) {
    options.logger.warn("Leaders are not elected: coordination.k8s.io/v1beta1 is not served");
    return undefined;
  }
  return new LeaderElector({
    ...common(options, needs),
    lock,
    name,
    ...(await identityOf(options, needs)),
    times: options.coordinatedLeadership,
    lead(fence) {
      const own = { registry: { ...registry, fence }, logger: options.logger, queues: metrics.queues.observers };
      const controllers = together([electionCoordinator(own, kinds), candidateCollector(own, kinds)]);
      controllers.start();
      return controllers.stop;
    },
  });
}

/** What all electors of a server share. */
function common({ clock, logger }: ServerOptions, { registry, metrics }: Needs) {
  const fraction = (): number => randomFraction(registry.random);
  return { clock, logger, fraction, observer: metrics.elections };
}

/**
 * One server at a time has an embedded store. Its identity contains the uid of a namespace in place
 * of a random one, so the next start knows that a holder with this uid has ended.
 */
async function identityOf(
  options: ServerOptions,
  { registry, state: { isShared } }: Needs,
): Promise<{
  readonly identity: string;
  readonly isGone: (holder: string) => boolean;
}> {
  const hostname = hostnameOf(options);
  const random = `_${randomUuid(registry.random)}`;
  if (isShared) return { identity: hostname + random, isGone: () => false };
  const namespace = await currentObject(registry.catalog, { group: "", resource: "namespaces" }, "", "kube-system");
  const suffix = namespace?.metadata.uid === undefined ? random : `_${namespace.metadata.uid}`;
  return { identity: hostname + suffix, isGone: (holder) => holder.endsWith(suffix) };
}

function together(controllers: readonly Controller[]): Controller {
  return {
    start() {
      for (const controller of controllers) controller.start();
    },
    stop: async () => void (await Promise.all(controllers.map((controller) => controller.stop()))),
  };
}

function report(registry: RegistryContext, { object }: StoredLease, message: string): Promise<void> {
  const { name = "", namespace = "", uid = "", resourceVersion = "" } = object.metadata;
  const subject = { apiVersion: "coordination.k8s.io/v1", kind: "Lease", namespace, name, uid, resourceVersion };
  return recordEvent(registry, writes, subject, { type: "Normal", reason: "LeaderElection", message, component });
}
