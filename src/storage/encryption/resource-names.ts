/** Names of resources in an EncryptionConfiguration. Source: schema.ParseGroupResource in k8s.io/apimachinery@v0.36.0. */

/** The parts of a name such as `deployments.apps`; both can be `*`. */
export interface NamedResource {
  readonly group: string;
  readonly resource: string;
}

export function parseGroupResource(name: string): NamedResource {
  const dot = name.indexOf(".");
  return dot < 0 ? { group: "", resource: name } : { group: name.slice(dot + 1), resource: name.slice(0, dot) };
}

/** As in the file: `*.` for all resources of the core group. */
export function formatNamed({ group, resource }: NamedResource): string {
  if (group !== "") return `${resource}.${group}`;
  return resource === "*" ? "*." : resource;
}
