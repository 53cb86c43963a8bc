/**
 * Warnings for files in a volume that hide each other.
 * Source: `k8s.io/kubernetes@v1.36.0/pkg/api/pod/warnings.go`.
 */
import { quoteGo } from "../../../lib/json/quote.ts";
import { items, type Part } from "../../fields.ts";

interface PlacedFile {
  readonly path: string;
  /** Empty if the volume has a single source. */
  readonly source: string;
}

/** Maximum number of warnings. */
const overlapsMax = 1000;

/** @param warnings receives one for each pair of files with equal or nested paths */
export function warnOfOverlaps(volumes: readonly Part[], warnings: string[]): void {
  const end = warnings.length + overlapsMax;
  for (const { name = "", configMap, secret, downwardAPI, projected } of volumes) {
    if (configMap?.items)
      warnings.push(...fileWarnings(name, `ConfigMap ${quoteGo(configMap.name ?? "")}`, configMap.items));
    if (secret?.items) warnings.push(...fileWarnings(name, `Secret ${quoteGo(secret.secretName ?? "")}`, secret.items));
    if (downwardAPI?.items) warnings.push(...fileWarnings(name, "DownwardAPI", downwardAPI.items));
    if (projected) warnings.push(...projectedWarnings(name, items(projected.sources)));
    if (warnings.length < end) continue;
    warnings.length = end;
    return;
  }
}

function fileWarnings(volume: string, what: string, files: unknown): string[] {
  const taken: PlacedFile[] = [];
  return filesOf(files, "").flatMap((file) => addFile(file, taken, warningPrefix(volume, what)));
}

const warningPrefix = (volume: string, what: string): string =>
  `volume ${quoteGo(volume)} (${what}): overlapping paths:`;

function filesOf(files: unknown, source: string): PlacedFile[] {
  return items(files).map(({ path = "" }) => ({ path, source }));
}

function projectedWarnings(volume: string, sources: readonly Part[]): string[] {
  const taken: PlacedFile[] = [];
  return sources.flatMap((source) => {
    if (Object.values(source).every((value) => value === undefined))
      return [`volume ${quoteGo(volume)} (Projected) has no sources provided`];
    return projectedFiles(source).flatMap((file) => addFile(file, taken, warningPrefix(volume, "Projected")));
  });
}

/** @returns the files of the first source that lists files */
function projectedFiles({
  configMap,
  secret,
  downwardAPI,
  serviceAccountToken,
  clusterTrustBundle,
  podCertificate,
}: Part): PlacedFile[] {
  if (configMap?.items) return filesOf(configMap.items, `ConfigMap ${quoteGo(configMap.name ?? "")}`);
  if (secret?.items) return filesOf(secret.items, `Secret ${quoteGo(secret.name ?? "")}`);
  if (downwardAPI?.items) return filesOf(downwardAPI.items, "DownwardAPI");
  if (serviceAccountToken) return [{ path: serviceAccountToken.path ?? "", source: "ServiceAccountToken" }];
  if (clusterTrustBundle) {
    const { name, signerName = "", path = "" } = clusterTrustBundle;
    return [{ path, source: `ClusterTrustBundle ${quoteGo(name ?? signerName)}` }];
  }
  const { certificateChainPath = "", keyPath = "", credentialBundlePath = "" } = podCertificate ?? {};
  return [
    { path: certificateChainPath, source: "PodCertificate chain" },
    { path: keyPath, source: "PodCertificate key" },
    { path: credentialBundlePath, source: "PodCertificate credential bundle" },
  ].filter(({ path }) => path !== "");
}

/** Maximum number of files of a volume that are compared; further ones are ignored. */
const filesMax = 200;

/** @returns a warning for each earlier file with an equal or nested path */
function addFile({ path, source }: PlacedFile, taken: PlacedFile[], what: string): string[] {
  const file = { path: withoutSlashes(path), source };
  if (file.path === "" || taken.length >= filesMax) return [];
  const others = taken.filter(({ path }) => isWithin(file.path, path) || isWithin(path, file.path));
  taken.push(file);
  return others.map((other) => `${what} ${shown(file)} with ${shown(other)}`);
}

function withoutSlashes(path: string): string {
  let end = path.length;
  while (path[end - 1] === "/") end--;
  return path.slice(0, end);
}

const isWithin = (inner: string, outer: string): boolean =>
  inner.startsWith(outer) && (inner.length === outer.length || inner[outer.length] === "/");

const shown = ({ path, source }: PlacedFile): string =>
  source === "" ? quoteGo(path) : `${quoteGo(path)} (${source})`;
