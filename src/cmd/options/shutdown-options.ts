import { Min } from 'class-validator';
import { Flag } from './flag.ts';

/** How the server ends. Upstream: apiserver/pkg/server/options/server_run_options.go. */
export class ShutdownOptions {
  @Flag('shutdown-delay-duration')
  @Min(0, { message: '--shutdown-delay-duration can not be negative value' })
  shutdownDelayDuration = 0;

  @Flag('shutdown-send-retry-after')
  shutdownSendRetryAfter = false;

  @Flag('shutdown-watch-termination-grace-period')
  @Min(0, { message: '--shutdown-watch-termination-grace-period, if provided, can not be a negative value' })
  shutdownWatchTerminationGracePeriod = 0;

  /** This flag is ours: the server shuts down when the process that started it has ended. */
  @Flag('exit-with-parent')
  exitWithParent = false;
}
