/** Current policies and bindings. Upstream: apiserver/pkg/admission/plugin/policy/generic/policy_source.go. */
import type { Attributes } from '#apiserver/admission/attributes';
import { type ManifestSource, staticSuffix } from '#apiserver/admission/manifest/manifests';
import type { ManifestFiles } from '#apiserver/admission/manifest/manifest-files';
import type { ObjectForms } from '#apiserver/admission/object-forms';
import type { PolicyServices } from './policy-services.ts';
import { Suspended } from '#apimachinery/runtime/suspended';
import { atOnce, inSteps, type Steps } from '#apimachinery/runtime/steps';
import type { Informer } from '#apiserver/registry/informers';
import { type Candidate, MatchResources } from './match-resources.ts';
import type { Policy, PolicyBinding, PolicySpec } from './policy-types.ts';

/** Constraints that a kind of request may match, or the error of invalid ones. */
export type Constraint = { readonly resources: MatchResources; readonly candidate: Candidate } | Error;

export interface BindingCandidate {
  readonly binding: PolicyBinding;
  /** Constraint of the binding; undefined: it applies to every request that the policy matches. */
  readonly constraint: Constraint | undefined;
}

/** A policy that a kind of request may match, with the bindings that may match it. */
export interface PolicyCandidate<S extends PolicySpec, C> {
  readonly policy: Policy<S>;
  readonly compiled: C;
  readonly constraint: Constraint;
  readonly bindings: readonly BindingCandidate[];
}

interface BoundPolicy<S extends PolicySpec> {
  readonly policy: Policy<S>;
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
 * Resources that policies never match: they are not stored, and denying them may break the cluster. Upstream:
 * kubernetes/pkg/kubeapiserver/admission/exclusion.
 */
const excludedResources: ReadonlyMap<string, readonly string[]> = new Map([
  ['authentication.k8s.io', ['selfsubjectreviews', 'tokenreviews']],
  ['authorization.k8s.io', ['localsubjectaccessreviews', 'selfsubjectaccessreviews', 'selfsubjectrulesreviews', 'subjectaccessreviews']],
]);

/** Policies and bindings, sorted by name. */
interface PolicySet<S extends PolicySpec> {
  readonly policies: readonly Policy<S>[];
  readonly bindings: readonly PolicyBinding[];
}

export interface PolicySourceOptions<S extends PolicySpec, C> {
  readonly kind: 'ValidatingAdmissionPolicy' | 'MutatingAdmissionPolicy';
  /** Compiles a policy; yields between expressions, of which there may be 40,000. Must not throw. */
  compile(spec: S): Steps<C>;
  readonly services: Pick<PolicyServices, 'informers' | 'shutdownSignal' | 'manifests'>;
  /** Policies in files. They precede those of the API and also apply to policies themselves. */
  readonly files?: ManifestFiles | undefined;
}

/**
 * Compiles policies when they change. The policies that may match a kind of request are determined once after each change, so that
 * the others cost nothing.
 */
export class PolicySource<S extends PolicySpec, C> {
  readonly #policies: Informer<Policy<S>>;
  readonly #bindings: Informer<PolicyBinding>;
  readonly #fixed: ManifestSource<PolicySet<S>> | undefined;
  readonly #compile: (spec: S) => Steps<C>;
  readonly #compiled = new WeakMap<Policy<S>, C>();
  readonly #compilations = new WeakMap<Policy<S>, Promise<void>>();
  #bound: { readonly fixed: readonly BoundPolicy<S>[]; readonly all: readonly BoundPolicy<S>[] } | undefined;
  #bySort = new WeakMap<ObjectForms, Map<string, readonly PolicyCandidate<S, C>[]>>();

  /** Throws for invalid files. */
  constructor({ kind, compile, services: { informers, shutdownSignal, manifests }, files }: PolicySourceOptions<S, C>) {
    const resource = kind.slice(0, -1).toLowerCase();
    this.#policies = informers.for({ group, resource: `${resource}ies` });
    this.#bindings = informers.for({ group, resource: `${resource}ybindings` });
    this.#compile = compile;
    const build = (objects: readonly (Policy<S> | PolicyBinding)[]): PolicySet<S> =>
      policySetOf(objects, (policy) => this.#compiled.set(policy, atOnce(this.#compile(specOf(policy)))));
    this.#fixed =
      files && manifests.follow(files, { plugin: kind, what: 'policy', kinds: [kind, `${kind}Binding`], check: checkManifest, build });
    this.#fixed?.subscribe(() => this.#forget());
    const subscriptions = [
      this.#policies.subscribe((type, policy) => {
        if (type !== 'DELETED') void this.#compilation(policy);
        this.#forget();
      }),
      this.#bindings.subscribe(() => this.#forget()),
    ];
    const end = (): void => {
      for (const subscription of subscriptions) subscription[Symbol.dispose]();
    };
    shutdownSignal.addEventListener('abort', end, { once: true });
  }

