/** The one typed place that is asked for a gate. */
export interface FeatureGates {
  /** @throws AssertionError when no such gate is known: a mistake of ours */
  enabled(name: string): boolean;
}
