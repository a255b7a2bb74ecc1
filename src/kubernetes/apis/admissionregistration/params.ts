import type { LabelSelector } from '#apimachinery/meta/schema/meta_v1.gen';
import { compareBytes } from '#kubernetes/apis/columns';
import type { ParamKind, ParamRef } from '#kubernetes/schema/admissionregistration_v1.gen';

/** `rules.example.com/v1/ReplicaLimit` of what a policy takes as its parameters. */
export function paramKindText(paramKind: ParamKind | undefined): string {
  return paramKind ? `${paramKind.apiVersion ?? ''}/${paramKind.kind ?? ''}` : '<unset>';
}

/** `namespace/name`, `*` standing for a namespace that is not named, or the selector as Go prints it. */
export function paramRefText(paramRef: ParamRef | undefined): string {
  if (paramRef?.name) return `${paramRef.namespace || '*'}/${paramRef.name}`;
  return paramRef?.selector ? goStringOf(paramRef.selector) : '<unset>';
}

/** The form of the generated String method of metav1.LabelSelector. */
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
