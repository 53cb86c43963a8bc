/** The service accounts of pods: defaults, tokens, image pull secrets, and the secrets that an account permits. */
import type { AdmissionRequest, Scenario, Sent, SetupStep } from "../../../../../test/support/admission-golden.ts";
import { seededRandom } from "../../../../../test/support/seeded-random.ts";
import { core, type Family, namespace, request } from "./builders.ts";
import {
  account,
  applyPod,
  createPod,
  pairs,
  patchPod,
  pick,
  pod,
  present,
  recordedElsewhere,
  replacePod,
} from "./pods.ts";

const scenario = (name: string, accounts: readonly SetupStep[], requests: readonly AdmissionRequest[]): Scenario => ({
  name,
  setup: [namespace(name), ...accounts],
  answers: {},
  requests,
});

const tokenPath = "/var/run/secrets/kubernetes.io/serviceaccount";
const enforce = "kubernetes.io/enforce-mountable-secrets";
const switches = [undefined, true, false];
const container = (fields: Sent = {}): Sent => ({ name: "c", image: "example.com/i", ...fields });
const secretEnv = (name: string): Sent => ({ env: [{ name: "E", valueFrom: { secretKeyRef: { name, key: "k" } } }] });
const secretEnvFrom = (name: string): Sent => ({ envFrom: [{ secretRef: { name } }] });
const named = (names: readonly string[]): Sent[] => names.map((name) => ({ name }));

const automount = scenario(
  "sa-automount",
  [
    account("sa-automount", "default"),
    account("sa-automount", "true", { automountServiceAccountToken: true }),
    account("sa-automount", "false", { automountServiceAccountToken: false }),
  ],
  pairs(switches, switches).map(([ofAccount, ofPod]) => {
    const name = ofAccount === undefined ? "default" : String(ofAccount);
    const spec = present({ serviceAccountName: name, automountServiceAccountToken: ofPod });
    return createPod("sa-automount", pod(`p-${name}-${ofPod}`, spec));
  }),
);

const pullSecretLists = [undefined, [], ["a"], ["b", "a"]];
const pullSecrets = scenario(
  "sa-pull-secrets",
  pullSecretLists.map((names, index) =>
    account("sa-pull-secrets", `account-${index}`, present({ imagePullSecrets: names && named(names) })),
  ),
  pairs([0, 1, 2, 3], [undefined, [], ["own"], ["a", "own"]]).map(([index, own], row) => {
    const spec = present({ serviceAccountName: `account-${index}`, imagePullSecrets: own && named(own) });
    return createPod("sa-pull-secrets", pod(`p-${row}`, spec));
  }),
);

const nameRows: readonly Sent[] = [
  {},
  { serviceAccountName: "" },
  { serviceAccountName: "robot" },
  { serviceAccount: "robot" },
  { serviceAccountName: "robot", serviceAccount: "default" },
  { serviceAccountName: "", serviceAccount: "robot" },
  { serviceAccountName: "missing" },
  { serviceAccount: "missing" },
  { serviceAccountName: "Not_A_Name" },
  { serviceAccountName: "a/b" },
];
const names = scenario(
  "sa-names",
  [account("sa-names", "default"), account("sa-names", "robot")],
  [
    ...nameRows.map((spec, row) => createPod("sa-names", pod(`p-${row}`, spec))),
    createPod("sa-names", pod("dry", {}), "?dryRun=All"),
    createPod("sa-names", pod("dry", { serviceAccountName: "missing" }), "?dryRun=All"),
    createPod("sa-names", { ...pod("x"), metadata: { generateName: "generated-" } }),
    createPod("sa-names", {
      ...pod("x", { serviceAccountName: "missing" }),
      metadata: { generateName: "generated-" },
    }),
    createPod("sa-names", { ...pod("x", { serviceAccountName: "missing" }), metadata: {} }),
    applyPod("sa-names", pod("applied")),
    applyPod("sa-names", pod("applied", { serviceAccountName: "robot" })),
    applyPod("sa-names", pod("not-applied", { serviceAccountName: "missing" })),
    replacePod("sa-names", pod("put")),
    createPod("sa-names", { ...pod("no-spec"), spec: undefined }),
    createPod("sa-names", { ...pod("no-containers"), spec: {} }),
    createPod("sa-names", { ...pod("no-name", { serviceAccountName: "robot" }), metadata: { name: "Not_A_Name" } }),
    request(
      "POST /api/v1/namespaces/sa-names/pods",
      "apiVersion: v1\nkind: Pod\nmetadata: {name: yaml}\nspec: {containers: [{name: c, image: i}]}",
      "application/yaml",
    ),
  ],
);

