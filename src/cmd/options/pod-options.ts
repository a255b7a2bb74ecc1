import { Flag } from './flag.ts';

/** Capabilities and default tolerations of pods. Upstream: kubernetes/pkg/capabilities. */
export class PodOptions {
  @Flag('allow-privileged')
  allowPrivileged = false;

  /** Seconds that pods stay on nodes that are not ready (plugin DefaultTolerationSeconds). */
  @Flag('default-not-ready-toleration-seconds')
  defaultNotReadyTolerationSeconds = 300;

  /** Seconds that pods stay on unreachable nodes. */
  @Flag('default-unreachable-toleration-seconds')
  defaultUnreachableTolerationSeconds = 300;
}
