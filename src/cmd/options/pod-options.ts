import { Flag } from './flag.ts';

/** What pods may ask for. Upstream: kubernetes/pkg/capabilities. */
export class PodOptions {
  @Flag('allow-privileged')
  allowPrivileged = false;
}