const emptyDir = (name: string): Sent => ({ name, emptyDir: {} });
const volumeRows: readonly Sent[] = [
  { volumes: [emptyDir("data")] },
  { volumes: [emptyDir("kube-api-access-existing")] },
  { volumes: [emptyDir("data"), emptyDir("kube-api-access-one"), emptyDir("kube-api-access-two")] },
  { volumes: [emptyDir("kube-api-access")] },
  { volumes: [emptyDir("my-kube-api-access-x")] },
  {
    volumes: [emptyDir("data")],
    containers: [container({ volumeMounts: [{ name: "data", mountPath: tokenPath }] })],
  },
  {
    volumes: [emptyDir("data")],
    containers: [container({ volumeMounts: [{ name: "data", mountPath: `${tokenPath}/` }] })],
  },
  {
    volumes: [emptyDir("data")],
    containers: [container({ volumeMounts: [{ name: "data", mountPath: "/data" }] })],
  },
  {
    volumes: [emptyDir("data")],
    initContainers: [{ ...container(), name: "init" }],
    containers: [container({ volumeMounts: [{ name: "data", mountPath: tokenPath }] })],
  },
  {
    volumes: [emptyDir("data")],
    initContainers: [{ ...container({ volumeMounts: [{ name: "data", mountPath: tokenPath }] }), name: "init" }],
    containers: [container(), { ...container(), name: "d" }],
  },
  {
    volumes: [emptyDir("data")],
    initContainers: [
      { ...container({ volumeMounts: [{ name: "data", mountPath: tokenPath }] }), name: "init" },
      { ...container({ restartPolicy: "Always" }), name: "sidecar" },
    ],
    containers: [container({ volumeMounts: [{ name: "data", mountPath: tokenPath }] })],
  },
  {
    volumes: [emptyDir("kube-api-access-existing")],
    containers: [container({ volumeMounts: [{ name: "kube-api-access-existing", mountPath: tokenPath }] })],
  },
  {
    volumes: [{ name: "t", projected: { sources: [{ serviceAccountToken: { path: "t", expirationSeconds: 600 } }] } }],
  },
  { automountServiceAccountToken: true, volumes: [] },
];
const volumes = scenario(
  "sa-volumes",
  [account("sa-volumes", "default")],
  volumeRows.map((spec, row) => createPod("sa-volumes", pod(`p-${row}`, spec))),
);

const secretVolume = (secretName: string): Sent => ({ volumes: [{ name: "s", secret: { secretName } }] });
/** With the name of a secret in each place that is limited, and in some that are not. */
const secretPlaces: readonly ((name: string) => Sent)[] = [
  secretVolume,
  (name) => ({ containers: [container(secretEnv(name))] }),
  (name) => ({ containers: [container(secretEnvFrom(name))] }),
  (name) => ({ initContainers: [{ ...container(secretEnv(name)), name: "init" }] }),
  (name) => ({ initContainers: [{ ...container(secretEnvFrom(name)), name: "init" }] }),
  (name) => ({ imagePullSecrets: [{ name }] }),
  (name) => ({ imagePullSecrets: [{ name: "pull" }, { name }] }),
  (name) => ({ volumes: [{ name: "s", projected: { sources: [{ secret: { name } }] } }] }),
  (name) => ({ volumes: [{ name: "s", csi: { driver: "d.example.com", nodePublishSecretRef: { name } } }] }),
];
const mountable = scenario(
  "sa-mountable",
  [
    account("sa-mountable", "default", {
      metadata: { annotations: { [enforce]: "true" } },
      secrets: named(["mine", "other"]),
      imagePullSecrets: named(["pull"]),
    }),
    account("sa-mountable", "none", { metadata: { annotations: { [enforce]: "true" } } }),
  ],
  [
    ...pairs(secretPlaces, ["mine", "pull", "foreign"]).map(([place, secret], row) =>
      createPod("sa-mountable", pod(`p-${row}`, place(secret))),
    ),
    createPod("sa-mountable", pod("none-volume", { serviceAccountName: "none", ...secretVolume("mine") })),
    createPod("sa-mountable", pod("none-pull", { serviceAccountName: "none", imagePullSecrets: named(["pull"]) })),
    createPod("sa-mountable", pod("none", { serviceAccountName: "none" })),
    createPod(
      "sa-mountable",
      pod("all", {
        ...secretVolume("x"),
        containers: [container(secretEnv("y"))],
        initContainers: [{ ...container(secretEnv("z")), name: "init" }],
      }),
    ),
    createPod(
      "sa-mountable",
      pod("order", {
        containers: [container(secretEnv("y"))],
        initContainers: [{ ...container(secretEnv("z")), name: "init" }],
      }),
    ),
  ],
);

