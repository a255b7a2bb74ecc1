/** `matchConstraints` and `matchResources`: which requests a policy or binding looks at. Upstream: apiserver/pkg/admission/plugin/policy/matching/matching.go. */
import { newNotFound } from '#apimachinery/api/errors';
import { type LabelSelector, type LabelSelectorSource, labelSelectorAsSelector } from '#apimachinery/labels/selector';
import type { KubeObject } from '#apimachinery/meta/types';
import type { Attributes } from '#apiserver/admission/attributes';
import type { EquivalentResource } from '#apiserver/admission/object-forms';
import type { Informer } from '#apiserver/registry/informers';
import {
  matchingRules,
  matchOfName,
  type NamedRuleWithOperations,
  type RuleMatch,
  type RuleRequest,
} from '#apiserver/admission/resource-rules';

/** Upstream: admissionregistration.k8s.io MatchResources, with its defaults. */
export interface MatchResourcesSource {
  readonly namespaceSelector?: LabelSelectorSource;
  readonly objectSelector?: LabelSelectorSource;
  readonly resourceRules?: readonly NamedRuleWithOperations[];
  readonly excludeResourceRules?: readonly NamedRuleWithOperations[];
  readonly matchPolicy?: string;
}

/** What can be told of a kind of requests, before there is one. */
export interface Candidate {
  /** undefined: there are no rules, any request fits. */
  readonly rules: readonly RuleMatch[] | undefined;
  readonly excluded: readonly RuleMatch[];
}

/** Constraints, compiled. Throws where a selector is wrong. */
export class MatchResources {
  readonly #source: MatchResourcesSource;
  readonly #namespaceSelector: LabelSelector;
  readonly #objectSelector: LabelSelector;

  constructor(source: MatchResourcesSource) {
    this.#source = source;
    this.#namespaceSelector = labelSelectorAsSelector(source.namespaceSelector ?? {});
    this.#objectSelector = labelSelectorAsSelector(source.objectSelector ?? {});
  }

  /** The rules that fit requests of a kind (`request` stands for all of them); undefined if none can. */
  candidate(request: RuleRequest): Candidate | undefined {
    const { resourceRules = [], excludeResourceRules = [], matchPolicy } = this.#source;
    const exact = matchPolicy !== 'Equivalent';
    const rules = resourceRules.length === 0 ? undefined : matchingRules(resourceRules, exact, request);
    return rules?.length === 0 ? undefined : { rules, excluded: matchingRules(excludeResourceRules, exact, request) };
  }

  /** The version of the resource that a request of the candidate's kind matched; undefined if it did not. Throws NotFound for a namespace that is not there. */
  match(request: Attributes, { rules, excluded }: Candidate, namespaces: Informer): EquivalentResource | undefined {
    if (!this.#matchesObjects(request)) return undefined;
    if (matchOfName(excluded, request.name)) return undefined;
    const matched = rules ? matchOfName(rules, request.name) : request;
    return matched && this.#matchesNamespace(request, namespaces) ? matched : undefined;
  }

  #matchesObjects({ object, oldObject }: Attributes): boolean {
    const selector = this.#objectSelector;
    if (selector.isEmpty()) return true;
    return [object, oldObject].some((candidate) => candidate?.metadata !== undefined && selector.matches(candidate.metadata.labels ?? {}));
  }

  #matchesNamespace(request: Attributes, namespaces: Informer): boolean {
    if (request.namespace === '' || this.#namespaceSelector.isEmpty()) return true;
    return this.#namespaceSelector.matches(namespaceOf(request, namespaces).metadata.labels ?? {});
  }
}

/** The namespace of a request: what a write of the namespace itself makes of it, else what is stored. */
function namespaceOf(request: Attributes, namespaces: Informer): KubeObject {
  const { resource, subresource, operation } = request;
  const writesNamespace = resource.resource === 'namespaces' && subresource === '' && (operation === 'CREATE' || operation === 'UPDATE');
  if (writesNamespace) return request.object;
  const found = namespaces.get('', request.namespace);
  if (!found) throw newNotFound({ group: '', resource: 'namespaces' }, request.namespace);
  return found;
}
