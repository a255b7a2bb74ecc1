import type { KubeObject, LabelSelectorSource } from 'kubenest/sdk';
import type { NamedRuleWithOperations, WebhookClientConfig } from '#sdk/internal';

/** A match condition of admissionregistration.k8s.io/v1. */
export interface MatchCondition {
  readonly name: string;
  readonly expression: string;
}
/** A webhook of either type. */
export interface WebhookSpec {
  readonly name: string;
  readonly clientConfig: WebhookClientConfig;
  readonly rules?: readonly NamedRuleWithOperations[];
  readonly failurePolicy?: string;
  readonly matchPolicy?: string;
  readonly namespaceSelector?: LabelSelectorSource;
  readonly objectSelector?: LabelSelectorSource;
  readonly sideEffects?: string;
  readonly timeoutSeconds?: number;
  readonly admissionReviewVersions?: readonly string[];
  readonly reinvocationPolicy?: string;
  readonly matchConditions?: readonly MatchCondition[];
}
/** The part that the configurations of both types have in common. */
export interface WebhookConfiguration extends KubeObject {
  readonly webhooks?: readonly WebhookSpec[];
}
