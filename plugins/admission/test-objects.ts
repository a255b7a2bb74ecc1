import type { KubeObject } from 'kubenest/sdk';

/** Objects for the tables of plugins' tests: in the namespace `ns`, named `x`, unless said otherwise. */
export function object(
  apiVersion: string,
  kind: string,
  rest: Record<string, unknown> = {},
  metadata: KubeObject['metadata'] = {},
): KubeObject {
  return { apiVersion, kind, metadata: { name: 'x', ...metadata }, ...rest };
}

/** A pod with one container, `main`. */
export function pod(spec: Record<string, unknown> = {}, metadata: KubeObject['metadata'] = {}): KubeObject {
  return object('v1', 'Pod', { spec: { containers: [{ name: 'main', image: 'image' }], ...spec } }, { namespace: 'ns', ...metadata });
}

export function namespace(name: string, labels: Record<string, string> = {}): KubeObject {
  return object('v1', 'Namespace', { status: { phase: 'Active' } }, { name, labels });
}
