import {
  type Attributes,
  type GroupVersionKind,
  type GroupVersionResource,
  type LabelSelector,
  labelSelectorAsSelector,
} from 'kubenest/sdk';
import { matchingRules } from '#sdk/internal';
import type { WebhookConfiguration, WebhookSpec } from './webhook-types.ts';

/** A webhook of a configuration, precompiled when the configuration changes. */
export interface Hook {
  readonly spec: WebhookSpec;
  readonly configuration: string;
  /** Unique id; configurations may contain several webhooks with the same name. */
  readonly uid: string;
  /** Index among all webhooks of its type. */
  readonly index: number;
  /** Selectors, or their error, which is thrown when they are evaluated. */
  readonly namespaceSelector: LabelSelector | Error;
  readonly objectSelector: LabelSelector | Error;
}

/** A webhook with the resource and kind in which it expects the request. */
export interface Invocation {
  readonly hook: Hook;
  readonly resource: GroupVersionResource;
  readonly kind: GroupVersionKind;
}

/**
 * Compiles the webhooks of configurations, sorted by configuration name; `first` is the index of the first one. Upstream:
 * configuration/mutating_webhook_manager.go.
 */
export function hooksOf(configurations: readonly WebhookConfiguration[], first = 0, prefix = ''): Hook[] {
  const sorted = [...configurations].sort((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1));
  const hooks: Hook[] = [];
  for (const { metadata, webhooks = [] } of sorted) {
    const seen = new Map<string, number>();
    for (const spec of webhooks) {
      const number = seen.get(spec.name) ?? 0;
      seen.set(spec.name, number + 1);
      hooks.push({
        spec,
        configuration: metadata.name ?? '',
        uid: `${prefix}${metadata.name}/${spec.name}/${number}`,
        index: first + hooks.length,
        namespaceSelector: parsed(spec.namespaceSelector),
        objectSelector: parsed(spec.objectSelector),
      });
    }
  }
  return hooks;
}

function parsed(source: WebhookSpec['namespaceSelector']): LabelSelector | Error {
  try {
    return labelSelectorAsSelector(source);
  } catch (error) {
    return error as Error;
  }
}

/** True if a webhook may be called for a dry run. */
export function hasNoSideEffects({ sideEffects }: WebhookSpec): boolean {
  return sideEffects === 'None' || sideEffects === 'NoneOnDryRun';
}

/** Matches a request against a webhook's rules. Returns the expected resource and kind; undefined without a match. */
export function invocationOf(hook: Hook, request: Attributes): Invocation | undefined {
  const { rules = [], matchPolicy } = hook.spec;
  const [found] = matchingRules(rules, matchPolicy !== 'Equivalent', request);
  return found && { hook, resource: found.resource, kind: found.kind };
}
