import {
  type Attributes,
  type GroupVersionKind,
  type GroupVersionResource,
  type LabelSelector,
  labelSelectorAsSelector,
  matchingRules,
} from 'kubenest/sdk';
import type { WebhookConfiguration, WebhookSpec } from './webhook-types.ts';

/** One webhook of a configuration, made ready when the configuration changes. */
export interface Hook {
  readonly spec: WebhookSpec;
  readonly configuration: string;
  /** Unique: configurations may name several webhooks alike. */
  readonly uid: string;
  /** Its place among all webhooks of its sort. */
  readonly index: number;
  /** What is wrong with its selectors, told when they are asked. */
  readonly namespaceSelector: LabelSelector | Error;
  readonly objectSelector: LabelSelector | Error;
}

/** A webhook and the form in which it wants to see the objects of a request. */
export interface Invocation {
  readonly hook: Hook;
  readonly resource: GroupVersionResource;
  readonly kind: GroupVersionKind;
}

/** The webhooks of configurations, in the order of the configurations' names; `first`: the index of the first. Upstream: configuration/mutating_webhook_manager.go. */
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

/** How a webhook wants to see a request by its rules; undefined if it does not. */
export function invocationOf(hook: Hook, request: Attributes): Invocation | undefined {
  const { rules = [], matchPolicy } = hook.spec;
  const [found] = matchingRules(rules, matchPolicy !== 'Equivalent', request);
  return found && { hook, resource: found.resource, kind: found.kind };
}
