import { type LabelSelector, labelSelectorAsSelector, type LabelSelectorSource } from 'kubenest/sdk';
import type { ReplicaSetSpec } from 'kubenest/types/apps_v1';

/** Converts the selector of a stored, thus valid, object. An absent one matches nothing. */
export function selectorOf(source: ReplicaSetSpec['selector']): LabelSelector {
  return labelSelectorAsSelector(source as LabelSelectorSource | undefined);
}
