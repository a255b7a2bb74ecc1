import { type Attributes, forbidden } from 'kubenest/sdk';
import { amountsOf } from '../../common/pod-resources.ts';
import type { LimitedResource } from './configuration.ts';
import { type QuotaEvaluator, type ResourceQuotaObject, type ScopeRequirement, scopesOf } from '../../common/quota/evaluator.ts';
import { amountsText, exceeding, growth, mask, namesText, type QuotaAmounts, sum, withoutZeros } from '../../common/quota/quota-amounts.ts';

/** A quota with its usage, including the requests charged before. */
export interface QuotaState {
  readonly quota: ResourceQuotaObject;
  readonly hard: QuotaAmounts;
  readonly used: QuotaAmounts;
}

export function quotaState(quota: ResourceQuotaObject): QuotaState {
  return { quota, hard: amountsOf(quota.status?.hard), used: amountsOf(quota.status?.used) };
}

/**
 * Returns the states of a namespace's quotas after a request. Throws Forbidden if a quota denies it. Upstream:
 * apiserver/pkg/admission/plugin/resourcequota/controller.go (CheckRequest).
 */
export function checkRequest(
  states: readonly QuotaState[],
  request: Attributes,
  evaluator: QuotaEvaluator,
  limited: readonly LimitedResource[],
): readonly QuotaState[] {
  const { object } = request;
  const concerned = states.filter((state) => concerns(state, request, evaluator));
  const usage = evaluator.usage(object);
  const negative = [...usage].filter(([, quantity]) => quantity.sign < 0).map(([name]) => name);
  if (negative.length > 0) throw forbidden(request, `quota usage is negative for resource(s): ${namesText(negative)}`);
  const changes = new Map(concerned.map((state) => [state, withoutZeros(changeOf(state, request, evaluator, usage))]));
  const isUnchanged =
    concerned.length > 0
      ? [...changes.values()].every(({ size }) => size === 0)
      : withoutZeros(bareChange(request, evaluator, usage)).size === 0;
  if (isUnchanged) return states;
  requireCover(states, concerned, request, evaluator, limited, usage);
  return states.map((state) => {
    const change = changes.get(state);
    return change && change.size > 0 ? charge(state, change, request) : state;
  });
}

/** True if a quota limits the request's usage. Throws if the object lacks required fields, or the quota has no status yet. */
function concerns({ quota, hard, used }: QuotaState, request: Attributes, evaluator: QuotaEvaluator): boolean {
  const restricted = evaluator.matchingResources(hard.keys());
  if (restricted.length === 0 || !scopesOf(quota).every((scope) => evaluator.matchesScope(scope, request.object))) return false;
  const name = quota.metadata.name ?? '';
  try {
    evaluator.checkConstraints?.(restricted, request.object);
  } catch (error) {
    throw forbidden(request, `failed quota: ${name}: ${(error as Error).message}`);
  }
  if (restricted.some((resource) => !used.has(resource)))
    throw forbidden(request, `status unknown for quota: ${name}, resources: ${namesText(restricted)}`);
  return true;
}

/** Returns the usage to charge; an object that already counts is charged only for its growth. */
function changeOf({ quota }: QuotaState, { oldObject }: Attributes, evaluator: QuotaEvaluator, usage: QuotaAmounts): QuotaAmounts {
  if (!oldObject || !scopesOf(quota).every((scope) => evaluator.matchesScope(scope, oldObject))) return usage;
  return growth(usage, evaluator.usage(oldObject));
}

function bareChange({ oldObject }: Attributes, evaluator: QuotaEvaluator, usage: QuotaAmounts): QuotaAmounts {
  return oldObject ? growth(usage, evaluator.usage(oldObject)) : usage;
}

/** Denies usage of limited resources that no quota covers. */
function requireCover(
  states: readonly QuotaState[],
  concerned: readonly QuotaState[],
  request: Attributes,
  evaluator: QuotaEvaluator,
  limited: readonly LimitedResource[],
  usage: QuotaAmounts,
): void {
  if (limited.length === 0) return;
  const { group, resource } = request.resource;
  const parts = limited
    .filter((one) => one.resource === resource && (one.apiGroup ?? '') === group)
    .flatMap(({ matchContains = [] }) => matchContains);
  const wanted = [...usage]
    .filter(([name, quantity]) => quantity.sign > 0 && parts.some((part) => name.includes(part)))
    .map(([name]) => name);
  const covered = new Set(concerned.flatMap(({ hard }) => evaluator.matchingResources(hard.keys())));
  const uncovered = wanted.filter((name) => !covered.has(name));
  if (uncovered.length > 0) throw forbidden(request, `insufficient quota to consume: ${namesText(uncovered)}`);
  if (!evaluator.hasScopes) return;
  const matched = (scopes: readonly ScopeRequirement[]): ScopeRequirement[] =>
    scopes.filter((scope) => evaluator.matchesScope(scope, request.object));
  const present = new Set(states.flatMap(({ quota }) => matched(scopesOf(quota))).map(({ scopeName }) => scopeName));
  const missing = limited.flatMap(({ matchScopes = [] }) => matched(matchScopes)).filter(({ scopeName }) => !present.has(scopeName));
  if (missing.length > 0) {
    const texts = missing.map(({ scopeName, operator, values = [] }) => `{${scopeName} ${operator} [${values.join(' ')}]}`);
    throw new Error(`insufficient quota to match these scopes: [${texts.join(' ')}]`);
  }
}

function charge(state: QuotaState, change: QuotaAmounts, request: Attributes): QuotaState {
  const { quota, hard, used } = state;
  const requested = mask(change, hard);
  if (requested.size === 0) return state;
  const next = sum(used, requested);
  const exceeded = request.subresource === 'status' ? new Set<string>() : exceeding(mask(next, requested), hard);
  if (exceeded.size > 0) {
    throw forbidden(
      request,
      `exceeded quota: ${quota.metadata.name}, requested: ${amountsText(mask(requested, exceeded))}, used: ${amountsText(mask(used, exceeded))}, limited: ${amountsText(mask(hard, exceeded))}`,
    );
  }
  return { quota, hard, used: next };
}
