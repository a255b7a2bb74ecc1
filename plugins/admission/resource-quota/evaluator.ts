import { type Attributes, type KubeObject, labelSelectorAsSelector } from 'kubenest/sdk';
import type { QuotaAmounts } from './quota-amounts.ts';

export interface ScopeRequirement {
  readonly scopeName: string;
  readonly operator: string;
  readonly values?: readonly string[];
}

/** What objects of one resource use up. Upstream: apiserver/pkg/quota/v1/interfaces.go (Evaluator). */
export interface QuotaEvaluator {
  /** Whether a request changes what is used. */
  handles(request: Attributes): boolean;
  /** Which names of a quota are of this resource. */
  matchingResources(names: Iterable<string>): string[];
  matchesScope(scope: ScopeRequirement, object: KubeObject): boolean;
  usage(object: KubeObject): QuotaAmounts;
  /** What an object has to say because a quota limits it: throws an Error if it does not. */
  checkConstraints?(required: readonly string[], object: KubeObject): void;
  /** Whether scopes of the configuration need a quota that covers them. */
  readonly hasScopes?: boolean;
}

/** `count/pods`, `count/deployments.apps` */
export function objectCountName(group: string, resource: string): string {
  return group === '' ? `count/${resource}` : `count/${resource}.${group}`;
}

/** Whether one of the names that an object has for a scope fulfils the requirement. An object without one may fulfil `NotIn` and `DoesNotExist`. */
export function matchesNames({ scopeName, operator, values }: ScopeRequirement, names: readonly string[]): boolean {
  const selector = labelSelectorAsSelector({ matchExpressions: [{ key: scopeName, operator, values }] });
  return names.length === 0 ? selector.matches({}) : names.some((name) => selector.matches({ [scopeName]: name }));
}