const enforceValues = ["true", "1", "t", "T", "TRUE", "True", "false", "0", "yes", "", " true"];
const enforceTexts = scenario(
  "sa-enforce",
  enforceValues.map((value, index) =>
    account("sa-enforce", `account-${index}`, { metadata: { annotations: { [enforce]: value } } }),
  ),
  enforceValues.map((_value, index) =>
    createPod("sa-enforce", pod(`p-${index}`, { serviceAccountName: `account-${index}`, ...secretVolume("x") })),
  ),
);

const mirror = { annotations: { "kubernetes.io/config.mirror": "x" } };
const mirrorRows: readonly Sent[] = [
  {},
  { serviceAccountName: "default" },
  { serviceAccount: "default" },
  { automountServiceAccountToken: true },
  secretVolume("s"),
  { containers: [container(secretEnv("s"))] },
  { containers: [container(secretEnvFrom("s"))] },
  { initContainers: [{ ...container(secretEnv("s")), name: "init" }] },
  { imagePullSecrets: [{ name: "s" }] },
  { imagePullSecrets: [{}] },
  { volumes: [{ name: "v", projected: { sources: [{ secret: { name: "s" } }] } }] },
  { volumes: [{ name: "v", projected: { sources: [{ serviceAccountToken: { path: "t" } }] } }] },
  { volumes: [{ name: "v", projected: { sources: [{ configMap: { name: "s" } }] } }] },
  { volumes: [{ name: "v", configMap: { name: "s" } }] },
  { volumes: [{ name: "v", csi: { driver: "d.example.com", nodePublishSecretRef: { name: "s" } } }] },
  { volumes: [{ name: "v", csi: { driver: "d.example.com" } }] },
  { volumes: [{ name: "v", azureFile: { secretName: "s", shareName: "x" } }] },
  { volumes: [{ name: "v", cephfs: { monitors: ["m"], secretRef: { name: "s" } } }] },
  { volumes: [{ name: "v", rbd: { monitors: ["m"], image: "i", secretRef: { name: "s" } } }] },
  {
    volumes: [
      {
        name: "v",
        iscsi: { targetPortal: "1.2.3.4", iqn: "iqn.2001-04.com.example:s", lun: 0, secretRef: { name: "s" } },
      },
    ],
  },
  { volumes: [{ name: "v", flexVolume: { driver: "a/b", secretRef: { name: "s" } } }] },
  { volumes: [{ name: "v", scaleIO: { gateway: "g", system: "s", volumeName: "v", secretRef: { name: "s" } } }] },
  { volumes: [{ name: "v", storageos: { volumeName: "v", secretRef: { name: "s" } } }] },
  { volumes: [{ name: "v", cinder: { volumeID: "v", secretRef: { name: "s" } } }] },
];
/** Without an account, because they need none. */
const mirrors = scenario(
  "sa-mirror",
  [],
  mirrorRows.map((spec, row) => createPod("sa-mirror", pod(`p-${row}`, { nodeName: "n", ...spec }, mirror))),
);

