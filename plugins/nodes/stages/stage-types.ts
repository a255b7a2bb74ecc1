/** The kind Stage of kwok.x-k8s.io/v1alpha1, as far as it is supported. Upstream: kwok/pkg/apis/v1alpha1/stage_types.go. */
export interface StageObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata?: { readonly name?: string };
  readonly spec?: StageSpec;
}

export interface StageSpec {
  readonly resourceRef?: { readonly apiGroup?: string; readonly kind?: string };
  readonly selector?: StageSelector;
  readonly weight?: number;
  readonly weightFrom?: ValueFrom;
  readonly delay?: StageDelay;
  readonly next?: StageNext;
  readonly steps?: readonly StageStep[];
  /** The next stage is always chosen at once, from the server's response. */
  readonly immediateNextStage?: boolean;
}

export interface StageSelector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchAnnotations?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly StageExpression[];
}

interface JqRequirement {
  readonly key?: string;
  readonly operator?: string;
  readonly values?: readonly string[];
}
export interface StageExpression extends JqRequirement {
  readonly jq?: JqRequirement;
  readonly cel?: object;
}

export interface ValueFrom {
  readonly expressionFrom?: string;
  readonly jq?: { readonly expression?: string };
  readonly cel?: object;
}

export interface StageDelay {
  readonly durationMilliseconds?: number;
  readonly durationFrom?: ValueFrom;
  readonly jitterDurationMilliseconds?: number;
  readonly jitterDurationFrom?: ValueFrom;
}

export interface StageEvent {
  readonly type?: string;
  readonly reason?: string;
  readonly message?: string;
}

export interface StageFinalizers {
  readonly add?: readonly { readonly value?: string }[];
  readonly remove?: readonly { readonly value?: string }[];
  readonly empty?: boolean;
}

export interface StagePatch {
  readonly subresource?: string;
  readonly root?: string;
  readonly template?: string;
  readonly type?: string;
  readonly impersonation?: object;
}

export interface StageStep {
  readonly event?: StageEvent;
  readonly finalizers?: StageFinalizers;
  readonly patch?: StagePatch;
  readonly delete?: boolean;
  readonly apply?: object;
}

export interface StageNext extends Omit<StageStep, 'patch' | 'apply'> {
  readonly patches?: readonly StagePatch[];
  readonly statusTemplate?: string;
  readonly statusSubresource?: string;
  readonly statusPatchAs?: object;
}
