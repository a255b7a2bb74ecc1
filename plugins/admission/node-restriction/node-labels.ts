/** Labels that a node may set on its own Node object. Upstream: kubelet/pkg/apis/well_known_labels.go. */
const ownLabels = new Set([
  'kubernetes.io/hostname',
  'topology.kubernetes.io/zone',
  'topology.kubernetes.io/region',
  'failure-domain.beta.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region',
  'beta.kubernetes.io/instance-type',
  'node.kubernetes.io/instance-type',
  'kubernetes.io/os',
  'kubernetes.io/arch',
  'beta.kubernetes.io/os',
  'beta.kubernetes.io/arch',
]);
const ownNamespaces = ['kubelet.kubernetes.io', 'node.kubernetes.io'];
const restricted = 'node-restriction.kubernetes.io';

type Labels = Readonly<Record<string, string>>;

/** Returns the changed labels that nodes must not modify, sorted. */
export function forbiddenLabels(labels: Labels = {}, old: Labels = {}): string[] {
  const names = new Set([...Object.keys(labels), ...Object.keys(old)]);
  return [...names].filter((name) => differs(labels, old, name) && isForbidden(name)).sort();
}

function differs(labels: Labels, old: Labels, name: string): boolean {
  return Object.hasOwn(labels, name) !== Object.hasOwn(old, name) || labels[name] !== old[name];
}

function isForbidden(name: string): boolean {
  const namespace = name.includes('/') ? (name.split('/', 1)[0] as string) : '';
  if (isOf(namespace, restricted)) return true;
  const isReserved = isOf(namespace, 'kubernetes.io') || isOf(namespace, 'k8s.io');
  return isReserved && !ownLabels.has(name) && !ownNamespaces.some((own) => isOf(namespace, own));
}

function isOf(namespace: string, parent: string): boolean {
  return namespace === parent || namespace.endsWith(`.${parent}`);
}
