/** Pods that violate one check each, for the families of the plugin PodSecurity. */
import type { AdmissionRequest, Sent, SetupStep } from "../../../../../test/support/admission-golden.ts";
import { otherPlugins } from "../../../../../test/support/admission-replay.ts";
import { core, namespace, request } from "./builders.ts";

/** All default plugins that change pods or reject requests run in other families. */
export const disabled: readonly string[] = otherPlugins.filter((plugin) => plugin !== "PodSecurity");

const container = (name: string): Sent => ({ name, image: `registry.example.com/${name}:1` });

/** Allowed by `baseline`, and at most by the oldest versions of `restricted`. */
export const plainPod = (): Sent => ({ spec: { containers: [container("main"), container("side")] } });

/** Allowed by `restricted`. */
export const restrictedPod = (): Sent => {
  const pod = plainPod();
  pod.spec.securityContext = { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } };
  for (const one of pod.spec.containers)
    one.securityContext = { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } };
  return pod;
};

type Change = (pod: Sent) => void;

const onContainer =
  (fields: Sent, index = 0): Change =>
  ({ spec }) => {
    const one = spec.containers[index];
    one.securityContext = { ...one.securityContext, ...fields };
  };
const onPod =
  (fields: Sent): Change =>
  ({ spec }) => {
    spec.securityContext = { ...spec.securityContext, ...fields };
  };
const onSpec =
  (fields: Sent): Change =>
  ({ spec }) => {
    Object.assign(spec, fields);
  };
const volume =
  (source: Sent): Change =>
  ({ spec }) => {
    spec.volumes = [...(spec.volumes ?? []), { name: `volume-${spec.volumes?.length ?? 0}`, ...source }];
  };
const annotation =
  (key: string, value: string): Change =>
  (pod) => {
    pod.metadata = { ...pod.metadata, annotations: { ...pod.metadata?.annotations, [key]: value } };
  };
const onMain =
  (fields: Sent): Change =>
  ({ spec }) => {
    Object.assign(spec.containers[0], fields);
  };

/** Changes of a pod by name. Most violate a check. */
export const changes: Readonly<Record<string, Change>> = {
  escalation: onContainer({ allowPrivilegeEscalation: true }),
  "escalation-unset": onContainer({ allowPrivilegeEscalation: undefined }, 1),
  "apparmor-pod": onPod({ appArmorProfile: { type: "Unconfined" } }),
  "apparmor-container": onContainer({ appArmorProfile: { type: "Unconfined" } }, 1),
  "apparmor-annotation": annotation("container.apparmor.security.beta.kubernetes.io/main", "unconfined"),
  "capability-added": onContainer({ capabilities: { add: ["SYS_ADMIN", "CHOWN", "NET_RAW"], drop: ["ALL"] } }),
  "capability-default": onContainer({ capabilities: { add: ["CHOWN"], drop: ["ALL"] } }),
  "capability-bind": onContainer({ capabilities: { add: ["NET_BIND_SERVICE"], drop: ["ALL"] } }),
  "capability-odd": onContainer({ capabilities: { add: ['a"b\\c', "\u00e9", "\ufffd", "\u{1f600}"], drop: ["ALL"] } }),
  "capability-kept": onContainer({ capabilities: {} }, 1),
  "host-network": onSpec({ hostNetwork: true }),
  "host-all": onSpec({ hostNetwork: true, hostPID: true, hostIPC: true }),
  "host-path": volume({ hostPath: { path: "/etc" } }),
  nfs: volume({ nfs: { server: "nfs.example.com", path: "/" } }),
  "git-and-flex": (pod) => {
    volume({ iscsi: { targetPortal: "10.0.0.1", iqn: "iqn.2020-01.com.example:a", lun: 1 } })(pod);
    volume({ flexVolume: { driver: "a/b" } })(pod);
    volume({ emptyDir: {} })(pod);
  },
  "host-port": onMain({ ports: [{ containerPort: 80, hostPort: 80 }, { containerPort: 443 }] }),
  "probe-host": onMain({ livenessProbe: { httpGet: { host: "127.0.0.1", port: 80 } } }),
  "lifecycle-host": onMain({ lifecycle: { preStop: { httpGet: { host: "10.0.0.1", port: 80 } } } }),
  privileged: onContainer({ privileged: true, allowPrivilegeEscalation: true }),
  "proc-mount": onContainer({ procMount: "Unmasked" }, 1),
  "proc-mount-user-namespace": (pod) => {
    onSpec({ hostUsers: false })(pod);
    onContainer({ procMount: "Unmasked" })(pod);
  },
  "selinux-type": onPod({ seLinuxOptions: { type: "spc_t" } }),
  "selinux-engine": onPod({ seLinuxOptions: { type: "container_engine_t" } }),
  "selinux-user-role": onContainer({ seLinuxOptions: { user: "u", role: "r" } }),
  "seccomp-unconfined": onPod({ seccompProfile: { type: "Unconfined" } }),
  "seccomp-container": onContainer({ seccompProfile: { type: "Unconfined" } }),
  "seccomp-unset": onPod({ seccompProfile: undefined }),
  sysctls: onPod({
    sysctls: [
      { name: "kernel.msgmax", value: "1" },
      { name: "net.ipv4.tcp_rmem", value: "1" },
    ],
  }),
  "windows-host-process": (pod) => {
    onSpec({ os: { name: "windows" }, hostNetwork: true })(pod);
    pod.spec.securityContext = { windowsOptions: { hostProcess: true, runAsUserName: "NT AUTHORITY\\SYSTEM" } };
    for (const one of pod.spec.containers) delete one.securityContext;
  },
  windows: (pod) => {
    onSpec({ os: { name: "windows" } })(pod);
    pod.spec.securityContext = { runAsNonRoot: true };
    for (const one of pod.spec.containers) delete one.securityContext;
  },
  "root-pod": onPod({ runAsNonRoot: false }),
  "root-unset": onPod({ runAsNonRoot: undefined }),
  "root-container": onContainer({ runAsNonRoot: false }, 1),
  "user-root": onPod({ runAsUser: 0 }),
  "user-root-container": onContainer({ runAsUser: 0 }),
  "user-root-user-namespace": (pod) => {
    onSpec({ hostUsers: false })(pod);
    onPod({ runAsUser: 0, runAsNonRoot: false })(pod);
  },
  init: ({ spec }) => {
    spec.initContainers = [{ ...container("init"), securityContext: { privileged: true } }];
  },
};

