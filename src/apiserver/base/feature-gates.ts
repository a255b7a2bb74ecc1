/** Feature gates by upstream's names. Upstream: component-base/featuregate. */
export interface FeatureGates {
  /** Returns true if a feature is enabled. Throws for an unknown name. */
  enabled(name: string): boolean;
}

export const FeatureGates = Symbol.for('kubenest.FeatureGates');
