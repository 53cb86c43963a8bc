/** Defaults of a pod's spec, alone or in a template. Source: core/v1 defaults. */
import { items, type Part, setAbsent, struct } from "../fields.ts";

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
  for (const volume of items(spec.volumes)) setVolumeDefaults(volume);
}

/** What only a pod itself gets, not a template. */
export function setPodDefaults(spec: Part): void {
  setAbsent(spec, { enableServiceLinks: true });
  for (const container of [...items(spec.containers), ...items(spec.initContainers)]) {
    requestWhatIsLimited(container);
    if (spec.hostNetwork === true) for (const port of items(container.ports)) setAbsentNumber(port, "hostPort", port.containerPort);
  }
}

const allContainers = (spec: Part): Part[] => [...items(spec.containers), ...items(spec.initContainers), ...items(spec.ephemeralContainers)];

/** `serviceAccount` is the old name of `serviceAccountName`; both are always shown. */
function mirrorServiceAccount(spec: Part): void {
  setAbsent(spec, { serviceAccountName: spec.serviceAccount ?? "" });
  if (spec.serviceAccountName === "") delete spec.serviceAccountName;
  else spec.serviceAccount = spec.serviceAccountName;
}

function setContainerDefaults(container: Part): void {
  setAbsent(container, {
    imagePullPolicy: pullPolicyFor(container.image ?? ""),
    terminationMessagePath: "/dev/termination-log",
    terminationMessagePolicy: "File",
  });
  for (const port of items(container.ports)) setAbsent(port, { protocol: "TCP" });
  for (const variable of items(container.env)) setFieldRefDefaults(variable.valueFrom?.fieldRef);
  for (const probe of [container.livenessProbe, container.readinessProbe, container.startupProbe]) setProbeDefaults(probe);
  for (const hook of [container.lifecycle?.postStart, container.lifecycle?.preStop]) setHttpGetDefaults(hook?.httpGet);
}

/** An image without a tag, or tagged latest, may have moved since it was pulled. A digest cannot. */
function pullPolicyFor(image: string): "Always" | "IfNotPresent" {
  if (image.includes("@")) return "IfNotPresent";
  const name = image.slice(image.lastIndexOf("/") + 1);
  const colon = name.indexOf(":");
  return colon < 0 || name.slice(colon + 1) === "latest" ? "Always" : "IfNotPresent";
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

/** Zero counts as absent where the field is no pointer. */
function setAbsentNumber(target: Part, field: string, value: number): void {
  if (!target[field]) target[field] = value;
}

const fileMode = 0o644;

function setVolumeDefaults(volume: Part): void {
  if (!Object.keys(volume).some((field) => field !== "name" && volume[field] !== null && volume[field] !== undefined)) volume.emptyDir = {};
  for (const source of [volume.secret, volume.configMap, volume.downwardAPI, volume.projected])
    source && setAbsent(source, { defaultMode: fileMode });
  for (const item of items(volume.downwardAPI?.items)) setFieldRefDefaults(item.fieldRef);
  for (const source of items(volume.projected?.sources)) setProjectionDefaults(source);
  setHostPathDefaults(volume.hostPath);
  if (volume.iscsi) setAbsent(volume.iscsi, { iscsiInterface: "default" });
  if (volume.rbd) setAbsent(volume.rbd, { pool: "rbd", user: "admin", keyring: "/etc/ceph/keyring" });
  if (volume.azureDisk) setAbsent(volume.azureDisk, { cachingMode: "ReadWrite", fsType: "ext4", readOnly: false, kind: "Shared" });
  if (volume.scaleIO) setAbsent(volume.scaleIO, { storageMode: "ThinProvisioned", fsType: "xfs" });
  const claim = volume.ephemeral?.volumeClaimTemplate?.spec;
  if (claim) setAbsent(claim, { volumeMode: "Filesystem" });
}

export function setHostPathDefaults(hostPath: Part | undefined): void {
  if (hostPath) hostPath.type ??= "";
}

function setProjectionDefaults(source: Part): void {
  for (const item of items(source.downwardAPI?.items)) setFieldRefDefaults(item.fieldRef);
  if (source.serviceAccountToken) setAbsent(source.serviceAccountToken, { expirationSeconds: 3600 });
}

function requestWhatIsLimited(container: Part): void {
  const limits = container.resources?.limits;
  if (!limits) return;
  const requests = struct(container.resources, "requests");
  for (const [name, quantity] of Object.entries(limits)) if (!Object.hasOwn(requests, name)) requests[name] = quantity;
}
