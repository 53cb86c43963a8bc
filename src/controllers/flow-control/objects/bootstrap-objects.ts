/**
 * The flow schemas and priority levels that every server maintains.
 * Source: k8s.io/apiserver@v0.36.0/pkg/apis/flowcontrol/bootstrap/default.go.
 */
import type { Part } from "../../../apis/fields.ts";
import { everything, group, mandatoryLevels, mandatorySchemas } from "../../../apis/flowcontrol/mandatory.ts";
import type { BootObject } from "../../bootstrap/ensure-object.ts";

/** A maintained object. */
export interface BootstrapObject extends BootObject {
  /** Whether changes by users are always reverted. */
  readonly mandatory: boolean;
}

/** The annotation that allows or forbids the server to update the spec of a suggested object. */
export const autoUpdate = "apf.kubernetes.io/autoupdate-spec";

const queued = (shares: number, lendablePercent: number, queues: number, handSize: number): Part => ({
  type: "Limited",
  limited: {
    nominalConcurrencyShares: shares,
    limitResponse: { type: "Queue", queuing: { queues, handSize, queueLengthLimit: 50 } },
    lendablePercent,
  },
});

const suggestedLevels: Readonly<Record<string, Part>> = {
  system: queued(30, 33, 64, 6),
  "node-high": queued(40, 25, 64, 6),
  "leader-election": queued(10, 0, 16, 4),
  "workload-high": queued(40, 50, 128, 6),
  "workload-low": queued(100, 90, 128, 6),
  "global-default": queued(20, 50, 128, 6),
};

interface Schema {
  readonly level: string;
  readonly precedence: number;
  readonly distinguisher?: "ByUser" | "ByNamespace";
  readonly subjects: readonly Part[];
  readonly rules: Part;
}

const schema = ({ level, precedence, distinguisher, subjects, rules }: Schema): Part => ({
  priorityLevelConfiguration: { name: level },
  matchingPrecedence: precedence,
  ...(distinguisher !== undefined && { distinguisherMethod: { type: distinguisher } }),
  rules: [{ subjects, ...rules }],
});
const user = (name: string): Part => ({ kind: "User", user: { name } });
const systemAccounts: Part = { kind: "ServiceAccount", serviceAccount: { namespace: "kube-system", name: "*" } };
const nodes = [group("system:nodes")];
const everyone = [group("system:unauthenticated"), group("system:authenticated")];
const leases = (verbs: readonly string[]): Part => ({
  verbs,
  apiGroups: ["coordination.k8s.io"],
  resources: ["leases"],
  namespaces: ["*"],
});
const nodeObjects: Part = {
  verbs: ["*"],
  apiGroups: [""],
  resources: ["nodes", "nodes/status"],
  clusterScope: true,
  namespaces: ["*"],
};
const probes: Part = { nonResourceRules: [{ verbs: ["get"], nonResourceURLs: ["/healthz", "/readyz", "/livez"] }] };
const workloadHigh = (precedence: number, subject: Part): Part =>
  schema({
    level: "workload-high",
    precedence,
    distinguisher: "ByNamespace",
    subjects: [subject],
    rules: everything,
  });

const suggestedSchemas: Readonly<Record<string, Part>> = {
  "system-nodes": schema({
    level: "system",
    precedence: 500,
    distinguisher: "ByUser",
    subjects: nodes,
    rules: everything,
  }),
  "system-node-high": schema({
    level: "node-high",
    precedence: 400,
    distinguisher: "ByUser",
    subjects: nodes,
    rules: { resourceRules: [nodeObjects, leases(["*"])] },
  }),
  probes: schema({ level: "exempt", precedence: 2, subjects: everyone, rules: probes }),
  "system-leader-election": schema({
    level: "leader-election",
    precedence: 100,
    distinguisher: "ByUser",
    subjects: [user("system:kube-controller-manager"), user("system:kube-scheduler"), systemAccounts],
    rules: { resourceRules: [leases(["get", "create", "update"])] },
  }),
  "kube-controller-manager": workloadHigh(800, user("system:kube-controller-manager")),
  "kube-scheduler": workloadHigh(800, user("system:kube-scheduler")),
  "kube-system-service-accounts": workloadHigh(900, systemAccounts),
  "service-accounts": schema({
    level: "workload-low",
    precedence: 9000,
    distinguisher: "ByUser",
    subjects: [group("system:serviceaccounts")],
    rules: everything,
  }),
  "global-default": schema({
    level: "global-default",
    precedence: 9900,
    distinguisher: "ByUser",
    subjects: everyone,
    rules: everything,
  }),
};

const place = { group: "flowcontrol.apiserver.k8s.io", version: "v1", namespace: "" };

function objectsOf(
  specs: Readonly<Record<string, Part>>,
  { kind, resource, mandatory }: { kind: string; resource: string; mandatory: boolean },
): BootstrapObject[] {
  return Object.entries(specs).map(([name, spec]) => ({
    ...place,
    resource,
    mandatory,
    object: { kind, metadata: { name, annotations: { [autoUpdate]: "true" } }, spec },
  }));
}

const levels = { kind: "PriorityLevelConfiguration", resource: "prioritylevelconfigurations" };
const schemas = { kind: "FlowSchema", resource: "flowschemas" };

/** All maintained objects, in the order in which upstream creates them. */
export const bootstrapObjects: readonly BootstrapObject[] = [
  ...objectsOf(suggestedLevels, { ...levels, mandatory: false }),
  ...objectsOf(suggestedSchemas, { ...schemas, mandatory: false }),
  ...objectsOf(mandatoryLevels, { ...levels, mandatory: true }),
  ...objectsOf(mandatorySchemas, { ...schemas, mandatory: true }),
];
