/**
 * Defaults of admission policies and webhook configurations. Upstream: pkg/apis/admissionregistration/v1/defaults.go and
 * zz_generated.defaults.go.
 */
import type {
  MatchResources,
  MutatingAdmissionPolicy,
  MutatingAdmissionPolicyBinding,
  MutatingWebhookConfiguration,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
  ValidatingWebhook,
  ValidatingWebhookConfiguration,
} from '#kubernetes/schema/admissionregistration_v1.gen';

function defaultWebhook(webhook: ValidatingWebhook): void {
  webhook.failurePolicy ??= 'Fail';
  webhook.matchPolicy ??= 'Equivalent';
  webhook.namespaceSelector ??= {};
  webhook.objectSelector ??= {};
  webhook.timeoutSeconds ??= 10;
  const service = webhook.clientConfig?.service;
  if (service !== undefined) service.port ??= 443;
  defaultRules(webhook.rules);
}

function defaultRules(rules: readonly { scope?: string }[] | undefined): void {
  for (const rule of rules ?? []) rule.scope ??= '*';
}

export function defaultValidatingWebhookConfiguration({ webhooks }: ValidatingWebhookConfiguration): void {
  for (const webhook of webhooks ?? []) defaultWebhook(webhook);
}

export function defaultMutatingWebhookConfiguration({ webhooks }: MutatingWebhookConfiguration): void {
  for (const webhook of webhooks ?? []) {
    defaultWebhook(webhook);
    webhook.reinvocationPolicy ??= 'Never';
  }
}

function defaultMatchResources(match: MatchResources | undefined): void {
  if (match === undefined) return;
  match.matchPolicy ??= 'Equivalent';
  match.namespaceSelector ??= {};
  match.objectSelector ??= {};
  defaultRules(match.resourceRules);
  defaultRules(match.excludeResourceRules);
}

/** Defaults of validating and mutating policies. */
export function defaultAdmissionPolicy(policy: ValidatingAdmissionPolicy | MutatingAdmissionPolicy): void {
  const spec = (policy.spec ??= {});
  spec.failurePolicy ??= 'Fail';
  defaultMatchResources(spec.matchConstraints);
}

/** Defaults of the bindings of validating and mutating policies. */
export function defaultAdmissionPolicyBinding({ spec }: ValidatingAdmissionPolicyBinding | MutatingAdmissionPolicyBinding): void {
  defaultMatchResources(spec?.matchResources);
}
