/**
 * Situations in which objects are protected from deletion, for kube-controller-manager and for the controllers of this server: requests,
 * and the state of one object after each of them. `tools/golden/server/protection/record.ts` records the states.
 */

// biome-ignore lint/suspicious/noExplicitAny: any object of any kind.
type Sent = Record<string, any>;

/** A method and a path, and the body. `$NS` is the namespace of the situation. */
export type ProtectionRequest = readonly [line: string, body?: Sent];

export interface Situation {
  readonly name: string;
  /** The path of the object whose state is compared. */
  readonly subject: string;
  /** The state is compared after each step, which is one request or several. */
  readonly steps: readonly (readonly ProtectionRequest[])[];
}

/** What clients see of an object; undefined when it does not exist. */
export interface ProtectedState {
  readonly isDeleting: boolean;
  readonly finalizers: readonly string[];
  /** The condition `Unused` of a claim: its status, reason and message. */
  readonly unused?: readonly string[];
}

export interface SituationRow {
  readonly name: string;
  /** After each step. */
  readonly states: readonly (ProtectedState | null)[];
}

/** The namespace of a situation. */
export const namespaceOf = ({ name }: Situation): string => `situation-${name}`;

const core = "/api/v1/namespaces/$NS";
const claims = `${core}/persistentvolumeclaims`;
const pods = `${core}/pods`;
const volumes = "/api/v1/persistentvolumes";
const classes = "/apis/storage.k8s.io/v1/volumeattributesclasses";
const groups = "/apis/scheduling.k8s.io/v1alpha2/namespaces/$NS/podgroups";

export const podGroupsPath = groups;

const create = (path: string, object: Sent): ProtectionRequest => [`POST ${path}`, object];
const remove = (path: string, query = ""): ProtectionRequest => [`DELETE ${path}${query}`];
const patch = (path: string, change: Sent): ProtectionRequest => [`PATCH ${path}`, change];

export const claim = (name: string, metadata: Sent = {}, spec: Sent = {}): Sent => ({
  metadata: { name, ...metadata },
  spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } }, ...spec },
});

export const volume = (name: string, spec: Sent = {}): Sent => ({
  metadata: { name },
  spec: {
    capacity: { storage: "1Gi" },
    accessModes: ["ReadWriteOnce"],
    persistentVolumeReclaimPolicy: "Retain",
    csi: { driver: "example.com", volumeHandle: name },
    ...spec,
  },
});

export const attributesClass = (name: string): Sent => ({
  metadata: { name },
  driverName: "example.com",
  parameters: { iops: "1" },
});

export const podGroup = (name: string): Sent => ({ metadata: { name }, spec: { schedulingPolicy: { basic: {} } } });

/** @param nodeName empty for a pod that is not scheduled */
const pod = (name: string, nodeName: string, spec: Sent = {}, metadata: Sent = {}): Sent => ({
  metadata: { name, ...metadata },
  spec: {
    containers: [{ name: "main", image: "example.com/image" }],
    ...(nodeName !== "" && { nodeName }),
    ...spec,
  },
});

const using = (claimName: string): Sent => ({ volumes: [{ name: "data", persistentVolumeClaim: { claimName } }] });
const ephemeral: Sent = { volumes: [{ name: "data", ephemeral: { volumeClaimTemplate: { spec: claim("").spec } } }] };
const inGroup = (podGroupName: string): Sent => ({ schedulingGroup: { podGroupName } });
const phase = (name: string, value: string): ProtectionRequest =>
  patch(`${pods}/${name}/status`, { status: { phase: value } });
const force = "?gracePeriodSeconds=0";
const hold = { finalizers: ["example.com/hold"] };

/** A claim `c`, and steps with pods. */
const ofClaim = (name: string, ...steps: readonly (readonly ProtectionRequest[])[]): Situation => ({
  name: `claim-${name}`,
  subject: `${claims}/c`,
  steps,
});
const made = create(claims, claim("c"));
const deleted = remove(`${claims}/c`);

/** The claim of the ephemeral volume of pod `p`, with the pod that was created last as its owner. */
const owned = (name: string, controller = true): ProtectionRequest =>
  create(
    claims,
    claim("p-data", { ownerReferences: [{ apiVersion: "v1", kind: "Pod", name, uid: "$UID", controller }] }),
  );
const ofEphemeral = (name: string, ...steps: readonly (readonly ProtectionRequest[])[]): Situation => ({
  name: `ephemeral-${name}`,
  subject: `${claims}/p-data`,
  steps,
});

