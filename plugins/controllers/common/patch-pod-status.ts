import { type ControllerClient, isNotFound } from 'kubenest/sdk';
import type { Pod, PodCondition } from 'kubenest/types/core_v1';
import { pods } from './pods.ts';

/**
 * Sets a condition of a pod by a patch of its status, and its phase if given. The patch applies to the same pod only. Returns false if that
 * is gone. Upstream: pkg/util/pod.PatchPodStatus.
 */
export async function patchPodStatus(
  client: ControllerClient,
  { metadata, status }: Pod,
  condition: PodCondition | undefined,
  phase?: string,
): Promise<boolean> {
  const present = status?.conditions?.find(({ type }) => type === condition?.type);
  const isSame = present?.status === condition?.status && present?.lastTransitionTime !== undefined;
  const changed = condition && {
    observedGeneration: metadata.generation,
    ...condition,
    ...(isSame && { lastTransitionTime: present.lastTransitionTime }),
  };
  const patch = {
    metadata: { uid: metadata.uid },
    status: { ...(phase && { phase, observedGeneration: metadata.generation }), ...(changed && { conditions: [changed] }) },
  };
  const target = { ...pods, subresource: 'status' };
  try {
    await client.patch(target, metadata.namespace ?? '', metadata.name ?? '', { type: 'strategic', patch });
    return true;
  } catch (error) {
    if (isNotFound(error)) return false;
    throw error;
  }
}
