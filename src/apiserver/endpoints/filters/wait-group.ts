import type { Filter } from '#apiserver/request/request-context';
import type { WaitGroup } from '#apiserver/base/wait-group';

/** Counts the requests that a graceful shutdown waits for: all but long-running ones. Upstream: server/filters/waitgroup.go. */
export function withWaitGroup(requests: WaitGroup): Filter {
  return (next) => (context) => {
    if (context.longRunning) return next(context);
    const leave = requests.enter();
    let result: void | Promise<void>;
    try {
      result = next(context);
    } catch (error) {
      leave();
      throw error;
    }
    if (result === undefined) leave();
    else context.whenSettled(leave);
    return result;
  };
}
