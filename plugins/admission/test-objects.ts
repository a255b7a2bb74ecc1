import type { KubeObject } from 'kubenest/sdk';

/** Test object in the namespace `ns` with the name `x`, unless overridden. */
export function object(
  apiVersion: string,
  kind: string,
  rest: Record<string, unknown> = {},
  metadata: KubeObject['metadata'] = {},
): KubeObject {
  return { apiVersion, kind, metadata: { name: 'x', ...metadata }, ...rest };
}

/** The container of `pod`. */
export const main = { name: 'main', image: 'image' };

/** Pod with one container, `main`. */
export function pod(spec: Record<string, unknown> = {}, metadata: KubeObject['metadata'] = {}): KubeObject {
  return object('v1', 'Pod', { spec: { containers: [main], ...spec } }, { namespace: 'ns', ...metadata });
}

export function namespace(name: string, labels: Record<string, string> = {}): KubeObject {
  return object('v1', 'Namespace', { status: { phase: 'Active' } }, { name, labels });
}
