/** Stored form of policies and bindings. Upstream: api/admissionregistration/v1/types.go. */
import type { LabelSelectorSource } from '#apimachinery/labels/selector';
import type { KubeObject } from '#apimachinery/meta/types';
import type { MatchCondition } from '#apiserver/admission/cel/match-conditions';
import type { MatchResourcesSource } from './match-resources.ts';

export interface ParamKind {
  readonly apiVersion?: string;
  readonly kind?: string;
}

export interface ParamRef {
  readonly name?: string;
  readonly namespace?: string;
  readonly selector?: LabelSelectorSource;
  readonly parameterNotFoundAction?: string;
}

export interface PolicySpec {
  readonly paramKind?: ParamKind;
  readonly matchConstraints?: MatchResourcesSource;
  readonly failurePolicy?: string;
  readonly matchConditions?: readonly MatchCondition[];
  readonly variables?: readonly { readonly name: string; readonly expression: string }[];
}

export interface Validation {
  readonly expression: string;
  readonly message?: string;
  readonly reason?: string;
  readonly messageExpression?: string;
}

export interface AuditAnnotation {
  readonly key: string;
  readonly valueExpression: string;
}

export interface ValidatingPolicySpec extends PolicySpec {
  readonly validations?: readonly Validation[];
  readonly auditAnnotations?: readonly AuditAnnotation[];
}

export interface Mutation {
  readonly patchType: string;
  readonly applyConfiguration?: { readonly expression?: string };
  readonly jsonPatch?: { readonly expression?: string };
}

export interface MutatingPolicySpec extends PolicySpec {
  readonly mutations?: readonly Mutation[];
  readonly reinvocationPolicy?: string;
}

export interface Policy<S extends PolicySpec = PolicySpec> extends KubeObject {
  readonly spec?: S;
}

export interface PolicyBinding extends KubeObject {
  readonly spec?: {
    readonly policyName?: string;
    readonly paramRef?: ParamRef;
    readonly matchResources?: MatchResourcesSource;
    readonly validationActions?: readonly string[];
  };
}