export const claimSituations: readonly Situation[] = [
  ofClaim("unused", [made], [deleted]),
  ofClaim("used", [made, create(pods, pod("p", "n", using("c")))], [deleted], [remove(`${pods}/p`, force)]),
  ofClaim(
    "used-before-it-exists",
    [create(pods, pod("p", "n", using("c")))],
    [made],
    [deleted],
    [remove(`${pods}/p`, force)],
  ),
  ofClaim("not-scheduled", [made, create(pods, pod("p", "", using("c")))], [deleted]),
  ofClaim(
    "scheduled-later",
    [made, create(pods, pod("p", "", using("c")))],
    [create(`${pods}/p/binding`, { metadata: { name: "p" }, target: { kind: "Node", name: "n" } })],
    [deleted],
    [remove(`${pods}/p`, force)],
  ),
  ofClaim(
    "succeeded",
    [made, create(pods, pod("p", "n", using("c")))],
    [phase("p", "Succeeded")],
    [deleted],
    [remove(`${pods}/p`)],
  ),
  ofClaim("failed-after-deletion", [made, create(pods, pod("p", "n", using("c")))], [deleted], [phase("p", "Failed")]),
  ofClaim(
    "two-pods",
    [made, create(pods, pod("p", "n", using("c"))), create(pods, pod("q", "m", using("c")))],
    [deleted],
    [remove(`${pods}/p`, force)],
    [remove(`${pods}/q`, force)],
  ),
  ofClaim(
    "graceful",
    [made, create(pods, pod("p", "n", using("c")))],
    [deleted],
    [remove(`${pods}/p`)],
    [remove(`${pods}/p`, force)],
  ),
  ofClaim(
    "held-pod",
    [made, create(pods, pod("p", "n", using("c"), hold))],
    [remove(`${pods}/p`, force)],
    [deleted],
    [patch(`${pods}/p`, { metadata: { finalizers: null } })],
  ),
  ofClaim(
    "replaced-pod",
    [made, create(pods, pod("p", "n", using("c")))],
    [deleted],
    [remove(`${pods}/p`, force), create(pods, pod("p", "n", using("other")))],
  ),
  ofClaim("other-claim", [made, create(pods, pod("p", "n", using("other")))], [deleted]),
  ofClaim(
    "several-volumes",
    [
      made,
      create(
        pods,
        pod("p", "n", { volumes: [...using("other").volumes, { ...using("c").volumes[0], name: "second" }] }),
      ),
    ],
    [deleted],
    [remove(`${pods}/p`, force)],
  ),
  ofClaim("without-finalizer", [made], [patch(`${claims}/c`, { metadata: { finalizers: null } })]),
  ofClaim("replaced-finalizer", [made], [patch(`${claims}/c`, { metadata: hold })], [deleted]),
  ofClaim(
    "held",
    [create(claims, claim("c", hold))],
    [deleted],
    [patch(`${claims}/c`, { metadata: { finalizers: null } })],
  ),
  ofClaim(
    "held-and-used",
    [create(claims, claim("c", hold)), create(pods, pod("p", "n", using("c")))],
    [deleted],
    [remove(`${pods}/p`, force)],
  ),
  ofClaim(
    "taken-finalizer",
    [made, create(pods, pod("p", "n", using("c")))],
    [deleted],
    [patch(`${claims}/c`, { metadata: { finalizers: null } })],
  ),
  ofClaim(
    "collection",
    [made, create(pods, pod("p", "n", using("c"))), create(claims, claim("d"))],
    [remove(claims)],
    [remove(`${pods}/p`, force)],
  ),
  ofClaim(
    "foreground",
    [made, create(pods, pod("p", "n", using("c")))],
    [remove(`${claims}/c`, "?propagationPolicy=Foreground")],
    [remove(`${pods}/p`, force)],
  ),
  ofClaim("created-again", [made], [deleted], [made]),
  ofClaim("waiting-pods", [made], [create(pods, pod("p", "", using("c")))], [remove(`${pods}/p`)]),
  ofEphemeral(
    "unowned",
    [create(claims, claim("p-data")), create(pods, pod("p", "n", ephemeral))],
    [remove(`${claims}/p-data`)],
  ),
  ofEphemeral(
    "of-another",
    [create(pods, pod("p", "n", ephemeral)), create(pods, pod("q", "n")), owned("q")],
    [remove(`${claims}/p-data`)],
  ),
  ofEphemeral(
    "running",
    [create(pods, pod("p", "n", ephemeral)), owned("p")],
    [remove(`${claims}/p-data`)],
    [remove(`${pods}/p`, force)],
  ),
  ofEphemeral(
    "owner-without-control",
    [create(pods, pod("p", "n", ephemeral)), owned("p", false)],
    [remove(`${claims}/p-data`)],
  ),
  ofEphemeral(
    "succeeded",
    [create(pods, pod("p", "n", ephemeral)), owned("p")],
    [remove(`${claims}/p-data`)],
    [phase("p", "Succeeded")],
    [remove(`${pods}/p`, force)],
  ),
  ofEphemeral(
    "shut-down",
    [create(pods, pod("p", "n", ephemeral, hold)), owned("p")],
    [remove(`${claims}/p-data`)],
    [remove(`${pods}/p`)],
    [remove(`${pods}/p`, force)],
  ),
  ofEphemeral("not-scheduled", [create(pods, pod("p", "", ephemeral)), owned("p")], [remove(`${claims}/p-data`)]),
];

