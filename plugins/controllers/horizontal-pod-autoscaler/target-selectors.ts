import type { HorizontalPodAutoscaler } from 'kubenest/types/autoscaling_v2';
import type { Pod } from 'kubenest/types/core_v1';
import { podsOf } from './metric-proposals.ts';

/** Selectors of all autoscalers: pods of several are scaled by none. Upstream: podautoscaler/selectors. */
export class TargetSelectors {
  /** Selectors of the targets by namespace and name of the autoscaler. */
  readonly #selectors = new Map<string, Map<string, string>>();

  forget({ metadata: { namespace = '', name = '' } }: HorizontalPodAutoscaler): void {
    const own = this.#selectors.get(namespace);
    own?.delete(name);
    if (own?.size === 0) this.#selectors.delete(namespace);
  }

  /**
   * Records the selector of an autoscaler. Returns the names (NAMESPACE/NAME) of the autoscalers, itself included, with one of its pods.
   */
  sharing({ metadata: { namespace = '', name = '' } }: HorizontalPodAutoscaler, selector: string, pods: readonly Pod[]): string[] {
    const own = this.#selectors.get(namespace) ?? new Map<string, string>();
    this.#selectors.set(namespace, own.set(name, selector));
    const selected = own.size === 1 ? [] : podsOf(pods, selector);
    const shares = ([other, text]: readonly [string, string]): boolean => other === name || podsOf(selected, text).length > 0;
    return [...own]
      .filter(shares)
      .map(([other]) => `${namespace}/${other}`)
      .sort();
  }
}
