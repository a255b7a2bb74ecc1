import type { Filter } from '#apiserver/request/request-context';

/**
 * Closes HTTP/2 connections with the given probability, so that load balancers can redistribute clients. Upstream:
 * server/filters/goaway.go.
 */
export function withProbabilisticGoaway(chance: number, random: () => number = Math.random): Filter {
  if (chance === 0) return (next) => next;
  return (next) => (context) => {
    if (context.exchange.protocol === 'HTTP/2.0' && random() < chance) context.exchange.closeConnectionAfter();
    return next(context);
  };
}
