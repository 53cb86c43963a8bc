/** Changes of other objects in the commit of a write, such as the usage of a quota. */
import type { JointWrite, UpdateStatus } from "../admission/contract.ts";
import type { KubeObject } from "../apimachinery/object.ts";
import { loopbackUser } from "../apimachinery/system-user.ts";
import { storeOf } from "../catalog/catalog.ts";
import type { Encoded } from "../lib/schema/encode.ts";
import type { DerivedWrite, Seal, Stored } from "../storage/contract.ts";
import { entryFromStored } from "../watch-cache/entry.ts";
import type { RegistryContext } from "./contract.ts";
import { trackManagedFields } from "./managed-fields/track.ts";

type Encode = (object: KubeObject) => { readonly encoded: Encoded; readonly seal: Seal };

/** The field manager of the server's own writes, as upstream. */
const manager = "kube-apiserver";

/** Converts a joint write to one of the storage engine. */
export function derivedWrite(registry: RegistryContext, joint: JointWrite, encode: Encode): DerivedWrite {
  return {
    key: joint.key,
    derive(newest) {
      if (newest === undefined) return undefined;
      return joint.derive(newest, statusUpdate(registry, joint, newest, encode));
    },
  };
}

/** Neither admission nor validation runs for this update: it happens while a commit is decided. */
function statusUpdate(registry: RegistryContext, { target }: JointWrite, newest: Stored, encode: Encode): UpdateStatus {
  return (change) => {
    const store = storeOf(target.resource);
    const entry = entryFromStored(newest, store.source);
    const [object, old] = [store.decode(entry), store.decode(entry)];
    change(object);
    const { namespace, name } = entry.index;
    const writer = { user: loopbackUser, dryRun: false, fieldManager: manager, userAgent: manager, warnings: [] };
    trackManagedFields(registry, { target, namespace, name, subresource: "status", ...writer }, object, old);
    const { encoded, seal } = encode(object);
    return { value: encoded.json, seal, object };
  };
}
