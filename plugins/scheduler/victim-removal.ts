import { type Clock, type ControllerClient, formatTime, isNotFound, type Logger } from 'kubenest/sdk';
import type { PodCondition } from 'kubenest/types/core_v1';
import type { PodInfo } from './framework/pod-info.ts';
import type { PodReports } from './pod-reports.ts';
import type { Candidate } from './preemption.ts';

const pods = { group: '', version: 'v1', resource: 'pods' } as const;

/** Deletes the victims of preemptions. Upstream: framework/preemption/executor.go. */
export class VictimRemoval {
  constructor(
    private readonly client: ControllerClient,
    private readonly reports: PodReports,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  /** Deletes the victims of a pod one after another. A failure is logged, and the others are deleted. */
  async remove({ uid, pod }: PodInfo, { node, victims }: Candidate): Promise<void> {
    for (const { pod: victim, namespace } of victims) {
      if (victim.metadata.deletionTimestamp !== undefined) continue;
      const { name = '', generation } = victim.metadata;
      const condition: PodCondition = {
        type: 'DisruptionTarget',
        ...(generation !== undefined && { observedGeneration: generation }),
        status: 'True',
        reason: 'PreemptionByScheduler',
        message: `${pod.spec?.schedulerName}: preempting to accommodate a higher priority pod`,
        lastTransitionTime: formatTime(this.clock.wallTime()),
      };
      const patch = { metadata: { uid: victim.metadata.uid }, status: { conditions: [condition] } };
      try {
        await this.client.patch({ ...pods, subresource: 'status' }, namespace, name, { type: 'strategic', patch });
        await this.client.remove(pods, namespace, name, { preconditions: { uid: victim.metadata.uid } });
        this.reports.event(victim, 'Normal', 'Preempted', `Preempted by pod ${uid} on node ${node.name}`, 'Preempting', pod);
      } catch (error) {
        if (!isNotFound(error)) this.logger.warn({ pod: `${namespace}/${name}`, reason: (error as Error).message }, 'cannot preempt a pod');
      }
    }
  }
}
