/** The policies that are configured now. Upstream: apiserver/pkg/admission/plugin/policy/generic/policy_source.go. */
import type { Attributes } from '#apiserver/admission/attributes';
import type { ObjectForms } from '#apiserver/admission/object-forms';
import type { Informer, Informers } from '#apiserver/registry/informers';
import { type Candidate, MatchResources } from './match-resources.ts';
import type { Policy, PolicyBinding, PolicySpec } from './policy-types.ts';

/** Constraints that a sort of requests may match, or what is wrong with them. */
export type Constraint = { readonly resources: MatchResources; readonly candidate: Candidate } | Error;

export interface BindingCandidate {
  readonly binding: PolicyBinding;
  /** undefined: it binds all that the policy matches. */
  readonly constraint: Constraint | undefined;
}

/** A policy that a sort of requests may match, with the bindings that may match them. */
export interface PolicyCandidate<S extends PolicySpec, C> {
  readonly policy: Policy<S>;
  readonly compiled: C;
  readonly constraint: Constraint;
  readonly bindings: readonly BindingCandidate[];
}

interface BoundPolicy<S extends PolicySpec, C> {
  readonly policy: Policy<S>;
  readonly compiled: C;
  readonly resources: MatchResources | Error;
  readonly bindings: readonly { readonly binding: PolicyBinding; readonly resources: MatchResources | Error | undefined }[];
}

const group = 'admissionregistration.k8s.io';
const policyKinds = new Set([
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionPolicyBinding',
  'MutatingAdmissionPolicy',
  'MutatingAdmissionPolicyBinding',
]);

/**
 * Compiles policies when they change. Which of them a sort of requests concerns is found out once for each change, so that
 * policies that do not match cost nothing.
 */
export class PolicySource<S extends PolicySpec, C> {
  readonly #policies: Informer<Policy<S>>;
  readonly #bindings: Informer<PolicyBinding>;
  readonly #compile: (spec: S) => C;
  readonly #compiled = new WeakMap<Policy<S>, C>();
  #bound: readonly BoundPolicy<S, C>[] | undefined;
  #bySort = new WeakMap<ObjectForms, Map<string, readonly PolicyCandidate<S, C>[]>>();

  /** `resource`: of the policies; that of the bindings follows from it. */
  constructor(informers: Informers, shutdown: AbortSignal, resource: string, compile: (spec: S) => C) {
    this.#policies = informers.for({ group, resource });
    this.#bindings = informers.for({ group, resource: `${resource.slice(0, -'ies'.length)}ybindings` });
    this.#compile = compile;
    const subscriptions = [
      this.#policies.subscribe((type, policy) => {
        if (type !== 'DELETED') this.#compiledOf(policy);
        this.#forget();
      }),
      this.#bindings.subscribe(() => this.#forget()),
    ];
    const end = (): void => {
      for (const subscription of subscriptions) subscription[Symbol.dispose]();
    };
    shutdown.addEventListener('abort', end, { once: true });
  }

  /** In the order of their names. The policies themselves are beyond policies, so that nobody locks himself out. */
  candidatesFor(request: Attributes): readonly PolicyCandidate<S, C>[] {
    this.#bound ??= this.#bind();
    if (this.#bound.length === 0 || (request.kind.group === group && policyKinds.has(request.kind.kind))) return [];
    let bySort = this.#bySort.get(request.forms);
    if (!bySort) this.#bySort.set(request.forms, (bySort = new Map()));
    const { resource, subresource, operation, namespace } = request;
    const sort = `${resource.group}/${resource.version}/${resource.resource}/${subresource} ${operation} ${namespace === ''}`;
    let candidates = bySort.get(sort);
    if (!candidates) bySort.set(sort, (candidates = this.#bound.flatMap((policy) => candidateOf(policy, request))));
    return candidates;
  }

  #forget(): void {
    this.#bound = undefined;
    this.#bySort = new WeakMap();
  }

  #compiledOf(policy: Policy<S>): C {
    let compiled = this.#compiled.get(policy);
    if (!compiled) this.#compiled.set(policy, (compiled = this.#compile(policy.spec ?? ({} as S))));
    return compiled;
  }

  /** Policies without a binding do nothing. */
  #bind(): readonly BoundPolicy<S, C>[] {
    const byPolicy = Map.groupBy(sorted(this.#bindings.list()), ({ spec }) => spec?.policyName);
    return sorted(this.#policies.list()).flatMap((policy) => {
      const bindings = byPolicy.get(policy.metadata.name);
      if (!bindings) return [];
      return {
        policy,
        compiled: this.#compiledOf(policy),
        resources: resourcesOf(policy.spec?.matchConstraints ?? {}),
        bindings: bindings.map((binding) => {
          const { matchResources } = binding.spec ?? {};
          return { binding, resources: matchResources && resourcesOf(matchResources) };
        }),
      };
    });
  }
}

function sorted<T extends Policy | PolicyBinding>(objects: readonly T[]): T[] {
  return objects.toSorted((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1));
}

function resourcesOf(source: ConstructorParameters<typeof MatchResources>[0]): MatchResources | Error {
  try {
    return new MatchResources(source);
  } catch (error) {
    return error as Error;
  }
}

/** undefined: no request of the sort can match. */
function constraintOf(resources: MatchResources | Error, request: Attributes): Constraint | undefined {
  if (resources instanceof Error) return resources;
  const candidate = resources.candidate(request);
  return candidate && { resources, candidate };
}

function candidateOf<S extends PolicySpec, C>(bound: BoundPolicy<S, C>, request: Attributes): PolicyCandidate<S, C>[] {
  const constraint = constraintOf(bound.resources, request);
  if (!constraint) return [];
  const bindings = bound.bindings.flatMap(({ binding, resources }): BindingCandidate[] => {
    if (!resources) return [{ binding, constraint: undefined }];
    const own = constraintOf(resources, request);
    return own ? [{ binding, constraint: own }] : [];
  });
  return bindings.length > 0 ? [{ policy: bound.policy, compiled: bound.compiled, constraint, bindings }] : [];
}