const ephemeral = (name: string, fields: Sent): Sent => ({
  spec: { ephemeralContainers: [{ name, image: "example.com/i", ...fields }] },
});
const updates = scenario(
  "sa-updates",
  [
    account("sa-updates", "default", { secrets: named(["mine"]), metadata: { annotations: { [enforce]: "true" } } }),
    account("sa-updates", "free"),
    account("sa-updates", "removed"),
  ],
  [
    createPod("sa-updates", pod("p")),
    createPod("sa-updates", pod("free", { serviceAccountName: "free" })),
    createPod("sa-updates", pod("orphan", { serviceAccountName: "removed" })),
    request(`DELETE ${core("sa-updates", "serviceaccounts", "removed")}`),
    patchPod("sa-updates", "p", { metadata: { labels: { a: "b" } } }),
    patchPod("sa-updates", "p", { spec: { serviceAccountName: "free" } }),
    patchPod("sa-updates", "p", { spec: { serviceAccountName: "missing" } }),
    patchPod("sa-updates", "p", { spec: { imagePullSecrets: [{ name: "x" }] } }),
    patchPod("sa-updates", "p", [{ op: "replace", path: "/spec/containers/0/image", value: "example.com/j" }]),
    patchPod("sa-updates", "p", { status: { phase: "Running" } }, "/status"),
    patchPod("sa-updates", "p", ephemeral("none", {}), "/ephemeralcontainers"),
    patchPod("sa-updates", "p", ephemeral("mine", secretEnv("mine")), "/ephemeralcontainers"),
    patchPod("sa-updates", "p", ephemeral("foreign", secretEnv("foreign")), "/ephemeralcontainers"),
    patchPod("sa-updates", "p", ephemeral("mine-from", secretEnvFrom("mine")), "/ephemeralcontainers"),
    patchPod("sa-updates", "p", ephemeral("foreign-from", secretEnvFrom("foreign")), "/ephemeralcontainers"),
    patchPod("sa-updates", "p", ephemeral("dry", secretEnv("foreign")), "/ephemeralcontainers?dryRun=All"),
    patchPod("sa-updates", "p", ephemeral("Invalid_Name", secretEnv("foreign")), "/ephemeralcontainers"),
    patchPod("sa-updates", "free", ephemeral("foreign", secretEnv("foreign")), "/ephemeralcontainers"),
    patchPod("sa-updates", "orphan", ephemeral("e", {}), "/ephemeralcontainers"),
    patchPod("sa-updates", "orphan", { metadata: { labels: { a: "b" } } }),
    request(`DELETE ${core("sa-updates", "pods", "orphan")}?gracePeriodSeconds=0`),
    createPod("sa-updates", pod("orphan", { serviceAccountName: "removed" })),
    patchPod("sa-updates", "missing", ephemeral("e", {}), "/ephemeralcontainers"),
    request(`POST /apis/apps/v1/namespaces/sa-updates/deployments`, {
      metadata: { name: "d" },
      spec: {
        selector: { matchLabels: { a: "b" } },
        template: { metadata: { labels: { a: "b" } }, spec: { ...pod("x").spec, serviceAccountName: "missing" } },
      },
    }),
  ],
);

const noDefault = scenario(
  "sa-no-default",
  [account("sa-no-default", "other")],
  [
    createPod("sa-no-default", pod("p")),
    createPod("sa-no-default", pod("q", { serviceAccountName: "other" })),
    createPod("sa-no-default", { ...pod("r"), metadata: { generateName: "generated-" } }, "?dryRun=All"),
  ],
);

const randomPods = 80;
const random = seededRandom(20260101);

function randomPod(row: number): Sent {
  const secrets = ["mine", "pull", "foreign"];
  const randomContainer = (name: string): Sent => ({
    ...container(
      pick(random, [
        {},
        {},
        secretEnv(pick(random, secrets)),
        secretEnvFrom(pick(random, secrets)),
        { volumeMounts: [{ name: "v", mountPath: pick(random, [tokenPath, "/data"]) }] },
      ]),
    ),
    name,
  });
  const volume = pick(random, [
    emptyDir("v"),
    { name: "v", secret: { secretName: pick(random, secrets) } },
    { name: "v", projected: { sources: [{ secret: { name: pick(random, secrets) } }] } },
  ]);
  const spec = present({
    serviceAccountName: pick(random, [undefined, "", "strict", "lazy", "missing"]),
    automountServiceAccountToken: pick(random, [undefined, undefined, true, false]),
    imagePullSecrets: pick(random, [undefined, undefined, [], named(["pull"]), named([pick(random, secrets)])]),
    volumes: [volume, ...(random(5) === 0 ? [emptyDir("kube-api-access-own")] : [])],
    initContainers: random(2) === 0 ? undefined : [randomContainer("init")],
    containers: [randomContainer("a"), ...(random(2) === 0 ? [] : [randomContainer("b")])],
    nodeName: "n",
  });
  return pod(`p-${row}`, spec, random(6) === 0 ? mirror : {});
}

const randomScenario = scenario(
  "sa-random",
  [
    account("sa-random", "default", { imagePullSecrets: named(["pull"]) }),
    account("sa-random", "strict", {
      metadata: { annotations: { [enforce]: "true" } },
      secrets: named(["mine"]),
      imagePullSecrets: named(["pull"]),
    }),
    account("sa-random", "lazy", { automountServiceAccountToken: false }),
  ],
  Array.from({ length: randomPods }, (_none, row) => createPod("sa-random", randomPod(row))),
);

export const serviceAccounts: Family = {
  plugins: { disable: recordedElsewhere },
  setup: [],
  scenarios: [
    automount,
    pullSecrets,
    names,
    volumes,
    mountable,
    enforceTexts,
    mirrors,
    updates,
    noDefault,
    randomScenario,
  ],
};
