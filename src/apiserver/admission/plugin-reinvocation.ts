import type { KubeObject } from '#apimachinery/meta/types';
import { deepCopy } from '#apimachinery/runtime/copy';
import { semanticDeepEqual } from '#apimachinery/runtime/semantic-equality';

/**
 * Webhooks or policies of a plugin to be called again after other plugins changed the object. Upstream:
 * plugin/webhook/mutating/reinvocationcontext.go, plugin/policy/mutating/reinvocationcontext.go.
 */
export class PluginReinvocation {
  #last: KubeObject | undefined;
  /** Called webhooks or policies with reinvocationPolicy IfNeeded that have not seen a later change. */
  #invoked = new Set<string>();
  readonly #required = new Set<string>();

  /** True if another plugin changed the object after this one. */
  hasChangedSince(object: KubeObject | undefined): boolean {
    return !semanticDeepEqual(this.#last, object);
  }

  remember(object: KubeObject | undefined): void {
    this.#last = object && deepCopy(object);
  }

  addInvoked(uid: string): void {
    this.#invoked.add(uid);
  }

  requirePrevious(): void {
    for (const uid of this.#invoked) this.#required.add(uid);
    this.#invoked = new Set();
  }

  isRequired(uid: string): boolean {
    return this.#required.has(uid);
  }
}
