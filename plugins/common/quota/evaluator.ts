import { type Attributes, type KubeObject, labelSelectorAsSelector } from 'kubenest/sdk';
import type { ResourceQuota } from 'kubenest/kinds';
import type { QuotaAmounts } from './quota-amounts.ts';

export interface ScopeRequirement {
  readonly scopeName: string;
  readonly operator: string;
  readonly values?: readonly string[];
}

/** A ResourceQuota; the admission plugin has that name. */
export type ResourceQuotaObject = ResourceQuota;

/** Returns the scopes of a quota; an object must match all of them. */
export function scopesOf({ spec }: ResourceQuotaObject): ScopeRequirement[] {
  return [
    ...(spec?.scopes ?? []).map((scopeName) => ({ scopeName, operator: 'Exists' })),
    ...(spec?.scopeSelector?.matchExpressions ?? []),
  ];
}

/** Computes the usage of a resource's objects. Upstream: apiserver/pkg/quota/v1/interfaces.go (Evaluator). */
export interface QuotaEvaluator {
  /** True if a request changes the usage. */
  handles(request: Attributes): boolean;
  /** Returns those names of a quota that belong to this resource. */
  matchingResources(names: Iterable<string>): string[];
  matchesScope(scope: ScopeRequirement, object: KubeObject): boolean;
  usage(object: KubeObject): QuotaAmounts;
  /** Throws an Error if an object lacks the fields that a quota requires. */
  checkConstraints?(required: readonly string[], object: KubeObject): void;
  /** True if scopes in the configuration require a covering quota. */
  readonly hasScopes?: boolean;
}

/** Returns `count/pods`, `count/deployments.apps`. */
export function objectCountName(group: string, resource: string): string {
  return group === '' ? `count/${resource}` : `count/${resource}.${group}`;
}

/**
 * True if any of an object's names for a scope fulfils the requirement. Without names, `NotIn` and `DoesNotExist` can be
 * fulfilled.
 */
export function matchesNames({ scopeName, operator, values }: ScopeRequirement, names: readonly string[]): boolean {
  const selector = labelSelectorAsSelector({ matchExpressions: [{ key: scopeName, operator, values }] });
  return names.length === 0 ? selector.matches({}) : names.some((name) => selector.matches({ [scopeName]: name }));
}