  /**
   * Returns the policies that a kind of request may match, sorted by name, those of files first. Policies of the API do not apply
   * to policies, so that an administrator cannot lock themselves out. Throws Suspended while one of them is being compiled.
   */
  candidatesFor(request: Attributes): readonly PolicyCandidate<S, C>[] {
    this.#bound ??= this.#bind();
    const { resource, kind, subresource, operation, namespace } = request;
    const bound = kind.group === group && policyKinds.has(kind.kind) ? this.#bound.fixed : this.#bound.all;
    if (bound.length === 0 || excludedResources.get(resource.group)?.includes(resource.resource)) return [];
    let bySort = this.#bySort.get(request.forms);
    if (!bySort) this.#bySort.set(request.forms, (bySort = new Map()));
    const sort = `${resource.group}/${resource.version}/${resource.resource}/${subresource} ${operation} ${namespace === ''}`;
    let candidates = bySort.get(sort);
    if (!candidates) bySort.set(sort, (candidates = bound.flatMap((policy) => this.#candidateOf(policy, request))));
    return candidates;
  }

  #forget(): void {
    this.#bound = undefined;
    this.#bySort = new WeakMap();
  }

  #candidateOf({ policy, resources, bindings: all }: BoundPolicy<S>, request: Attributes): PolicyCandidate<S, C>[] {
    const constraint = constraintOf(resources, request);
    if (!constraint) return [];
    const bindings = all.flatMap(({ binding, resources: bound }): BindingCandidate[] => {
      if (!bound) return [{ binding, constraint: undefined }];
      const own = constraintOf(bound, request);
      return own ? [{ binding, constraint: own }] : [];
    });
    return bindings.length > 0 ? [{ policy, compiled: this.#compiledOf(policy), constraint, bindings }] : [];
  }

  #compiledOf(policy: Policy<S>): C {
    const compiled = this.#compiled.get(policy);
    if (!compiled) throw new Suspended(this.#compilation(policy));
    return compiled;
  }

  /**
   * Returns the compilation of a policy. It starts when the policy appears and is synchronous unless the policy is large, so that
   * few requests wait for it.
   */
  #compilation(policy: Policy<S>): Promise<void> {
    let compilation = this.#compilations.get(policy);
    if (!compilation) {
      compilation = inSteps(this.#compile(specOf(policy))).then((compiled) => void this.#compiled.set(policy, compiled));
      this.#compilations.set(policy, compilation);
    }
    return compilation;
  }

  #bind(): { fixed: BoundPolicy<S>[]; all: BoundPolicy<S>[] } {
    const fixed = this.#fixed ? this.#boundOf(this.#fixed.current) : [];
    const own = this.#boundOf({ policies: sorted(this.#policies.list()), bindings: sorted(this.#bindings.list()) });
    return { fixed, all: [...fixed, ...own] };
  }

  /** Returns the policies that have a binding; others have no effect. */
  #boundOf({ policies, bindings: all }: PolicySet<S>): BoundPolicy<S>[] {
    const byPolicy = Map.groupBy(all, ({ spec }) => spec?.policyName);
    return policies.flatMap((policy) => {
      const bindings = byPolicy.get(policy.metadata.name);
      if (!bindings) return [];
      return {
        policy,
        resources: resourcesOf(policy.spec?.matchConstraints ?? {}),
        bindings: bindings.map((binding) => {
          const { matchResources } = binding.spec ?? {};
          return { binding, resources: matchResources && resourcesOf(matchResources) };
        }),
      };
    });
  }
}

function specOf<S extends PolicySpec>({ spec }: Policy<S>): S {
  return spec ?? ({} as S);
}

function isBinding(object: Policy | PolicyBinding): object is PolicyBinding {
  return object.kind.endsWith('Binding');
}

/** Throws an Error for a policy or binding that uses features of the API only. Upstream: plugin/policy/manifest/loader. */
function checkManifest(object: Policy | PolicyBinding): void {
  const name = JSON.stringify(object.metadata.name);
  if (!isBinding(object)) {
    if (object.spec?.paramKind) throw new Error(`${object.kind} ${name}: spec.paramKind is not supported for static manifests`);
    return;
  }
  const { policyName = '', paramRef } = object.spec ?? {};
  if (!policyName.endsWith(staticSuffix))
    throw new Error(`binding ${name}: spec.policyName ${JSON.stringify(policyName)} must end with ${JSON.stringify(staticSuffix)}`);
  if (paramRef) throw new Error(`binding ${name}: spec.paramRef is not supported for static manifests`);
}

/** Builds the policy set. Throws an Error for a binding without its policy. */
function policySetOf<S extends PolicySpec>(
  objects: readonly (Policy<S> | PolicyBinding)[],
  compile: (policy: Policy<S>) => unknown,
): PolicySet<S> {
  const policies = objects.filter((one): one is Policy<S> => !isBinding(one));
  const bindings = objects.filter(isBinding);
  const names = new Set(policies.map(({ metadata }) => metadata.name));
  for (const { metadata, spec } of bindings) {
    if (names.has(spec?.policyName)) continue;
    const policy = JSON.stringify(spec?.policyName);
    throw new Error(`binding ${JSON.stringify(metadata.name)} references policy ${policy} which does not exist in the manifest directory`);
  }
  for (const policy of policies) compile(policy);
  return { policies, bindings };
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

/** Returns the constraint for a kind of request; undefined if no such request can match. */
function constraintOf(resources: MatchResources | Error, request: Attributes): Constraint | undefined {
  if (resources instanceof Error) return resources;
  const candidate = resources.candidate(request);
  return candidate && { resources, candidate };
}
