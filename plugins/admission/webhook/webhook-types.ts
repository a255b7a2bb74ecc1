import type { KubeObject, LabelSelectorSource, NamedRuleWithOperations } from 'kubenest/sdk';

/** admissionregistration.k8s.io/v1. */
export interface MatchCondition {
  readonly name: string;
  readonly expression: string;
}
export interface ClientConfig {
  readonly url?: string;
  readonly service?: { readonly namespace: string; readonly name: string; readonly path?: string; readonly port?: number };
  /** base64 of PEM. */
  readonly caBundle?: string;
}
/** A webhook of either kind. */
export interface WebhookSpec {
  readonly name: string;
  readonly clientConfig: ClientConfig;
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
export interface WebhookConfiguration extends KubeObject {
  readonly webhooks?: readonly WebhookSpec[];
}
