import type { Filter } from '#apiserver/request/request-context';

/** Sets the time of receipt. Upstream: endpoints/filters/request_received_time.go. */
export const withRequestReceivedTimestamp: Filter = (next) => (context) => {
  context.receivedAt = performance.now();
  return next(context);
};
