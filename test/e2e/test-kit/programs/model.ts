/** The plain model of a server: its objects, and what has changed since its informers listed them. */
import { type Kind, nameAt, userOf, verbOf } from "./kinds.ts";
import type { SentVersion, WriteStep } from "./program.ts";

/** An object as servers answer with it. */
export interface Answered {
  readonly metadata: { readonly name: string; readonly resourceVersion: string };
  readonly [field: string]: unknown;
}

/** The state of an object. */
export interface State {
  readonly value: number;
  readonly revision: number;
  /** The whole object without its resourceVersion. */
  readonly text: string;
}

/** A change of one object. */
export interface Change {
  readonly kind: Kind;
  readonly name: string;
  readonly before: State | undefined;
  readonly after: State | undefined;
}

/** Objects by `keyOf`. */
export type Objects = ReadonlyMap<string, State>;

/** What a server must have. */
export interface ServerModel {
  objects: Map<string, State>;
  /** Since the server started or was restored. */
  log: Change[];
  /** A revision at which the log begins. */
  floor: number;
  /** Watches from before this revision get 410. */
  expiredBefore: number;
  /** No change is newer. */
  newest: number;
}

export const keyOf = (kind: Kind, name: string): string => `${kind.name}/${name}`;

/** @returns the state in an answer */
export function stateOf(object: Answered, value: number): State {
  return { value, revision: Number(object.metadata.resourceVersion), text: textOf(object) };
}

/** @returns the object without what differs between lists, watches and answers, and without its resourceVersion */
export function textOf({ kind: _kind, apiVersion: _version, metadata, ...rest }: Answered): string {
  const { resourceVersion: _revision, ...others } = metadata;
  return JSON.stringify({ metadata: others, ...rest });
}

/** @returns an object as `name@revision text` */
export const lineOf = (object: Answered): string =>
  `${object.metadata.name}@${object.metadata.resourceVersion} ${textOf(object)}`;

/** @returns the model of a server that begins with these objects */
export function newModel(objects: Objects, revision: number): ServerModel {
  return { objects: new Map(objects), log: [], floor: revision, expiredBefore: revision, newest: revision };
}

/** @returns the resourceVersion that a write sends; undefined for none */
export function versionToSend(
  { version }: { readonly version: SentVersion },
  existing: State | undefined,
  elsewhere: State | undefined,
): number | undefined {
  if (existing === undefined || version === "none") return undefined;
  if (version === "current") return existing.revision;
  return version === "elsewhere" && elsewhere !== undefined ? elsewhere.revision : existing.revision - 1;
}

/** @returns the status of the answer to a write */
export function expectedStatus(
  verb: WriteStep["do"],
  kind: Kind,
  existing: State | undefined,
  sent: number | undefined,
): number {
  if (verb === "create") return existing === undefined ? 201 : 409;
  if (existing === undefined) return verb === "put" && kind.createsOnUpdate ? 201 : 404;
  if (verb === "put" && sent === undefined && !kind.updatesWithoutVersion) return 422;
  return sent === undefined || sent === existing.revision ? 200 : 409;
}

/** Records a change. */
export function change(model: ServerModel, kind: Kind, name: string, after: State | undefined): void {
  const key = keyOf(kind, name);
  const before = model.objects.get(key);
  if (after === undefined) model.objects.delete(key);
  else model.objects.set(key, after);
  if (before?.text !== after?.text) model.log.push({ kind, name, before, after });
}

/** Whether the Roles and RoleBindings permit a user to read ConfigMaps with this verb. */
export function isPermitted({ objects }: Pick<ServerModel, "objects">, user: string, verb: "get" | "list"): boolean {
  return Array.from({ length: 5 }, (_, index) => nameAt(index)).some((name) => {
    const binding = objects.get(`rolebindings/${name}`);
    const role = objects.get(`roles/${name}`);
    return binding !== undefined && role !== undefined && userOf(binding.value) === user && verbOf(role.value) === verb;
  });
}

/** What a watch must deliver of a change. */
export interface Expected {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly name: string;
  /** Undefined for a deletion, whose answer does not contain it. */
  readonly revision: number | undefined;
  readonly text: string;
}

/** @param parity of the values of the objects that the watch selects; undefined for all */
export function expectedEvents(log: readonly Change[], kind: Kind, parity: number | undefined): Expected[] {
  const selects = (state: State | undefined): state is State =>
    state !== undefined && (parity === undefined || state.value % 2 === parity);
  return log.flatMap(({ kind: changed, name, before, after }): Expected[] => {
    if (changed !== kind) return [];
    const revision = after?.revision;
    if (selects(after)) return [{ type: selects(before) ? "MODIFIED" : "ADDED", name, revision, text: after.text }];
    return selects(before) ? [{ type: "DELETED", name, revision, text: before.text }] : [];
  });
}

/** @returns the objects of a kind as {@link lineOf} formats them, in order */
export function objectsOf(objects: Objects, kind: Kind, parity?: number): string[] {
  return Array.from(objects)
    .filter(([key, { value }]) => key.startsWith(`${kind.name}/`) && (parity === undefined || value % 2 === parity))
    .map(([key, { revision, text }]) => `${key.slice(kind.name.length + 1)}@${revision} ${text}`)
    .sort();
}
