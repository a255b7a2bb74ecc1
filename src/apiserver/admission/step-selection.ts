import type { KubeObject } from '#apimachinery/meta/types';
import { memos } from '#apimachinery/runtime/memos';
import type { AdmissionHandler, Attributes } from './attributes.ts';

/** The requests for which a plugin does something. Out of its scope, the plugin only adds a note to a trace. */
export interface StepScope {
  /** True if the decision differs between users. */
  readonly dependsOnUser: boolean;
  /** True if the labels of the namespace decide, too. */
  readonly dependsOnLabels: boolean;
  /** Returns the stored namespace whose labels decide about the request; undefined if none does, or if it is missing. */
  decidingNamespace(request: Attributes): KubeObject | undefined;
  /** Returns false if no request of the user in the namespace is in the scope. Depends on nothing else. `namespace` is the deciding one. */
  mayInclude(request: Pick<Attributes, 'namespace' | 'user'>, namespace: KubeObject | undefined): boolean;
  /** Returns false if the objects of the request, as they are now, are not in the scope. */
  includesObjects(request: Attributes): boolean;
}

/** Member of a plugin that has its scope. */
export const stepScope = Symbol('stepScope');

/** Returns the scope of a plugin; undefined: every request. */
export function scopeOf(plugin: AdmissionHandler): StepScope | undefined {
  return (plugin as { readonly [stepScope]?: StepScope })[stepScope];
}

/** Maximum number of kept selections of a phase, and maximum length of their keys: clients choose both. */
const [mostKept, longestKey] = [1_000, 1_000];

interface Selection<S> {
  /** The namespace at the time of the decision. */
  readonly namespace: KubeObject | undefined;
  readonly steps: readonly S[];
}

/**
 * Selects the steps of a phase whose scopes include the namespace and the user of a request. Forty plugins whose scopes exclude a namespace
 * then cost one lookup. A selection depends only on its key (the names of the namespace, the user and the groups) and the stored namespace.
 *
 *     scopes { namespaces: [prod] }, { namespaceSelector: { matchLabels: { env: test } } }, none
 *     a request in `ci`, whose labels are { env: test }: the steps 2 and 3
 */
export class StepSelection<S extends { readonly scope: StepScope | undefined }> {
  readonly #known = new Map<string, Selection<S>>();
  readonly #isScoped: boolean;
  readonly #dependsOnUser: boolean;
  /** One of the scopes that depend on labels; all of them read the same namespaces. */
  readonly #ofLabels: StepScope | undefined;

  constructor(readonly steps: readonly S[]) {
    const all = steps.flatMap(({ scope }) => scope ?? []);
    this.#isScoped = all.length > 0;
    this.#dependsOnUser = all.some(({ dependsOnUser }) => dependsOnUser);
    this.#ofLabels = all.find(({ dependsOnLabels }) => dependsOnLabels);
  }

  /** Returns the steps of a request, in order. */
  for(request: Attributes): readonly S[] {
    if (!this.#isScoped) return this.steps;
    const key = this.#keyOf(request);
    const namespace = this.#ofLabels?.decidingNamespace(request);
    const known = this.#known.get(key);
    if (memos.stepSelections && known && known.namespace === namespace) return known.steps;
    const steps = this.steps.filter(({ scope }) => scope?.mayInclude(request, namespace) ?? true);
    if (key.length > longestKey) return steps;
    if (this.#known.size >= mostKept) this.#known.clear();
    this.#known.set(key, { namespace, steps });
    return steps;
  }

  #keyOf({ namespace, user }: Attributes): string {
    return this.#dependsOnUser ? JSON.stringify([namespace, user.name, user.groups]) : namespace;
  }
}
