import type { Node } from 'kubenest/types/core_v1';

/** Labels whose values the older ones repeat. Upstream: labelReconcileInfo. */
const olderNames: Readonly<Record<string, string>> = {
  'kubernetes.io/os': 'beta.kubernetes.io/os',
  'kubernetes.io/arch': 'beta.kubernetes.io/arch',
};

/** Returns the older labels that a node lacks or has with another value; undefined if there are none. */
export function missingLabels({ metadata: { labels = {} } }: Node): Record<string, string> | undefined {
  const missing: Record<string, string> = {};
  for (const [name, older] of Object.entries(olderNames)) {
    const value = labels[name];
    if (value !== undefined && labels[older] !== value) missing[older] = value;
  }
  return Object.keys(missing).length > 0 ? missing : undefined;
}
