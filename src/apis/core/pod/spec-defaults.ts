/**
 * Defaults of the spec of a pod or a pod template.
 * Source: `k8s.io/kubernetes@v1.36.0/pkg/apis/core/v1/defaults.go`.
 */
import { setMember } from "../../../lib/json/values.ts";
import { formatQuantity } from "../../../lib/quantity/quantity.ts";
import { items, type Part, setAbsent, struct } from "../../fields.ts";
import { roundResources } from "../resource-list.ts";
import { imageTag } from "./image-name.ts";
import { allowsOvercommit, isHugePages, isPodLevelResource } from "./resource-names.ts";
import { sumOfContainers } from "./sum-of-containers.ts";

/** Sets the defaults that pods and pod templates share. */
export function setPodSpecDefaults(spec: Part): void {
  setAbsent(spec, {
    restartPolicy: "Always",
    terminationGracePeriodSeconds: 30,
    dnsPolicy: "ClusterFirst",
    securityContext: {},
    schedulerName: "default-scheduler",
  });
  mirrorServiceAccount(spec);
  for (const container of allContainers(spec)) setContainerDefaults(container);
  for (const list of [spec.overhead, spec.resources?.limits, spec.resources?.requests]) roundResources(list);
  for (const volume of items(spec.volumes)) setVolumeDefaults(volume);
}

/** Sets the defaults of pods that templates do not get. */
export function setPodDefaults(spec: Part): void {
  setAbsent(spec, { enableServiceLinks: true });
  for (const container of [...items(spec.containers), ...items(spec.initContainers)]) {
    setRequestsFromLimits(container);
    if (spec.hostNetwork === true)
      for (const port of items(container.ports)) setAbsentNumber(port, "hostPort", port.containerPort);
  }
  setPodResourceDefaults(spec);
}

/** Sets absent pod-level requests and limits to the sums of the containers. */
export function setPodResourceDefaults(spec: Part): void {
  const { resources } = spec;
  if (!resources) return;
  const isSet = (list: Part | undefined): boolean => Object.keys(list ?? {}).length > 0;
  if (!isSet(resources.limits) && !isSet(resources.requests)) return;
  for (const [name, limit] of sumOfContainers(spec, "limits")) {
    if (isHugePages(name) && !Object.hasOwn(resources.requests ?? {}, name))
      setAbsent(struct(resources, "limits"), { [name]: formatQuantity(limit) });
  }
  if (!isSet(resources.limits)) return;
  for (const [name, amount] of sumOfContainers(spec, "requests")) {
    if (isPodLevelResource(name) && allowsOvercommit(name))
      setAbsent(struct(resources, "requests"), { [name]: formatQuantity(amount) });
  }
  for (const [name, limit] of Object.entries(resources.limits ?? {})) {
    if (isPodLevelResource(name)) setAbsent(struct(resources, "requests"), { [name]: limit });
  }
}

const allContainers = (spec: Part): Part[] => [
  ...items(spec.containers),
  ...items(spec.initContainers),
  ...items(spec.ephemeralContainers),
];

/** `serviceAccount` is the deprecated name of `serviceAccountName`; both are always set. */
function mirrorServiceAccount(spec: Part): void {
  const name = spec.serviceAccountName || spec.serviceAccount;
  if (name) spec.serviceAccountName = spec.serviceAccount = name;
  else if (spec.serviceAccountName !== undefined) delete spec.serviceAccountName;
}

function setContainerDefaults(container: Part): void {
  container.imagePullPolicy ||= pullPolicyFor(container.image ?? "");
  container.terminationMessagePath ||= "/dev/termination-log";
  container.terminationMessagePolicy ||= "File";
  if (container.resources)
    for (const list of [container.resources.limits, container.resources.requests]) roundResources(list);
  for (const port of items(container.ports)) setAbsent(port, { protocol: "TCP" });
  for (const variable of items(container.env)) setFieldRefDefaults(variable.valueFrom?.fieldRef);
  for (const probe of [container.livenessProbe, container.readinessProbe, container.startupProbe])
    setProbeDefaults(probe);
  for (const hook of [container.lifecycle?.postStart, container.lifecycle?.preStop]) setHttpGetDefaults(hook?.httpGet);
}

/** The tag `latest`, explicit or implied, may refer to another image later. */
function pullPolicyFor(image: string): "Always" | "IfNotPresent" {
  return imageTag(image) === "latest" ? "Always" : "IfNotPresent";
}

function setFieldRefDefaults(reference: Part | undefined): void {
  if (reference) setAbsent(reference, { apiVersion: "v1" });
}

function setProbeDefaults(probe: Part | undefined): void {
  if (!probe) return;
  for (const [field, value] of [
    ["timeoutSeconds", 1],
    ["periodSeconds", 10],
    ["successThreshold", 1],
    ["failureThreshold", 3],
  ] as const) {
    setAbsentNumber(probe, field, value);
  }
  setHttpGetDefaults(probe.httpGet);
  if (probe.grpc) probe.grpc.service ??= "";
}

function setHttpGetDefaults(httpGet: Part | undefined): void {
  if (httpGet) setAbsent(httpGet, { path: "/", scheme: "HTTP" });
}

/** Sets a number that is absent or zero, for fields that are not pointers in Go. */
function setAbsentNumber(target: Part, field: string, value: number): void {
  if (!target[field]) target[field] = value;
}

const fileMode = 0o644;

function setVolumeDefaults(volume: Part): void {
  if (!Object.keys(volume).some((field) => field !== "name" && volume[field] !== null && volume[field] !== undefined))
    volume.emptyDir = {};
  for (const source of [volume.secret, volume.configMap, volume.downwardAPI, volume.projected])
    source && setAbsent(source, { defaultMode: fileMode });
  for (const item of items(volume.downwardAPI?.items)) setFieldRefDefaults(item.fieldRef);
  for (const source of items(volume.projected?.sources)) setProjectionDefaults(source);
  setHostPathDefaults(volume.hostPath);
  if (volume.iscsi) setAbsent(volume.iscsi, { iscsiInterface: "default" });
  if (volume.rbd) setAbsent(volume.rbd, { pool: "rbd", user: "admin", keyring: "/etc/ceph/keyring" });
  if (volume.azureDisk)
    setAbsent(volume.azureDisk, { cachingMode: "ReadWrite", fsType: "ext4", readOnly: false, kind: "Shared" });
  if (volume.scaleIO) setAbsent(volume.scaleIO, { storageMode: "ThinProvisioned", fsType: "xfs" });
  const claim = volume.ephemeral?.volumeClaimTemplate;
  if (claim) setAbsent(struct(claim, "spec"), { volumeMode: "Filesystem" });
  if (volume.image) setAbsent(volume.image, { pullPolicy: pullPolicyFor(volume.image.reference ?? "") });
}

/** Sets the defaults of a hostPath volume, of a pod or a persistent volume. */
export function setHostPathDefaults(hostPath: Part | undefined): void {
  if (hostPath) hostPath.type ??= "";
}

function setProjectionDefaults(source: Part): void {
  for (const item of items(source.downwardAPI?.items)) setFieldRefDefaults(item.fieldRef);
  if (source.serviceAccountToken) setAbsent(source.serviceAccountToken, { expirationSeconds: 3600 });
}

function setRequestsFromLimits(container: Part): void {
  const limits = container.resources?.limits;
  if (!limits) return;
  const requests = struct(container.resources, "requests");
  for (const [name, quantity] of Object.entries(limits))
    if (!Object.hasOwn(requests, name)) setMember(requests, name, quantity);
}
