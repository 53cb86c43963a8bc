/** The views of the model's observers: collections, parts of them, and selections. */

/** The part of an object that the model compares. */
export interface State {
  /** `namespace/name` */
  readonly key: string;
  readonly uid: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly nodeName: string;
  readonly phase: string;
  /** Marked for deletion. */
  readonly going: boolean;
  /** Everything that the model's writers change, so that equal texts are equal objects. */
  readonly text: string;
}

export const collections = ["configmaps", "pods"] as const;
export type Collection = (typeof collections)[number];

export interface View {
  readonly collection: Collection;
  /** The path of the list; undefined if only one object is watched. */
  readonly list: string | undefined;
  readonly watch: string;
  /** Selectors, each with a `&` before it. */
  readonly query: string;
  selects(state: State): boolean;
}

export const namespaces = ["a", "b"] as const;
export const nameCount = 24;

// biome-ignore lint/suspicious/noExplicitAny: answers are read as JSON.
export type Answered = any;

/** @returns undefined for objects that are not the model's */
export function stateOf({ metadata, data, spec, status }: Answered): State | undefined {
  if (!/^n\d+$/.test(metadata.name) || !(namespaces as readonly string[]).includes(metadata.namespace))
    return undefined;
  const state = {
    key: `${metadata.namespace}/${metadata.name}`,
    uid: metadata.uid as string,
    labels: metadata.labels ?? {},
    nodeName: spec?.nodeName ?? "",
    phase: status?.phase ?? "",
    going: metadata.deletionTimestamp !== undefined,
  };
  const token = [data?.token, metadata.annotations?.token, status?.message];
  return { ...state, text: JSON.stringify([state, token]) };
}

const maps = "/api/v1/configmaps";
const mapsIn = (namespace: string): string => `/api/v1/namespaces/${namespace}/configmaps`;
const pods = "/api/v1/pods";
const podsIn = (namespace: string): string => `/api/v1/namespaces/${namespace}/pods`;
const within =
  (namespace: string) =>
  ({ key }: State): boolean =>
    key.startsWith(`${namespace}/`);
const labels = (selector: string): string => `&labelSelector=${encodeURIComponent(selector)}`;
const fields = (selector: string): string => `&fieldSelector=${encodeURIComponent(selector)}`;
const view = (collection: Collection, path: string, query: string, selects: View["selects"]): View => ({
  collection,
  list: path,
  watch: path,
  query,
  selects,
});
const one = (path: string, key: string): View => ({
  collection: "configmaps",
  list: undefined,
  watch: path,
  query: "",
  selects: (state) => state.key === key,
});

export const views: readonly View[] = [
  view("configmaps", maps, "", () => true),
  view("configmaps", mapsIn("a"), "", within("a")),
  view("configmaps", mapsIn("b"), labels("x=1"), (state) => within("b")(state) && state.labels.x === "1"),
  view("configmaps", mapsIn("a"), labels("x!=1"), (state) => within("a")(state) && state.labels.x !== "1"),
  view(
    "configmaps",
    maps,
    labels("y,x in (0,1)"),
    (state) => state.labels.y !== undefined && state.labels.x !== undefined,
  ),
  view("configmaps", mapsIn("a"), fields("metadata.name=n3"), ({ key }) => key === "a/n3"),
  view(
    "configmaps",
    maps,
    fields("metadata.name!=n3,metadata.namespace=b"),
    (state) => within("b")(state) && state.key !== "b/n3",
  ),
  one(`${mapsIn("a")}/n3`, "a/n3"),
  one("/api/v1/watch/namespaces/b/configmaps/n4", "b/n4"),
  view("pods", pods, "", () => true),
  view("pods", pods, fields("spec.nodeName=node1"), ({ nodeName }) => nodeName === "node1"),
  view("pods", pods, fields("spec.nodeName="), ({ nodeName }) => nodeName === ""),
  view("pods", podsIn("a"), fields("status.phase=Running"), (state) => within("a")(state) && state.phase === "Running"),
  view("pods", podsIn("b"), labels("x=1") + fields("spec.nodeName=node2"), (state) => {
    return within("b")(state) && state.labels.x === "1" && state.nodeName === "node2";
  }),
];
