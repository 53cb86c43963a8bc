/** Default classes, finalizers of objects that others use, and larger claims. */
import type { AdmissionRequest, Scenario, Sent, SetupStep } from "../../../../../test/support/admission-golden.ts";
import { otherPlugins } from "../../../../../test/support/admission-replay.ts";
import { core, type Family, namespace, request } from "./builders.ts";

const mergePatch = "application/merge-patch+json";
const applyPatch = "application/apply-patch+yaml";
const storageClasses = "/apis/storage.k8s.io/v1/storageclasses";
const attributesClasses = "/apis/storage.k8s.io/v1/volumeattributesclasses";
const ingressClasses = "/apis/networking.k8s.io/v1/ingressclasses";
const volumes = "/api/v1/persistentvolumes";
const annotatedClass = "volume.beta.kubernetes.io/storage-class";
const provisioner = "example.com/provisioner";

const storageClass = (name: string, rest: Sent = {}, annotations: Sent = {}): SetupStep => [
  storageClasses,
  { metadata: { name, annotations }, provisioner, ...rest },
];

const claim = (name: string, spec: Sent = {}, metadata: Sent = {}): Sent => ({
  apiVersion: "v1",
  kind: "PersistentVolumeClaim",
  metadata: { name, ...metadata },
  spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } }, ...spec },
});

/** Creates by POST, dry run and apply. */
function creations(path: string, object: Sent): AdmissionRequest[] {
  const { name } = object.metadata;
  return [
    request(`POST ${path}?dryRun=All`, object),
    request(`POST ${path}`, object),
    request(`POST ${path}`, {
      ...object,
      metadata: { ...object.metadata, name: undefined, generateName: "generated-" },
    }),
    request(
      `PATCH ${path}/${name}-applied?fieldManager=applier`,
      { ...object, metadata: { ...object.metadata, name: `${name}-applied` } },
      applyPatch,
    ),
  ];
}

/** Claims with each way to name a class, in a namespace of their own. */
function claimsOfClasses(name: string, inNamespace: string): AdmissionRequest[] {
  const path = core(inNamespace, "persistentvolumeclaims");
  return [
    ...creations(path, claim(`${name}-none`)),
    request(`POST ${path}`, claim(`${name}-empty`, { storageClassName: "" })),
    request(`POST ${path}`, claim(`${name}-other`, { storageClassName: "other" })),
    request(`POST ${path}`, claim(`${name}-null`, { storageClassName: null })),
    request(`POST ${path}`, claim(`${name}-annotated`, {}, { annotations: { [annotatedClass]: "other" } })),
    request(`POST ${path}`, claim(`${name}-annotated-empty`, {}, { annotations: { [annotatedClass]: "" } })),
    request(`POST ${path}`, claim(`${name}-volume`, { volumeName: "named" })),
    request(`POST ${path}`, { metadata: { name: `${name}-no-spec` } }),
    request(`PATCH ${path}/${name}-none`, { metadata: { labels: { a: "b" } } }, mergePatch),
    request(`PATCH ${path}/${name}-none/status`, { status: { phase: "Bound" } }, mergePatch),
    request(`POST ${core(inNamespace, "pods")}`, {
      metadata: { name: `${name}-pod` },
      spec: {
        containers: [{ name: "main", image: "example.com/image" }],
        volumes: [{ name: "scratch", ephemeral: { volumeClaimTemplate: { spec: claim("").spec } } }],
      },
    }),
  ];
}

/** The default changes: none, by the old annotation, and by both. If two classes are the default, all rules select `a`. */
const defaultStorage: Scenario = {
  name: "default-storage",
  setup: [namespace("default-storage"), storageClass("b")],
  answers: {},
  requests: [
    ...claimsOfClasses("before", "default-storage"),
    mark(storageClasses, "b", "storageclass.beta.kubernetes.io/is-default-class", "true"),
    ...claimsOfClasses("beta", "default-storage"),
    request(
      `PATCH ${core("default-storage", "persistentvolumeclaims", "before-none")}`,
      { metadata: { labels: {} } },
      mergePatch,
    ),
    mark(storageClasses, "b", "storageclass.beta.kubernetes.io/is-default-class", "True"),
    request(`POST ${core("default-storage", "persistentvolumeclaims")}`, claim("upper-case")),
    mark(storageClasses, "b", "storageclass.kubernetes.io/is-default-class", "true"),
    ...claimsOfClasses("annotated", "default-storage"),
    request(
      `POST ${storageClasses}`,
      storageClass("a", {}, { "storageclass.kubernetes.io/is-default-class": "true" })[1],
    ),
    request(`POST ${core("default-storage", "persistentvolumeclaims")}`, claim("two-defaults")),
    request(`DELETE ${storageClasses}/a`),
    request(`POST ${core("default-storage", "persistentvolumeclaims")}`, claim("one-default")),
    request(`DELETE ${storageClasses}/b`),
    request(`POST ${core("default-storage", "persistentvolumeclaims")}`, claim("no-default")),
  ],
};

