/** Of the kubernetes.io namespace, where names without a prefix are too. Upstream: kubernetes/pkg/apis/core/helper. */
export function isNativeResource(name: string): boolean {
  return !name.includes('/') || name.includes('kubernetes.io/');
}

/** What nodes offer beyond the native resources: `example.com/gpu`. */
export function isExtendedResourceName(name: string): boolean {
  return !isNativeResource(name) && !name.startsWith('requests.');
}
