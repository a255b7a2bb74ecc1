import type { Filter } from '#apiserver/request/request-context';

/** Now and then an HTTP/2 client is asked to connect anew, so that load balancers get to spread it. Upstream: server/filters/goaway.go. */
export function withProbabilisticGoaway(chance: number, random: () => number = Math.random): Filter {
  if (chance === 0) return (next) => next;
  return (next) => (context) => {
    if (context.exchange.protocol === 'HTTP/2.0' && random() < chance) context.exchange.closeConnectionAfter();
    return next(context);
  };
}
