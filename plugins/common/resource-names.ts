/**
 * True for resources of the kubernetes.io namespace, which includes names without a prefix. Upstream:
 * kubernetes/pkg/apis/core/helper.
 */
export function isNativeResource(name: string): boolean {
  return !name.includes('/') || name.includes('kubernetes.io/');
}

/** True for extended resources: `example.com/gpu`. */
export function isExtendedResourceName(name: string): boolean {
  return !isNativeResource(name) && !name.startsWith('requests.');
}