function mark(path: string, name: string, annotation: string, value: string | null): AdmissionRequest {
  return request(`PATCH ${path}/${name}`, { metadata: { annotations: { [annotation]: value } } }, mergePatch);
}

const ingressPath = "/apis/networking.k8s.io/v1/namespaces/default-ingress/ingresses";

function ingresses(name: string): AdmissionRequest[] {
  const backend = { service: { name: "web", port: { number: 80 } } };
  const ingress = (suffix: string, spec: Sent = {}, annotations: Sent = {}): Sent => ({
    apiVersion: "networking.k8s.io/v1",
    kind: "Ingress",
    metadata: { name: `${name}-${suffix}`, annotations },
    spec: { defaultBackend: backend, ...spec },
  });
  return [
    ...creations(ingressPath, ingress("none")),
    request(`POST ${ingressPath}`, ingress("other", { ingressClassName: "other" })),
    request(`POST ${ingressPath}`, ingress("null", { ingressClassName: null })),
    request(`POST ${ingressPath}`, ingress("annotated", {}, { "kubernetes.io/ingress.class": "other" })),
    request(`POST ${ingressPath}`, ingress("annotated-empty", {}, { "kubernetes.io/ingress.class": "" })),
    request(`POST ${ingressPath}`, { metadata: { name: `${name}-no-spec` } }),
    request(`PATCH ${ingressPath}/${name}-none`, { metadata: { labels: { a: "b" } } }, mergePatch),
    request(`PATCH ${ingressPath}/${name}-none`, { spec: { ingressClassName: null } }, mergePatch),
    request(`PATCH ${ingressPath}/${name}-none/status`, { status: {} }, mergePatch),
  ];
}

const defaultIngress: Scenario = {
  name: "default-ingress",
  setup: [
    namespace("default-ingress"),
    [ingressClasses, { metadata: { name: "b" }, spec: { controller: "example.com/controller" } }],
  ],
  answers: {},
  requests: [
    ...ingresses("before"),
    mark(ingressClasses, "b", "ingressclass.kubernetes.io/is-default-class", "true"),
    ...ingresses("default"),
    request(`POST ${ingressClasses}`, {
      metadata: { name: "a", annotations: { "ingressclass.kubernetes.io/is-default-class": "true" } },
      spec: { controller: "example.com/controller" },
    }),
    ...ingresses("two"),
    mark(ingressClasses, "a", "ingressclass.kubernetes.io/is-default-class", null),
    mark(ingressClasses, "b", "ingressclass.kubernetes.io/is-default-class", "false"),
    ...ingresses("after"),
  ],
};

const finalizers: readonly (readonly [name: string, list: readonly string[] | undefined])[] = [
  ["absent", undefined],
  ["empty", []],
  ["other", ["example.com/hold"]],
  ["own", ["$OWN"]],
  ["both", ["example.com/hold", "$OWN", "example.com/last"]],
  ["twice", ["$OWN", "$OWN"]],
];

/** Creates, changes and deletes objects of a kind with a finalizer. */
function protectedKind(name: string, path: string, finalizer: string, object: (name: string) => Sent): Scenario {
  const withFinalizers = (each: string, list: readonly string[] | undefined): Sent => {
    const { metadata, ...rest } = object(each);
    return { ...rest, metadata: { ...metadata, finalizers: list?.map((one) => one.replace("$OWN", finalizer)) } };
  };
  return {
    name,
    setup: [namespace(name)],
    answers: {},
    requests: finalizers.flatMap(([each, list]) => [
      ...creations(path, withFinalizers(each, list)),
      request(`PATCH ${path}/${each}`, { metadata: { finalizers: null } }, mergePatch),
      request(`PATCH ${path}/${each}`, { metadata: { labels: { a: "b" } } }, mergePatch),
      request(`DELETE ${path}/${each}-applied`),
      request(`DELETE ${path}/${each}-applied?gracePeriodSeconds=0`),
      request(`PATCH ${path}/${each}-applied`, { metadata: { finalizers: ["example.com/hold"] } }, mergePatch),
      request(`PATCH ${path}/${each}-applied`, { metadata: { finalizers: [] } }, mergePatch),
    ]),
  };
}

const volume = (name: string): Sent => ({
  apiVersion: "v1",
  kind: "PersistentVolume",
  metadata: { name },
  spec: {
    capacity: { storage: "1Gi" },
    accessModes: ["ReadWriteOnce"],
    hostPath: { path: "/tmp/data" },
    persistentVolumeReclaimPolicy: "Retain",
  },
});