/** A pod whose violations need more than the 4096 characters of all warnings. */
export const manyContainers = (): Sent => {
  const name = (index: number): string => `container-with-a-long-name-${index}`;
  return { spec: { containers: Array.from({ length: 150 }, (_, index) => container(name(index))) } };
};

/** A pod with changes. */
export const podWith = (names: readonly string[], base = restrictedPod): Sent => {
  const pod = base();
  for (const name of names) (changes[name] as Change)(pod);
  return pod;
};

const label = (name: string): string => `pod-security.kubernetes.io/${name}`;

/** Labels of a namespace, such as `enforce` and `warn-version`. */
export const labels = (values: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [label(name), value]));

export const labeled = (name: string, values: Readonly<Record<string, string>>): SetupStep =>
  namespace(name, labels(values));

const named = (object: Sent, name: string): Sent => ({ ...object, metadata: { ...object.metadata, name } });

/** Stores nothing. */
export const tryPod = (ns: string, name: string, pod: Sent): AdmissionRequest =>
  request(`POST ${core(ns, "pods")}?dryRun=All`, named(pod, name));

export const createPod = (ns: string, name: string, pod: Sent): AdmissionRequest =>
  request(`POST ${core(ns, "pods")}`, named(pod, name));

export const patch = (path: string, body: unknown, type = "strategic-merge-patch"): AdmissionRequest =>
  request(`PATCH ${path}`, body, `application/${type}+json`);

/** Changes the labels of a namespace; null removes one. */
export const relabel = (ns: string, values: Readonly<Record<string, string | null>>, query = ""): AdmissionRequest =>
  patch(
    `/api/v1/namespaces/${ns}${query}`,
    { metadata: { labels: labels(values as Record<string, string>) } },
    "merge-patch",
  );

/** The controllers by resource: path of the collection and object around a pod template. */
const selected = { app: "a" };
const withLabels = (pod: Sent): Sent => ({ ...pod, metadata: { ...pod.metadata, labels: selected } });
const onFailure = (pod: Sent): Sent => ({ ...pod, spec: { ...pod.spec, restartPolicy: "Never" } });
export const controllers: Readonly<Record<string, readonly [path: string, wrap: (pod: Sent) => Sent]>> = {
  podtemplates: ["/api/v1", (pod) => ({ template: pod })],
  replicationcontrollers: ["/api/v1", (pod) => ({ spec: { selector: selected, template: withLabels(pod) } })],
  daemonsets: [
    "/apis/apps/v1",
    (pod) => ({ spec: { selector: { matchLabels: selected }, template: withLabels(pod) } }),
  ],
  deployments: [
    "/apis/apps/v1",
    (pod) => ({ spec: { selector: { matchLabels: selected }, template: withLabels(pod) } }),
  ],
  replicasets: [
    "/apis/apps/v1",
    (pod) => ({ spec: { selector: { matchLabels: selected }, template: withLabels(pod) } }),
  ],
  statefulsets: [
    "/apis/apps/v1",
    (pod) => ({ spec: { selector: { matchLabels: selected }, template: withLabels(pod) } }),
  ],
  cronjobs: [
    "/apis/batch/v1",
    (pod) => ({ spec: { schedule: "@daily", jobTemplate: { spec: { template: onFailure(pod) } } } }),
  ],
  jobs: ["/apis/batch/v1", (pod) => ({ spec: { template: onFailure(pod) } })],
};

/** The path of a controller. */
export const controllerPath = (ns: string, resource: string, name?: string): string =>
  `${controllers[resource]?.[0]}/namespaces/${ns}/${resource}${name === undefined ? "" : `/${name}`}`;

export const createController = (ns: string, resource: string, name: string, pod: Sent, query = ""): AdmissionRequest =>
  request(`POST ${controllerPath(ns, resource)}${query}`, {
    metadata: { name },
    ...controllers[resource]?.[1](pod),
  });
