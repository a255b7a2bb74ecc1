import { type LabelSelector, labelSelectorAsSelector, type LabelSelectorSource } from 'kubenest/sdk';
import type { ReplicaSetSpec } from 'kubenest/types/apps_v1';

const compiled = new WeakMap<object, LabelSelector>();

/**
 * Converts the selector of a stored, thus valid, object. An absent one matches nothing. Stored objects are immutable, and each event of a pod
 * is compared with the selectors of its namespace, which may be large: each is converted once.
 */
export function selectorOf(source: ReplicaSetSpec['selector']): LabelSelector {
  if (!source) return labelSelectorAsSelector(undefined);
  let selector = compiled.get(source);
  if (!selector) compiled.set(source, (selector = labelSelectorAsSelector(source as LabelSelectorSource)));
  return selector;
}