const attributesClass = (name: string): Sent => ({
  apiVersion: "storage.k8s.io/v1",
  kind: "VolumeAttributesClass",
  metadata: { name },
  driverName: "example.com",
  parameters: { iops: "100" },
});

const podGroup = (name: string): Sent => ({
  apiVersion: "scheduling.k8s.io/v1alpha2",
  kind: "PodGroup",
  metadata: { name },
  spec: { schedulingPolicy: { basic: {} } },
});

const protection: readonly Scenario[] = [
  protectedKind("claims", core("claims", "persistentvolumeclaims"), "kubernetes.io/pvc-protection", (name) =>
    claim(name),
  ),
  protectedKind("volumes", volumes, "kubernetes.io/pv-protection", volume),
  protectedKind("attributes-classes", attributesClasses, "kubernetes.io/vac-protection", attributesClass),
];

const resizePath = core("resize", "persistentvolumeclaims");
const setPhase = (name: string, phase: string): AdmissionRequest =>
  request(`PATCH ${resizePath}/${name}/status`, { status: { phase, capacity: { storage: "1Gi" } } }, mergePatch);
const setSize = (name: string, storage: string, rest: Sent = {}, query = ""): AdmissionRequest =>
  request(
    `PATCH ${resizePath}/${name}${query}`,
    { ...rest, spec: { resources: { requests: { storage } } } },
    mergePatch,
  );

/** Claims of each kind of class, in each phase, with each size. */
const resize: Scenario = {
  name: "resize",
  setup: [
    namespace("resize"),
    storageClass("resizable", { allowVolumeExpansion: true }),
    storageClass("fixed", { allowVolumeExpansion: false }),
    storageClass("silent"),
  ],
  answers: {},
  requests: [
    ...["resizable", "fixed", "silent", "missing", ""].flatMap((storageClassName) => {
      const name = storageClassName === "" ? "none" : storageClassName;
      return [
        request(`POST ${resizePath}`, claim(name, { storageClassName })),
        setSize(name, "2Gi"),
        setSize(name, "1024Mi"),
        ...["Pending", "Lost", "Bound"].flatMap((phase) => [
          setPhase(name, phase),
          setSize(name, "2Gi"),
          setSize(name, "512Mi"),
        ]),
        setSize(name, "3Gi", {}, "?dryRun=All"),
        setSize(name, "1.5Gi"),
      ];
    }),
    request(`POST ${resizePath}`, claim("annotated", {}, { annotations: { [annotatedClass]: "resizable" } })),
    setPhase("annotated", "Bound"),
    setSize("annotated", "2Gi"),
    request(`POST ${resizePath}`, claim("classless")),
    setPhase("classless", "Bound"),
    setSize("classless", "2Gi"),
    request(
      `PATCH ${resizePath}/classless`,
      { spec: { storageClassName: "resizable", resources: { requests: { storage: "2Gi" } } } },
      mergePatch,
    ),
    request(`PATCH ${resizePath}/classless`, { spec: { storageClassName: "resizable" } }, mergePatch),
    setSize("classless", "2Gi"),
    request(
      `PATCH ${resizePath}/annotated`,
      { spec: { storageClassName: "resizable", resources: { requests: { storage: "5Gi" } } } },
      mergePatch,
    ),
    request(`PATCH ${storageClasses}/fixed`, { allowVolumeExpansion: true }, mergePatch),
    setSize("fixed", "5Gi"),
    request(`DELETE ${storageClasses}/fixed`),
    setSize("fixed", "6Gi"),
    request(
      `PATCH ${resizePath}/resizable?fieldManager=applier&force=true`,
      claim("resizable", { resources: { requests: { storage: "7Gi" } } }),
      applyPatch,
    ),
    request(`DELETE ${resizePath}/resizable`),
    setSize("resizable", "8Gi"),
  ],
};

export const storagePlugins: Family = {
  plugins: {
    disable: otherPlugins.filter(
      (name) =>
        ![
          "DefaultStorageClass",
          "StorageObjectInUseProtection",
          "PersistentVolumeClaimResize",
          "DefaultIngressClass",
        ].includes(name),
    ),
  },
  setup: [],
  scenarios: [defaultStorage, defaultIngress, ...protection, resize],
};

export const podGroupProtection: Family = {
  plugins: {
    disable: otherPlugins.filter((name) => name !== "PodGroupProtection"),
    featureGates: "GenericWorkload=true",
    runtimeConfig: "scheduling.k8s.io/v1alpha2=true",
  },
  setup: [],
  scenarios: [
    protectedKind(
      "pod-groups",
      "/apis/scheduling.k8s.io/v1alpha2/namespaces/pod-groups/podgroups",
      "scheduling.k8s.io/podgroup-protection",
      podGroup,
    ),
  ],
};