const ofVolume = (name: string, ...steps: readonly (readonly ProtectionRequest[])[]): Situation => ({
  name: `volume-${name}`,
  subject: `${volumes}/$NS`,
  steps: [[create(volumes, volume("$NS"))], ...steps],
});
const volumePhase = (value: string): ProtectionRequest => patch(`${volumes}/$NS/status`, { status: { phase: value } });
const deletedVolume = remove(`${volumes}/$NS`);

const ofClass = (name: string, ...steps: readonly (readonly ProtectionRequest[])[]): Situation => ({
  name: `class-${name}`,
  subject: `${classes}/$NS`,
  steps: [[create(classes, attributesClass("$NS"))], ...steps],
});
const deletedClass = remove(`${classes}/$NS`);
const withClass = { volumeAttributesClassName: "$NS" };
const claimStatus = (status: Sent): ProtectionRequest => patch(`${claims}/c/status`, { status });

export const volumeSituations: readonly Situation[] = [
  ofVolume("unbound", [deletedVolume]),
  ...["Available", "Released", "Failed"].map((value) =>
    ofVolume(value.toLowerCase(), [volumePhase(value)], [deletedVolume]),
  ),
  ofVolume("bound", [volumePhase("Bound")], [deletedVolume], [volumePhase("Released")]),
  ofVolume("bound-then-failed", [volumePhase("Bound")], [deletedVolume], [volumePhase("Failed")]),
  ofVolume(
    "claimed",
    [patch(`${volumes}/$NS`, { spec: { claimRef: { namespace: "$NS", name: "c" } } }), create(claims, claim("c"))],
    [deletedVolume],
  ),
  ofVolume("without-finalizer", [patch(`${volumes}/$NS`, { metadata: { finalizers: null } })]),
  ofVolume("held", [patch(`${volumes}/$NS`, { metadata: hold })], [deletedVolume]),
  ofVolume(
    "labeled-while-bound",
    [volumePhase("Bound")],
    [deletedVolume],
    [patch(`${volumes}/$NS`, { metadata: { labels: { a: "b" } } })],
    [volumePhase("Available")],
  ),
  ofClass("unused", [deletedClass]),
  ofClass("of-claim", [create(claims, claim("c", {}, withClass))], [deletedClass], [deleted]),
  ofClass("of-other-claim", [create(claims, claim("c", {}, { volumeAttributesClassName: "other" }))], [deletedClass]),
  ofClass(
    "of-used-claim",
    [create(claims, claim("c", {}, withClass)), create(pods, pod("p", "n", using("c")))],
    [deletedClass],
    [deleted],
    [remove(`${pods}/p`, force)],
  ),
  ofClass(
    "current",
    [made, claimStatus({ currentVolumeAttributesClassName: "$NS" })],
    [deletedClass],
    [claimStatus({ currentVolumeAttributesClassName: "other" })],
  ),
  ofClass(
    "target",
    [made, claimStatus({ modifyVolumeStatus: { targetVolumeAttributesClassName: "$NS", status: "Pending" } })],
    [deletedClass],
    [claimStatus({ modifyVolumeStatus: null })],
  ),
  ofClass("of-volume", [create(volumes, volume("$NS", withClass))], [deletedClass], [deletedVolume]),
  ofClass(
    "changed-volume",
    [create(volumes, volume("$NS", withClass))],
    [deletedClass],
    [patch(`${volumes}/$NS`, { spec: { volumeAttributesClassName: "other" } })],
  ),
  ofClass(
    "of-both",
    [create(volumes, volume("$NS", withClass)), create(claims, claim("c", {}, withClass))],
    [deletedClass],
    [deletedVolume],
    [deleted],
  ),
  ofClass("without-finalizer", [patch(`${classes}/$NS`, { metadata: { finalizers: null } })]),
  ofClass("held", [patch(`${classes}/$NS`, { metadata: hold })], [deletedClass]),
  {
    name: "namespace-claims",
    subject: `${claims}/c`,
    steps: [
      [made, create(pods, pod("p", "n", using("c"), hold))],
      [remove("/api/v1/namespaces/$NS")],
      [patch(`${pods}/p`, { metadata: { finalizers: null } }), remove(`${pods}/p`, force)],
    ],
  },
  {
    name: "namespace",
    subject: "/api/v1/namespaces/$NS",
    steps: [
      [made, create(claims, claim("d")), create(pods, pod("p", "", using("c")))],
      [remove("/api/v1/namespaces/$NS")],
    ],
  },
  {
    name: "garbage",
    subject: `${claims}/c`,
    steps: [
      [
        create(`${core}/configmaps`, { metadata: { name: "owner" } }),
        create(
          claims,
          claim("c", { ownerReferences: [{ apiVersion: "v1", kind: "ConfigMap", name: "owner", uid: "$UID" }] }),
        ),
        create(pods, pod("p", "n", using("c"))),
      ],
      [remove(`${core}/configmaps/owner`)],
      [remove(`${pods}/p`, force)],
    ],
  },
];

