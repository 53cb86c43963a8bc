/** Node selectors by namespace, and that of namespaces without an annotation. */
export interface NodeSelectorConfiguration {
  /** Selectors such as `a=b,c=d`, by namespace; `clusterDefaultNodeSelector` is the default. */
  readonly selectors: ReadonlyMap<string, string>;
}
