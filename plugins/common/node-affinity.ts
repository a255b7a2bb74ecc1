import type { Node, NodeSelector, NodeSelectorRequirement, NodeSelectorTerm, Pod } from 'kubenest/types/core_v1';

type Values = Readonly<Record<string, string>>;

/** True if a requirement holds. Upstream: component-helpers/scheduling/corev1/nodeaffinity. */
function meets({ key = '', operator, values = [] }: NodeSelectorRequirement, labels: Values): boolean {
  const has = Object.hasOwn(labels, key);
  const value = has ? (labels[key] as string) : '';
  switch (operator) {
    case 'In':
      return has && values.includes(value);
    case 'NotIn':
      return !has || !values.includes(value);
    case 'Exists':
      return has;
    case 'DoesNotExist':
      return !has;
    case 'Gt':
    case 'Lt': {
      const [actual, bound] = [integer(value), integer(values[0] ?? '')];
      if (!has || actual === undefined || bound === undefined) return false;
      return operator === 'Gt' ? actual > bound : actual < bound;
    }
    default:
      return false;
  }
}

function integer(text: string): bigint | undefined {
  return /^[+-]?\d+$/.test(text) ? BigInt(text.replace(/^\+/, '')) : undefined;
}

/** True if a node matches all requirements of a term; a term without any matches none. */
export function matchesTerm({ matchExpressions = [], matchFields = [] }: NodeSelectorTerm, node: Node): boolean {
  if (matchExpressions.length === 0 && matchFields.length === 0) return false;
  const fields = { 'metadata.name': node.metadata.name ?? '' };
  return matchExpressions.every((one) => meets(one, node.metadata.labels ?? {})) && matchFields.every((one) => meets(one, fields));
}

/** True if a node matches one of the terms. */
export function matchesNodeSelector({ nodeSelectorTerms = [] }: NodeSelector, node: Node): boolean {
  return nodeSelectorTerms.some((term) => matchesTerm(term, node));
}

/** True if a node matches the pod's node selector and its required node affinity. */
export function matchesRequiredAffinity({ spec = {} }: Pick<Pod, 'spec'>, node: Node): boolean {
  const labels = node.metadata.labels ?? {};
  for (const [key, value] of Object.entries(spec.nodeSelector ?? {}))
    if (!Object.hasOwn(labels, key) || labels[key] !== value) return false;
  const required = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  return !required || matchesNodeSelector(required, node);
}
