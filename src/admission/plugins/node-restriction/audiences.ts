/**
 * A node can request tokens for the audiences of the pod's projected tokens, those of the CSI
 * drivers of its volumes, and those that the authorizer allows with the verb
 * `request-serviceaccounts-token-audience`.
 */
import type { ApiError } from "../../../apimachinery/errors.ts";
import type { KubeObject } from "../../../apimachinery/object.ts";
import { joinErrors, quoteGo } from "../../../lib/json/quote.ts";
import { rejection } from "../../rejection.ts";
import type { FindObject, LookedUpKind, NodeWrite } from "./contract.ts";
import { absent } from "./find-object.ts";

// biome-ignore lint/suspicious/noExplicitAny: the schema has checked the types.
type Part = Record<string, any>;

/**
 * @param audiences of the token; empty means the audience of the API server
 * @throws ApiError 403
 */
export async function checkAudience(write: NodeWrite, audiences: readonly string[], pod: KubeObject): Promise<void> {
  const { attributes, find, needs } = write;
  if (audiences.length > 1) throw rejection(attributes, "node may only request 0 or 1 audiences");
  const [audience = ""] = audiences;
  const named = await namesAudience(find, pod, audience);
  if (named === true) return;
  if (named.length > 0)
    throw rejection(attributes, `error validating audience ${quoteGo(audience)}: ${joinErrors(named)}`);
  const { decision } = await needs.authorize(audienceRequest(write, audience));
  if (decision === "allow") return;
  const why = `audience ${quoteGo(audience)} not found in pod spec volume, ${attributes.user.name} is not authorized to request tokens for this audience`;
  throw rejection(attributes, why);
}

function audienceRequest(
  { attributes: { user, namespace, name } }: NodeWrite,
  audience: string,
): Parameters<NodeWrite["needs"]["authorize"]>[0] {
  const nothing = { path: "", subresource: "", fieldSelector: "", labelSelector: "" };
  return {
    ...nothing,
    user,
    verb: "request-serviceaccounts-token-audience",
    isResourceRequest: true,
    group: "",
    version: "v1",
    resource: audience,
    namespace,
    name,
  };
}

/** @returns true if a volume names the audience; otherwise the lookups that failed */
async function namesAudience(find: FindObject, pod: KubeObject, audience: string): Promise<true | string[]> {
  const problems: string[] = [];
  for (const volume of pod.spec?.volumes ?? []) {
    if (projectedAudiences(volume).includes(audience)) return true;
    const result = await driverNamesAudience(find, pod, volume, audience);
    if (result === true) return true;
    if (result !== false) problems.push(result.message);
  }
  return problems;
}

function projectedAudiences(volume: Part): string[] {
  const sources: Part[] = volume.projected?.sources ?? [];
  return sources.flatMap(({ serviceAccountToken: token }) => (token === undefined ? [] : [token.audience ?? ""]));
}

async function driverNamesAudience(
  find: FindObject,
  pod: KubeObject,
  volume: Part,
  audience: string,
): Promise<boolean | ApiError> {
  const driver = await driverOfVolume(find, pod, volume);
  if (driver === "") return false;
  if (typeof driver !== "string") return driver;
  const object = await findOrError(find, "csidriver", "", driver);
  if (object instanceof Error) return object;
  return (object.spec?.tokenRequests ?? []).some((request: Part) => (request.audience ?? "") === audience);
}

/** In-tree volume sources, and the CSI drivers that replace them. */
const migrated: readonly (readonly [source: string, driver: string])[] = [
  ["awsElasticBlockStore", "ebs.csi.aws.com"],
  ["azureDisk", "disk.csi.azure.com"],
  ["azureFile", "file.csi.azure.com"],
  ["cinder", "cinder.csi.openstack.org"],
  ["gcePersistentDisk", "pd.csi.storage.gke.io"],
  ["portworxVolume", "pxd.portworx.com"],
  ["vsphereVolume", "csi.vsphere.vmware.com"],
];

function driverOfSource(source: Part): string {
  return source.csi?.driver ?? migrated.find(([name]) => source[name] !== undefined)?.[1] ?? "";
}

/** @returns empty if no CSI driver serves the volume */
async function driverOfVolume(find: FindObject, { metadata }: KubeObject, volume: Part): Promise<string | ApiError> {
  const { name = "", namespace = "" } = metadata;
  const claim =
    volume.ephemeral?.volumeClaimTemplate === undefined
      ? volume.persistentVolumeClaim?.claimName
      : `${name}-${volume.name}`;
  return claim === undefined ? driverOfSource(volume) : driverOfClaim(find, namespace, claim);
}

async function driverOfClaim(find: FindObject, namespace: string, name: string): Promise<string | ApiError> {
  const claim = await findOrError(find, "persistentvolumeclaim", namespace, name);
  if (claim instanceof Error) return claim;
  const volume = await findOrError(find, "persistentvolume", "", claim.spec?.volumeName ?? "");
  return volume instanceof Error ? volume : driverOfSource(volume.spec ?? {});
}

async function findOrError(
  find: FindObject,
  kind: LookedUpKind,
  namespace: string,
  name: string,
): Promise<KubeObject | ApiError> {
  return (await find(kind, namespace, name)) ?? absent(kind, name);
}
