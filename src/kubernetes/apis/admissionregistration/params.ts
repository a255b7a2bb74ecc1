import type { LabelSelector } from '#apimachinery/meta/schema/meta_v1.gen';
import { compareBytes } from '#kubernetes/apis/columns';
import type { ParamKind, ParamRef } from '#kubernetes/schema/admissionregistration_v1.gen';

/** Returns a policy's parameter kind as `rules.example.com/v1/ReplicaLimit`. */
export function paramKindText(paramKind: ParamKind | undefined): string {
  return paramKind ? `${paramKind.apiVersion ?? ''}/${paramKind.kind ?? ''}` : '<unset>';
}

/** Returns `namespace/name`, or the selector as Go prints it. `*` stands for an absent namespace. */
export function paramRefText(paramRef: ParamRef | undefined): string {
  if (paramRef?.name) return `${paramRef.namespace || '*'}/${paramRef.name}`;
  return paramRef?.selector ? goStringOf(paramRef.selector) : '<unset>';
}

/** Formats a selector like the generated String method of metav1.LabelSelector. */
function goStringOf({ matchLabels = {}, matchExpressions = [] }: LabelSelector): string {
  const labels = Object.keys(matchLabels)
    .sort(compareBytes)
    .map((key) => `${key}: ${matchLabels[key]},`)
    .join('');
  const expressions = matchExpressions
    .map(
      ({ key = '', operator = '', values = [] }) =>
        `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${values.join(' ')}],},`,
    )
    .join('');
  return `&LabelSelector{MatchLabels:map[string]string{${labels}},MatchExpressions:[]LabelSelectorRequirement{${expressions}},}`;
}
