import { Flag } from './flag.ts';

/** What pods may ask for. Upstream: kubernetes/pkg/capabilities. */
export class PodOptions {
  @Flag('allow-privileged')
  allowPrivileged = false;

  /** How long pods stay on nodes that are not ready, by the plugin DefaultTolerationSeconds, */
  @Flag('default-not-ready-toleration-seconds')
  defaultNotReadyTolerationSeconds = 300;

  /** and on those that cannot be reached. */
  @Flag('default-unreachable-toleration-seconds')
  defaultUnreachableTolerationSeconds = 300;
}
