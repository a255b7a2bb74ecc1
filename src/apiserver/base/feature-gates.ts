/** Which features of upstream's are on. Upstream: component-base/featuregate. */
export interface FeatureGates {
  /** Throws for a name that no feature has. */
  enabled(name: string): boolean;
}

export const FeatureGates = Symbol.for('kubenest.FeatureGates');
