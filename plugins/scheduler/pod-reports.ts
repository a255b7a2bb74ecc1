import { type Clock, type ControllerClient, type EventRecorder, formatTime, isNotFound, type Logger } from 'kubenest/sdk';
import type { Pod, PodCondition } from 'kubenest/types/core_v1';
import type { PodInfo } from './framework/pod-info.ts';
import { defaultSchedulerName } from './profile.ts';

const pods = { group: '', version: 'v1', resource: 'pods', subresource: 'status' } as const;

/** Writes the events about the scheduling of pods, and their condition PodScheduled. */
export class PodReports {
  constructor(
    private readonly client: ControllerClient,
    private readonly recorder: EventRecorder,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  /** Emits an event about a pod in the name of the scheduler of `by`. */
  event(pod: Pod, type: 'Normal' | 'Warning', reason: string, message: string, action: string, by: Pod = pod): void {
    const component = by.spec?.schedulerName ?? defaultSchedulerName;
    this.recorder.event(pod, type, reason, message, { action, component });
  }

  /** Reports that a pod got no node. `nominated`: the node to nominate, empty to withdraw a nomination, undefined to keep it. */
  failed({ pod, namespace }: PodInfo, reason: string, message: string, nominated: string | undefined): void {
    this.event(pod, 'Warning', 'FailedScheduling', message, 'Scheduling');
    const old = pod.status?.conditions?.find(({ type }) => type === 'PodScheduled');
    const isNominationChange = nominated !== undefined && nominated !== (pod.status?.nominatedNodeName ?? '');
    const isSame = old?.status === 'False' && old.reason === reason && old.message === message;
    if (isSame && !isNominationChange) return;
    const { generation } = pod.metadata;
    const condition: PodCondition = {
      type: 'PodScheduled',
      status: 'False',
      reason,
      message,
      ...(generation !== undefined && { observedGeneration: generation }),
      lastTransitionTime: (old?.status === 'False' && old.lastTransitionTime) || formatTime(this.clock.wallTime()),
    };
    const nomination = isNominationChange ? { nominatedNodeName: nominated === '' ? null : nominated } : {};
    void this.#patchStatus(pod, namespace, { conditions: [condition], ...nomination });
  }

  /** Writes the node that the pod is about to get, and returns the pod with it. A failure is logged, since the binding does not need it. */
  async nominated(info: PodInfo, node: string): Promise<PodInfo> {
    const { pod, namespace } = info;
    if (pod.status?.nominatedNodeName === node) return info;
    await this.#patchStatus(pod, namespace, { nominatedNodeName: node });
    return { ...info, pod: { ...pod, status: { ...pod.status, nominatedNodeName: node } } };
  }

  async #patchStatus({ metadata }: Pod, namespace: string, status: object): Promise<void> {
    const { name = '', uid } = metadata;
    try {
      await this.client.patch(pods, namespace, name, { type: 'strategic', patch: { metadata: { uid }, status } });
    } catch (error) {
      if (!isNotFound(error))
        this.logger.warn({ pod: `${namespace}/${name}`, reason: (error as Error).message }, 'cannot write the status of a pod');
    }
  }
}
