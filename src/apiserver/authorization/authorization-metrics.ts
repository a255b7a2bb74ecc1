import { Counter, type Registry } from 'prom-client';
import type { UnionAuthorizer } from './union.ts';

/** Built-in authorizers that upstream's metric does not count: it counts configured ones only. */
const uncounted = new Set(['PrivilegedGroups', 'AlwaysAllowPaths']);

/** Registers the metric of decisions by authorizer. Upstream: apiserver/pkg/authorization/metrics/metrics.go. */
export function registerAuthorizationDecisions(registry: Registry, union: UnionAuthorizer): void {
  registry.registerMetric(
    new Counter({
      name: 'apiserver_authorization_decisions_total',
      help: 'Total number of terminal decisions made by an authorizer split by authorizer type, name, and decision.',
      labelNames: ['type', 'name', 'decision'],
      registers: [],
      collect() {
        this.reset();
        for (const { type, name, allowed, denied } of union.decisions.all) {
          if (uncounted.has(type)) continue;
          if (allowed > 0) this.inc({ type, name, decision: 'allowed' }, allowed);
          if (denied > 0) this.inc({ type, name, decision: 'denied' }, denied);
        }
      },
    }),
  );
}
