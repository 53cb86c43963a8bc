/** Stored objects that several servers of a process read and do not change. */
import type { KubeObject } from "../apimachinery/object.ts";
import type { ResourceStore } from "../catalog/contract.ts";
import type { Entry } from "../watch-cache/contract.ts";
import { derivedOnce } from "../watch-cache/derived-once.ts";

/** Decodes an entry of the store. Callers must not change the object. */
export const decodedOnce = derivedOnce((entry: Entry, store: ResourceStore): KubeObject => store.decode(entry));
