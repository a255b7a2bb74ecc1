import type { ControllerOptions } from 'kubenest/sdk';

/**
 * Options of the controllers that kube-controller-manager has: they share its lease, so that only one of the two runs, its field manager,
 * and the form of its events.
 */
export const asManager = {
  lease: 'kube-controller-manager',
  userAgent: 'kube-controller-manager',
  events: 'v1',
} as const satisfies Partial<ControllerOptions>;
