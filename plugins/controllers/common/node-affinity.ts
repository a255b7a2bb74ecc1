import type { Node, NodeSelectorRequirement, NodeSelectorTerm, Pod, Taint, Toleration } from 'kubenest/types/core_v1';

function parseInteger(text: string | undefined): number | undefined {
  return text !== undefined && /^[+-]?\d+$/.test(text) ? Number(text) : undefined;
}

/** True if a value, undefined for an absent label, satisfies a requirement. */
function satisfies(value: string | undefined, { operator, values = [] }: NodeSelectorRequirement): boolean {
  const [number, limit] = [parseInteger(value), parseInteger(values[0])];
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    case 'Gt':
      return number !== undefined && limit !== undefined && number > limit;
    case 'Lt':
      return number !== undefined && limit !== undefined && number < limit;
    default:
      return false;
  }
}

function matchesTerm({ metadata }: Node, { matchExpressions = [], matchFields = [] }: NodeSelectorTerm): boolean {
  if (matchExpressions.length + matchFields.length === 0) return false;
  return (
    matchExpressions.every((requirement) => satisfies(metadata.labels?.[requirement.key ?? ''], requirement)) &&
    matchFields.every((requirement) => requirement.key === 'metadata.name' && satisfies(metadata.name, requirement))
  );
}

/**
 * True if the node has the labels of the pod's node selector and satisfies its required node affinity. Upstream:
 * component-helpers/scheduling/corev1/nodeaffinity.
 */
export function matchesNodeAffinity({ spec }: Pick<Pod, 'spec'>, node: Node): boolean {
  const labels = node.metadata.labels ?? {};
  if (!Object.entries(spec?.nodeSelector ?? {}).every(([name, value]) => labels[name] === value)) return false;
  const terms = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  return terms === undefined || terms.some((term) => matchesTerm(node, term));
}

/** True if the toleration covers the taint. Upstream: Toleration.ToleratesTaint of k8s.io/api/core/v1. */
export function tolerates({ effect, key, operator, value = '' }: Toleration, taint: Taint): boolean {
  if (effect && effect !== taint.effect) return false;
  if (key && key !== taint.key) return false;
  if (operator === 'Exists') return true;
  return (!operator || operator === 'Equal') && value === (taint.value ?? '');
}

/** True if the pod tolerates all taints with the effects. */
export function toleratesTaints({ spec }: Pick<Pod, 'spec'>, taints: readonly Taint[] = [], effects: readonly string[]): boolean {
  return taints
    .filter(({ effect }) => effects.includes(effect ?? ''))
    .every((taint) => spec?.tolerations?.some((toleration) => tolerates(toleration, taint)));
}
