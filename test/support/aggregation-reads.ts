/** The documents that an API server makes of its own and of other servers, reduced to what depends on the others. */

/** A document to read. */
export interface AggregationRead {
  readonly path: string;
  readonly accept: string;
  /** The part of the document that depends on other servers, or on the order of groups. */
  // biome-ignore lint/suspicious/noExplicitAny: the parts of documents of several kinds.
  readonly pick: (document: any) => unknown;
}

const json = "application/json";
const aggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
const isOther = (name: string): boolean => name.includes("example.com") || name.includes("com.example.");
const all = (document: unknown): unknown => document;

/** @returns the members that satisfy `keep` */
function members(object: object | undefined, keep: (name: string) => boolean): object {
  return Object.fromEntries(Object.entries(object ?? {}).filter(([name]) => keep(name)));
}

interface Group {
  readonly metadata: { readonly name: string };
  readonly versions: readonly { readonly version: string }[];
}

export const aggregationReads: readonly AggregationRead[] = [
  { path: "/", accept: json, pick: ({ paths }) => paths.filter(isOther) },
  { path: "/apis", accept: json, pick: all },
  { path: "/apis/", accept: json, pick: ({ groups }) => groups.length },
  { path: "/apis/fast.example.com", accept: json, pick: all },
  { path: "/apis/mixed.example.com", accept: json, pick: all },
  { path: "/apis/missing.example.com", accept: json, pick: all },
  {
    path: "/apis",
    accept: aggregated,
    pick: ({ items }: { items: Group[] }) =>
      items.map((item) =>
        isOther(item.metadata.name)
          ? item
          : [item.metadata.name, ...item.versions.map(({ version }) => version)].join(" "),
      ),
  },
  {
    path: "/openapi/v3",
    accept: json,
    pick: ({ paths }) =>
      Object.entries(members(paths, isOther)).map(([name, { serverRelativeURL }]) => [
        name,
        /legacy|mixed/.test(name) ? serverRelativeURL.replace(/=.*/, "=") : serverRelativeURL,
      ]),
  },
  { path: "/openapi/v3/apis/legacy.example.com/v1", accept: json, pick: all },
  {
    path: "/openapi/v2",
    accept: json,
    pick: ({ paths, definitions, parameters, securityDefinitions, info: { title } }) => ({
      title,
      paths: members(paths, (name) => isOther(name) && !name.startsWith("/apis/mixed.")),
      definitions: members(definitions, (name) => (isOther(name) && !name.includes("mixed")) || /_v\d+$/.test(name)),
      parameters: members(parameters, (name) => /_v\d+$/.test(name)),
      securityDefinitions,
    }),
  },
];
