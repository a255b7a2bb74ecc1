/** Defaults of flow schemas and priority levels. Upstream: pkg/apis/flowcontrol/v1/defaults.go. */
import type { FlowSchema, PriorityLevelConfiguration } from '#kubernetes/schema/flowcontrol_v1.gen';

export function defaultFlowSchema(schema: FlowSchema): void {
  const spec = (schema.spec ??= {});
  if (!spec.matchingPrecedence) spec.matchingPrecedence = 1000;
}

export function defaultPriorityLevelConfiguration({ spec }: PriorityLevelConfiguration): void {
  const { limited, exempt } = spec ?? {};
  if (limited !== undefined) {
    limited.nominalConcurrencyShares ??= 30;
    limited.lendablePercent ??= 0;
    const queuing = limited.limitResponse?.queuing;
    if (queuing !== undefined) {
      if (!queuing.handSize) queuing.handSize = 8;
      if (!queuing.queues) queuing.queues = 64;
      if (!queuing.queueLengthLimit) queuing.queueLengthLimit = 50;
    }
  }
  if (exempt !== undefined) {
    exempt.nominalConcurrencyShares ??= 0;
    exempt.lendablePercent ??= 0;
  }
}
