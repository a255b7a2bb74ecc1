import { Check, Flag } from './flag.ts';

/**
 * Timing, in milliseconds, of the election of the server that elects leaders for other components (gate CoordinatedLeaderElection).
 * Upstream: pkg/controlplane/apiserver/options.
 */
export class LeadershipOptions {
  @Flag('coordinated-leadership-lease-duration')
  @Check<LeadershipOptions>((lease: number, { coordinatedLeadershipRenewDeadline: renew }) =>
    lease > renew ? undefined : '--coordinated-leadership-lease-duration must be greater than --coordinated-leadership-renew-deadline',
  )
  coordinatedLeadershipLeaseDuration = 15_000;

  @Flag('coordinated-leadership-renew-deadline')
  @Check<LeadershipOptions>((renew: number, { coordinatedLeadershipRetryPeriod: retry }) =>
    renew > retry ? undefined : '--coordinated-leadership-renew-deadline must be greater than --coordinated-leadership-retry-period',
  )
  coordinatedLeadershipRenewDeadline = 10_000;

  @Flag('coordinated-leadership-retry-period')
  @Check<LeadershipOptions>((retry: number) => (retry > 0 ? undefined : '--coordinated-leadership-retry-period must be greater than zero'))
  coordinatedLeadershipRetryPeriod = 2_000;
}
