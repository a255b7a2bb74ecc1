/** What a version of resource.k8s.io says of a field selector that ResourceSlices have not. */
export function unsupportedSliceField(version: string): (label: string) => string {
  return (label) => `field label not supported for resource.k8s.io/${version}, Kind=ResourceSlice: ${label}`;
}
