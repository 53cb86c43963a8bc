/** Lists the pods and pod controllers of a namespace on a server. */
import { formatGroupVersion, type KubeObject } from "../../apimachinery/object.ts";
import { type PodTemplateKind, podTemplateKinds } from "../../lib/pod-security/pod-templates.ts";
import { RequestRejected, type Sender } from "../client/ask.ts";
import { listAll } from "../client/list-all.ts";
import { type CheckedObject, checkedObject } from "./read-objects.ts";

/**
 * Kinds whose objects are not shown if a listed object of the other kind controls them. They repeat
 * its template, or are left of an older one; the pods that they have are listed.
 */
const controllers: ReadonlyMap<string, string> = new Map([
  ["ReplicaSet", "Deployment"],
  ["Job", "CronJob"],
]);

interface Listed {
  readonly object: KubeObject;
  readonly kind: PodTemplateKind;
}

/**
 * Lists the pods of a namespace, and the controllers from whose templates new pods are created.
 *
 * @throws RequestRejected if the user must not list one of the kinds, because the result would not
 *   be complete
 */
export async function listObjects(server: Sender, namespace: string): Promise<CheckedObject[]> {
  const listed: Listed[] = [];
  for (const kind of podTemplateKinds)
    for (const object of await listKind(server, namespace, kind)) listed.push({ object, kind });
  const kindsByUid = new Map(listed.map(({ object, kind }) => [object.metadata.uid, kind.kind]));
  const isControlled = ({ object, kind }: Listed): boolean => {
    const owner = object.metadata.ownerReferences?.find(({ controller }) => controller === true);
    return (
      owner !== undefined && controllers.has(kind.kind) && kindsByUid.get(owner.uid) === controllers.get(kind.kind)
    );
  };
  return listed
    .filter((one) => !isControlled(one))
    .map(({ object, kind }) => checkedObject(object as unknown as Record<string, unknown>, kind));
}

/** A server that does not serve the kind has no objects of it. */
async function listKind(
  server: Sender,
  namespace: string,
  { group, resource }: PodTemplateKind,
): Promise<KubeObject[]> {
  const root = group === "" ? "/api/v1" : `/apis/${formatGroupVersion(group, "v1")}`;
  try {
    return await listAll(server, `${root}/namespaces/${encodeURIComponent(namespace)}/${resource}`);
  } catch (error) {
    if (error instanceof RequestRejected && error.status === 404) return [];
    throw error;
  }
}
