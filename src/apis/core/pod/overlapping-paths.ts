/**
 * Warnings for files in a volume that hide each other.
 * Source: `k8s.io/kubernetes@v1.36.0/pkg/api/pod/warnings.go`.
 */
import { quoteGo } from "../../../lib/json/quote.ts";
import { items, type Part } from "../../fields.ts";

/** What the files of a volume come from. */
interface Source {
  readonly kind: string;
  /** The name of the object; undefined for sources that are not objects. */
  readonly object?: string;
}

interface PlacedFile {
  readonly path: string;
  /** Undefined if the volume has a single source. */
  readonly source: Source | undefined;
}

interface Volume {
  readonly name: string;
  readonly source: Source;
  readonly files: PlacedFile[];
  /** Receives a warning for each pair of files with equal or nested paths. */
  readonly warnings: string[];
}

/** Maximum number of warnings. */
const overlapsMax = 1000;

/** @param warnings receives one for each pair of files with equal or nested paths */
export function warnOfOverlaps(volumes: readonly Part[], warnings: string[]): void {
  const end = warnings.length + overlapsMax;
  for (const { name = "", configMap, secret, downwardAPI, projected } of volumes) {
    const addTo = (source: Source, files: unknown): void =>
      addFiles({ name, source, files: [], warnings }, undefined, files);
    if (configMap?.items) addTo({ kind: "ConfigMap", object: configMap.name ?? "" }, configMap.items);
    if (secret?.items) addTo({ kind: "Secret", object: secret.secretName ?? "" }, secret.items);
    if (downwardAPI?.items) addTo({ kind: "DownwardAPI" }, downwardAPI.items);
    if (projected) addProjected({ name, source: { kind: "Projected" }, files: [], warnings }, items(projected.sources));
    if (warnings.length < end) continue;
    warnings.length = end;
    return;
  }
}

function addFiles(volume: Volume, source: Source | undefined, files: unknown): void {
  for (const { path = "" } of items(files)) addFile(volume, source, path);
}

function addProjected(volume: Volume, sources: readonly Part[]): void {
  for (const source of sources) {
    if (Object.values(source).every((value) => value === undefined))
      volume.warnings.push(`volume ${quoteGo(volume.name)} (Projected) has no sources provided`);
    else addProjection(volume, source);
  }
}

/** Adds the files of the first source that lists files. */
function addProjection(volume: Volume, projection: Part): void {
  const { configMap, secret, downwardAPI, serviceAccountToken, clusterTrustBundle, podCertificate } = projection;
  if (configMap?.items) addFiles(volume, { kind: "ConfigMap", object: configMap.name ?? "" }, configMap.items);
  else if (secret?.items) addFiles(volume, { kind: "Secret", object: secret.name ?? "" }, secret.items);
  else if (downwardAPI?.items) addFiles(volume, { kind: "DownwardAPI" }, downwardAPI.items);
  else if (serviceAccountToken) addFile(volume, { kind: "ServiceAccountToken" }, serviceAccountToken.path ?? "");
  else if (clusterTrustBundle) {
    const { name, signerName = "", path = "" } = clusterTrustBundle;
    addFile(volume, { kind: "ClusterTrustBundle", object: name ?? signerName }, path);
  } else {
    const { certificateChainPath = "", keyPath = "", credentialBundlePath = "" } = podCertificate ?? {};
    addFile(volume, { kind: "PodCertificate chain" }, certificateChainPath);
    addFile(volume, { kind: "PodCertificate key" }, keyPath);
    addFile(volume, { kind: "PodCertificate credential bundle" }, credentialBundlePath);
  }
}

/** Maximum number of files of a volume that are compared; further ones are ignored. */
const filesMax = 200;

/** Warns of each earlier file with an equal or nested path. */
function addFile({ name, source: ofVolume, files, warnings }: Volume, source: Source | undefined, path: string): void {
  const file = { path: withoutSlashes(path), source };
  if (file.path === "" || files.length >= filesMax) return;
  for (const other of files) {
    if (!isWithin(file.path, other.path) && !isWithin(other.path, file.path)) continue;
    const what = `volume ${quoteGo(name)} (${shownSource(ofVolume)})`;
    warnings.push(`${what}: overlapping paths: ${shownFile(file)} with ${shownFile(other)}`);
  }
  files.push(file);
}

function withoutSlashes(path: string): string {
  let end = path.length;
  while (path[end - 1] === "/") end--;
  return path.slice(0, end);
}

const isWithin = (inner: string, outer: string): boolean =>
  inner.startsWith(outer) && (inner.length === outer.length || inner[outer.length] === "/");

const shownSource = ({ kind, object }: Source): string => (object === undefined ? kind : `${kind} ${quoteGo(object)}`);

const shownFile = ({ path, source }: PlacedFile): string =>
  source === undefined ? quoteGo(path) : `${quoteGo(path)} (${shownSource(source)})`;
