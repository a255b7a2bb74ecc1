/** Selects the policy evaluations of a request. Upstream: apiserver/pkg/admission/plugin/policy/generic/policy_dispatcher.go. */
import { newNotFound } from '#apimachinery/api/errors';
import { withAlwaysFields, withoutEmpty } from '#apimachinery/managedfields/always-fields';
import { type GroupVersionKind, groupVersionString, type KubeObject } from '#apimachinery/meta/types';
import type { Attributes } from '#apiserver/admission/attributes';
import type { EquivalentResource } from '#apiserver/admission/object-forms';
import { Suspended } from '#apimachinery/runtime/suspended';
import type { Informer } from '#apiserver/registry/informers';
import type { KindObjects, ServedKinds } from '#apiserver/registry/served-kinds';
import { collectParams, paramObjects } from './params.ts';
import type { Constraint, PolicyCandidate } from './policy-source.ts';
import type { Policy, PolicyBinding, PolicySpec } from './policy-types.ts';

/** One evaluation of a policy. */
export interface Invocation<S extends PolicySpec, C> {
  readonly policy: Policy<S>;
  readonly compiled: C;
  readonly binding: PolicyBinding;
  /** Resource and kind that the policy matched. */
  readonly matched: EquivalentResource;
  readonly params: KubeObject | undefined;
}

/** A configuration error of a policy or binding. */
export class ConfigurationFailure {
  readonly message: string;

  constructor(
    readonly policy: Policy,
    readonly binding: PolicyBinding | undefined,
    cause: Error,
  ) {
    this.message = `failed to configure ${binding ? 'binding' : 'policy'}: ${cause.message}`;
  }

  get ignored(): boolean {
    return this.policy.spec?.failurePolicy === 'Ignore';
  }
}

export interface MatchSources {
  readonly namespaces: Informer;
  readonly kinds: ServedKinds;
}

/** Yields the evaluations in the order of policies and bindings, without failures that the policy ignores. Throws Suspended. */
export function* invocationsOf<S extends PolicySpec, C>(
  candidates: readonly PolicyCandidate<S, C>[],
  request: Attributes,
  { namespaces, kinds }: MatchSources,
): Generator<Invocation<S, C> | ConfigurationFailure> {
  const failed = function* (cause: unknown, policy: Policy, binding?: PolicyBinding): Generator<ConfigurationFailure> {
    if (cause instanceof Suspended) throw cause;
    const failure = new ConfigurationFailure(policy, binding, cause as Error);
    if (!failure.ignored) yield failure;
  };
  for (const { policy, compiled, constraint, bindings } of candidates) {
    let matched: EquivalentResource | undefined;
    let objects: KindObjects | undefined;
    try {
      matched = match(constraint, request, namespaces);
      if (!matched) continue;
      objects = paramObjects(kinds, policy.spec?.paramKind);
    } catch (error) {
      yield* failed(error, policy);
      continue;
    }
    for (const { binding, constraint: own } of bindings) {
      try {
        if (own && !match(own, request, namespaces)) continue;
        for (const params of collectParams(objects, binding.spec?.paramRef, request.namespace)) {
          yield { policy, compiled, binding, matched, params };
        }
      } catch (error) {
        yield* failed(error, policy, binding);
      }
    }
  }
}

function match(constraint: Constraint, request: Attributes, namespaces: Informer): EquivalentResource | undefined {
  if (constraint instanceof Error) throw constraint;
  return constraint.resources.match(request, constraint.candidate, namespaces);
}

/** Returns the namespace of a request for expressions; undefined for cluster-scoped objects and for namespaces. Throws NotFound. */
export function namespaceObjectOf({ kind, namespace }: Attributes, namespaces: Informer): KubeObject | undefined {
  if (namespace === '' || (kind.kind === 'Namespace' && kind.version === 'v1' && kind.group === '')) return undefined;
  const found = namespaces.get('', namespace);
  if (!found) throw newNotFound({ group: '', resource: 'namespaces' }, namespace);
  return found;
}

/** Returns an object of the admission for expressions: converted to a kind, with the fields that its JSON form has, and no others. */
export function visibleObject({ forms }: Attributes, object: KubeObject | undefined, kind: GroupVersionKind): KubeObject | undefined {
  if (!object) return undefined;
  const shape = forms.shape(kind);
  const converted = forms.convert(object, kind);
  return shape ? (withAlwaysFields(shape, withoutEmpty(shape, converted)) as KubeObject) : converted;
}

/** Objects of a request for expressions, converted once for each version. */
export class VisibleObjects {
  readonly #byVersion = new Map<string, { readonly object: KubeObject | undefined; readonly oldObject: KubeObject | undefined }>();

  constructor(readonly request: Attributes) {}

  in(kind: GroupVersionKind): { readonly object: KubeObject | undefined; readonly oldObject: KubeObject | undefined } {
    const version = groupVersionString(kind);
    let objects = this.#byVersion.get(version);
    if (!objects) {
      const { request } = this;
      objects = { object: visibleObject(request, request.object, kind), oldObject: visibleObject(request, request.oldObject, kind) };
      this.#byVersion.set(version, objects);
    }
    return objects;
  }
}
