/** OwnerReferencesPermissionEnforcement: users with different rights change the owners of objects. */
import type { AdmissionRequest, Scenario, Sent, SetupStep } from "../../../../../test/support/admission-golden.ts";
import { otherPlugins } from "../../../../../test/support/admission-replay.ts";
import { core, type Family, namespace, request } from "./builders.ts";

const merge = "application/merge-patch+json";
const rbac = "/apis/rbac.authorization.k8s.io/v1";

/** Rules of each user, as `verbs resources groups`. All may write pods and secrets. */
const users: Readonly<Record<string, readonly string[]>> = {
  "golden-writer": [],
  "golden-deleter": ["delete pods,secrets"],
  "golden-deleter-of-status": ["delete pods/status"],
  "golden-finalizer": [
    "delete pods,secrets",
    "update replicationcontrollers/finalizers",
    "update replicasets/finalizers apps",
    "update nodes/finalizers,namespaces/finalizers",
    "update podlists/finalizers,lists/finalizers",
  ],
  "golden-finalizer-of-all": ["delete pods,secrets", "update */finalizers *"],
  "golden-finalizer-without-delete": ["update */finalizers *"],
};

function rule(text: string): Sent {
  const [verbs = "", resources = "", groups = ""] = text.split(" ");
  return { verbs: verbs.split(","), resources: resources.split(","), apiGroups: groups.split(",") };
}

const writing = [
  "create,get,patch,update pods,pods/status,pods/ephemeralcontainers,secrets,replicationcontrollers/scale",
];

const rights: SetupStep[] = Object.entries(users).flatMap(([name, rules]): SetupStep[] => [
  [`${rbac}/clusterroles`, { metadata: { name }, rules: [...writing, ...rules].map(rule) }],
  [
    `${rbac}/clusterrolebindings`,
    {
      metadata: { name },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name },
      subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name }],
    },
  ],
]);

const owner = (kind: string, apiVersion: string, fields: Sent = {}): Sent => ({
  apiVersion,
  kind,
  name: "owner",
  uid: `${kind}-uid`,
  ...fields,
});
const blocking = { blockOwnerDeletion: true };

const ownerLists: readonly (readonly Sent[])[] = [
  [owner("ReplicationController", "v1")],
  [owner("ReplicationController", "v1", { controller: true })],
  [owner("ReplicationController", "v1", { blockOwnerDeletion: false })],
  [owner("ReplicationController", "v1", blocking)],
  [owner("ReplicaSet", "apps/v1", blocking)],
  [owner("ReplicaSet", "apps/v1beta1", blocking)],
  [owner("ReplicaSet", "extensions/v1beta1", blocking)],
  [owner("Deployment", "apps/v1", blocking)],
  [owner("Node", "v1", blocking)],
  [owner("Namespace", "v1", blocking)],
  [owner("Unknown", "example.com/v1", blocking)],
  [owner("Unknown", "v1", blocking)],
  [owner("replicationcontroller", "v1", blocking)],
  [owner("ReplicationControllers", "v1", blocking)],
  [owner("PodList", "v1", blocking)],
  [owner("List", "v1", blocking)],
  [owner("List", "apps/v1", blocking)],
  [owner("Scale", "autoscaling/v1", blocking)],
  [owner("Binding", "v1", blocking)],
  [owner("Status", "v1", blocking)],
  [owner('a"b', "v1", blocking)],
  [owner("ReplicationController", "/v1", blocking)],
  [owner("ReplicationController", "a/b/c", blocking)],
  [owner("ReplicationController", "", blocking)],
  [owner("ReplicationController", "v1", blocking), owner("Deployment", "apps/v1", blocking)],
  [owner("Deployment", "apps/v1"), owner("ReplicationController", "v1", blocking)],
];

const secret = (name: string, ownerReferences: readonly Sent[]): Sent => ({ metadata: { name, ownerReferences } });

function creations(user: string): Scenario {
  const name = `create-${user}`;
  return {
    name,
    setup: [namespace(name)],
    answers: {},
    requests: ownerLists.map((owners, index) => ({
      ...request(`POST ${core(name, "secrets")}`, secret(`s-${index}`, owners)),
      user: [user],
    })),
  };
}

/** Changes of an object with one blocking and one other owner. */
function updates(user: string): Scenario {
  const name = `update-${user}`;
  const secrets = core(name, "secrets");
  const blocked = owner("ReplicationController", "v1", blocking);
  const plain = owner("Deployment", "apps/v1");
  const lists: (readonly Sent[] | null)[] = [
    [blocked, plain],
    [plain, blocked],
    [blocked],
    [],
    null,
    [blocked, { ...plain, ...blocking }],
    [blocked, { ...plain, blockOwnerDeletion: false }],
    [{ ...blocked, blockOwnerDeletion: false }, plain],
    [{ ...blocked, uid: "another" }, plain],
    [{ ...blocked, name: "another" }, plain],
    [blocked, plain, owner("ReplicaSet", "apps/v1", blocking)],
    [blocked, plain, owner("Unknown", "example.com/v1", blocking)],
  ];
  const as = (one: AdmissionRequest): AdmissionRequest => ({ ...one, user: [user] });
  return {
    name,
    setup: [namespace(name), [secrets, secret("s", [blocked, plain])]],
    answers: {},
    requests: [
      ...lists.map((ownerReferences) =>
        as(request(`PATCH ${secrets}/s?dryRun=All`, { metadata: { ownerReferences, labels: { a: "b" } } }, merge)),
      ),
      as(request(`PUT ${secrets}/s?dryRun=All`, secret("s", []))),
      as(request(`PUT ${secrets}/s?dryRun=All`, { ...secret("s", [blocked, plain]), data: { a: "Yg==" } })),
      as(request(`PUT ${secrets}/missing`, secret("missing", [blocked]))),
    ],
  };
}

/** Subresources of a pod and a replication controller. */
function subresources(user: string): Scenario {
  const name = `subresources-${user}`;
  const pod = core(name, "pods", "p");
  const ownerReferences = [owner("ReplicaSet", "apps/v1", blocking)];
  const body = { metadata: { ownerReferences } };
  const spec = { containers: [{ name: "c", image: "i" }] };
  const as = (line: string, sent: Sent): AdmissionRequest => ({ ...request(line, sent, merge), user: [user] });
  return {
    name,
    setup: [
      namespace(name),
      [core(name, "pods"), { metadata: { name: "p" }, spec }],
      [
        core(name, "replicationcontrollers"),
        {
          metadata: { name: "rc" },
          spec: { selector: { a: "b" }, template: { metadata: { labels: { a: "b" } }, spec } },
        },
      ],
    ],
    answers: {},
    requests: [
      as(`PATCH ${pod}/status`, { ...body, status: { message: "m" } }),
      as(`PATCH ${pod}/ephemeralcontainers`, body),
      as(`PATCH ${core(name, "replicationcontrollers", "rc")}/scale`, body),
      as(`PATCH ${pod}`, body),
    ],
  };
}

const names = Object.keys(users);

export const ownerReferences: Family = {
  plugins: { enable: ["OwnerReferencesPermissionEnforcement"], disable: otherPlugins },
  setup: rights,
  scenarios: [
    ...["golden-writer", "golden-finalizer", "golden-finalizer-of-all"].map(creations),
    ...names.map(updates),
    ...names.map(subresources),
    {
      name: "administrator",
      setup: [namespace("administrator")],
      answers: {},
      requests: ownerLists.map((owners, index) =>
        request(`POST ${core("administrator", "secrets")}`, secret(`s-${index}`, owners)),
      ),
    },
  ],
};
