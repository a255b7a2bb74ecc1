/** Returns the message of a version of resource.k8s.io about an unsupported field selector of ResourceSlices. */
export function unsupportedSliceField(version: string): (label: string) => string {
  return (label) => `field label not supported for resource.k8s.io/${version}, Kind=ResourceSlice: ${label}`;
}
