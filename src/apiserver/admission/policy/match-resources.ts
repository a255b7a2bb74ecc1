/**
 * `matchConstraints` and `matchResources`: the requests that a policy or binding matches. Upstream:
 * apiserver/pkg/admission/plugin/policy/matching/matching.go.
 */
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

/** Match constraints with their defaults. Upstream: admissionregistration.k8s.io MatchResources. */
export interface MatchResourcesSource {
  readonly namespaceSelector?: LabelSelectorSource;
  readonly objectSelector?: LabelSelectorSource;
  readonly resourceRules?: readonly NamedRuleWithOperations[];
  readonly excludeResourceRules?: readonly NamedRuleWithOperations[];
  readonly matchPolicy?: string;
}

/** Result of matching a kind of request, without its object. */
export interface Candidate {
  /** Matching rules; undefined: there are no rules, so every request matches. */
  readonly rules: readonly RuleMatch[] | undefined;
  readonly excluded: readonly RuleMatch[];
}

/** Compiled constraints. The constructor throws for an invalid selector. */
export class MatchResources {
  readonly #source: MatchResourcesSource;
  readonly #namespaceSelector: LabelSelector;
  readonly #objectSelector: LabelSelector;

  constructor(source: MatchResourcesSource) {
    this.#source = source;
    this.#namespaceSelector = labelSelectorAsSelector(source.namespaceSelector ?? {});
    this.#objectSelector = labelSelectorAsSelector(source.objectSelector ?? {});
  }

  /** Matches a kind of request (`request` is an example of it); undefined if no request of the kind can match. */
  candidate(request: RuleRequest): Candidate | undefined {
    const { resourceRules = [], excludeResourceRules = [], matchPolicy } = this.#source;
    const exact = matchPolicy !== 'Equivalent';
    const rules = resourceRules.length === 0 ? undefined : matchingRules(resourceRules, exact, request);
    return rules?.length === 0 ? undefined : { rules, excluded: matchingRules(excludeResourceRules, exact, request) };
  }

  /**
   * Matches a request of the candidate's kind. Returns the matched resource; undefined if it does not match. Throws NotFound for a
   * missing namespace.
   */
  match(request: Attributes, { rules, excluded }: Candidate, namespaces: Informer): EquivalentResource | undefined {
    if (!this.matchesObjects(request)) return undefined;
    if (matchOfName(excluded, request.name)) return undefined;
    const matched = rules ? matchOfName(rules, request.name) : request;
    return matched && this.#matchesNamespace(request, namespaces) ? matched : undefined;
  }

  /** Returns true if the object selector matches the new or the old object. */
  matchesObjects({ object, oldObject }: Attributes): boolean {
    const selector = this.#objectSelector;
    if (selector.isEmpty()) return true;
    return [object, oldObject].some((candidate) => candidate?.metadata !== undefined && selector.matches(candidate.metadata.labels ?? {}));
  }

  /** Returns the stored namespace whose labels decide about the request; undefined if none does, or if it is missing. */
  decidingNamespace(request: Attributes, namespaces: Informer): KubeObject | undefined {
    if (request.namespace === '' || this.#namespaceSelector.isEmpty() || writesNamespace(request)) return undefined;
    return namespaces.get('', request.namespace);
  }

  /** Returns true if the namespace selector matches the namespace. */
  matchesLabelsOf(namespace: KubeObject): boolean {
    return this.#namespaceSelector.matches(namespace.metadata.labels ?? {});
  }

  #matchesNamespace(request: Attributes, namespaces: Informer): boolean {
    if (request.namespace === '' || this.#namespaceSelector.isEmpty()) return true;
    return this.#namespaceSelector.matches(namespaceOf(request, namespaces).metadata.labels ?? {});
  }
}

/** Returns the namespace of a request: the written one for a write of the namespace itself, otherwise the stored one. */
function namespaceOf(request: Attributes, namespaces: Informer): KubeObject {
  if (writesNamespace(request)) return request.object;
  const found = namespaces.get('', request.namespace);
  if (!found) throw newNotFound({ group: '', resource: 'namespaces' }, request.namespace);
  return found;
}

function writesNamespace({ resource, subresource, operation }: Attributes): boolean {
  return resource.resource === 'namespaces' && subresource === '' && (operation === 'CREATE' || operation === 'UPDATE');
}
