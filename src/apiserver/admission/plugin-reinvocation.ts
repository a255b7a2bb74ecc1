import type { KubeObject } from '#apimachinery/meta/types';
import { deepCopy } from '#apimachinery/runtime/copy';
import { semanticDeepEqual } from '#apimachinery/runtime/semantic-equality';

/**
 * Which webhooks or policies of a plugin want to be asked again after others changed the object.
 * Upstream: plugin/webhook/mutating/reinvocationcontext.go, plugin/policy/mutating/reinvocationcontext.go.
 */
export class PluginReinvocation {
  #last: KubeObject | undefined;
  /** Those with reinvocationPolicy IfNeeded that were asked, and have not seen a later change. */
  #invoked = new Set<string>();
  readonly #required = new Set<string>();

  /** Whether another plugin changed the object since this one had it. */
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
