import { Min } from 'class-validator';
import { Flag } from './flag.ts';

/** Shutdown of the server. Upstream: apiserver/pkg/server/options/server_run_options.go. */
export class ShutdownOptions {
  @Flag('shutdown-delay-duration')
  @Min(0, { message: '--shutdown-delay-duration can not be negative value' })
  shutdownDelayDuration = 0;

  @Flag('shutdown-send-retry-after')
  shutdownSendRetryAfter = false;

  @Flag('shutdown-watch-termination-grace-period')
  @Min(0, { message: '--shutdown-watch-termination-grace-period, if provided, can not be a negative value' })
  shutdownWatchTerminationGracePeriod = 0;

  /** True if the server shuts down when its parent process has ended. Upstream has no such flag. */
  @Flag('exit-with-parent')
  exitWithParent = false;
}
