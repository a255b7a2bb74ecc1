import type { Diagnosis } from './scheduling-cycle.ts';

/**
 * Text for a pod that no node can take, in upstream's words:
 * `0/3 nodes are available: 1 Insufficient cpu, 2 node(s) had untolerated taint(s). preemption: …`. Upstream: framework/types.go
 * (FitError).
 */
export function fitError(nodeCount: number, { podReasons, nodes, absent }: Diagnosis, postFilter = ''): string {
  let text = `0/${nodeCount} nodes are available:`;
  if (podReasons) text += ` ${podReasons.join(', ')}.`;
  else {
    const counts = new Map<string, number>();
    const add = (reason: string, by: number): void => void counts.set(reason, (counts.get(reason) ?? 0) + by);
    for (const { reasons } of nodes.values()) for (const reason of reasons) add(reason, 1);
    if (nodes.size < nodeCount) for (const reason of absent?.reasons ?? []) add(reason, nodeCount - nodes.size);
    const parts = [...counts].map(([reason, count]) => `${count} ${reason}`).sort();
    if (parts.length > 0) text += ` ${parts.join(', ')}.`;
  }
  return postFilter === '' ? text : `${text} ${postFilter}`;
}

/** Text for a pod in a cluster without nodes. Upstream: scheduler.go (ErrNoNodesAvailable). */
export const noNodesAvailable = 'no nodes available to schedule pods';