const ofGroup = (name: string, ...steps: readonly (readonly ProtectionRequest[])[]): Situation => ({
  name: `group-${name}`,
  subject: `${groups}/g`,
  steps: [[create(groups, podGroup("g"))], ...steps],
});
const deletedGroup = remove(`${groups}/g`);

/** With the gate GenericWorkload. */
export const groupSituations: readonly Situation[] = [
  ofGroup("unused", [deletedGroup]),
  ...["Succeeded", "Failed"].map((value) =>
    ofGroup(
      `pod-${value.toLowerCase()}`,
      [create(pods, pod("p", "n", inGroup("g")))],
      [deletedGroup],
      [phase("p", value)],
    ),
  ),
  ofGroup("succeeded-before", [create(pods, pod("p", "n", inGroup("g"))), phase("p", "Succeeded")], [deletedGroup]),
  ofGroup("pod-deleted", [create(pods, pod("p", "", inGroup("g")))], [deletedGroup], [remove(`${pods}/p`)]),
  ofGroup(
    "two-pods",
    [create(pods, pod("p", "n", inGroup("g"))), create(pods, pod("q", "", inGroup("g")))],
    [deletedGroup],
    [phase("p", "Failed")],
    [remove(`${pods}/q`)],
  ),
  ofGroup(
    "graceful",
    [create(pods, pod("p", "n", inGroup("g")))],
    [deletedGroup],
    [remove(`${pods}/p`)],
    [remove(`${pods}/p`, force)],
  ),
  ofGroup("other-group", [create(groups, podGroup("h")), create(pods, pod("p", "n", inGroup("h")))], [deletedGroup]),
  ofGroup("without-finalizer", [patch(`${groups}/g`, { metadata: { finalizers: null } })], [deletedGroup]),
  ofGroup(
    "held",
    [patch(`${groups}/g`, { metadata: { finalizers: ["example.com/hold", "scheduling.k8s.io/podgroup-protection"] } })],
    [deletedGroup],
  ),
];

/** Sends a request, and returns the answer. The body is JSON. */
export type SendProtection = (
  line: string,
  body: string | undefined,
  type: string,
) => Promise<{ readonly status: number; readonly text: string }>;

/** Runs the requests of one step. @throws Error for an answer that is not a success */
export async function runStep(
  send: SendProtection,
  situation: Situation,
  step: Situation["steps"][number],
): Promise<void> {
  let uid = "";
  for (const [line, object] of step) {
    const fill = (text: string): string => text.replaceAll("$NS", namespaceOf(situation)).replaceAll("$UID", uid);
    const type = line.startsWith("PATCH") ? "application/merge-patch+json" : "application/json";
    const body = object === undefined ? undefined : fill(JSON.stringify(object));
    const answer = await send(fill(line), body, type);
    if (answer.status >= 300) throw new Error(`${situation.name}: ${fill(line)}: ${answer.text}`);
    if (line.startsWith("POST")) uid = JSON.parse(answer.text).metadata?.uid ?? "";
  }
}

/** Reads the state of the subject. */
export async function readState(send: SendProtection, situation: Situation): Promise<ProtectedState | null> {
  const path = situation.subject.replaceAll("$NS", namespaceOf(situation));
  const { status, text } = await send(`GET ${path}`, undefined, "application/json");
  if (status === 404) return null;
  const { metadata, status: { conditions = [] } = {} } = JSON.parse(text);
  const unused = conditions.find(({ type }: Sent) => type === "Unused");
  return {
    isDeleting: metadata.deletionTimestamp !== undefined,
    finalizers: metadata.finalizers ?? [],
    ...(unused !== undefined && { unused: [unused.status, unused.reason, unused.message] }),
  };
}
