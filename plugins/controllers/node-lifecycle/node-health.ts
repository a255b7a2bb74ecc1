import { formatTime, parseTime } from 'kubenest/sdk';
import type { Lease } from 'kubenest/types/coordination_v1';
import type { Node, NodeCondition } from 'kubenest/types/core_v1';

/** Upstream: --node-monitor-grace-period. */
export const monitorGracePeriodMs = 50_000;
/** Grace period of a node without the condition Ready. Upstream: --node-startup-grace-period. */
export const startupGracePeriodMs = 60_000;

/** Conditions that the kubelet reports. */
const kubeletConditions = ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure'];

export function readyCondition({ status }: Node): NodeCondition | undefined {
  return status?.conditions?.find(({ type }) => type === 'Ready');
}

interface Health {
  /** Time of the last sign of life, as observed here: the clocks of nodes do not matter. */
  seenMs: number;
  heartbeat: string | undefined;
  renewed: string | undefined;
}

/** Remembers when each node last gave a sign of life: a new heartbeat in its status, or a renewed lease. Upstream: tryUpdateNodeHealth. */
export class NodeHealth {
  readonly #nodes = new Map<string, Health>();

  /** Takes the present state in. Returns true if the node has been silent for longer than its grace period. */
  observe(node: Node, lease: Lease | undefined, nowMs: number): boolean {
    const name = node.metadata.name ?? '';
    const ready = readyCondition(node);
    const heartbeat = ready?.lastHeartbeatTime;
    const renewed = lease?.spec?.renewTime;
    const known = this.#nodes.get(name);
    const isNews = known !== undefined && (known.heartbeat !== heartbeat || (renewed ?? '') > (known.renewed ?? ''));
    const firstSeenMs = ready ? nowMs : parseTime(node.metadata.creationTimestamp ?? formatTime(nowMs));
    const seenMs = isNews || (!known && renewed !== undefined) ? nowMs : (known?.seenMs ?? firstSeenMs);
    this.#nodes.set(name, { seenMs, heartbeat, renewed });
    return nowMs > seenMs + (ready ? monitorGracePeriodMs : startupGracePeriodMs);
  }

  forget(name: string): void {
    this.#nodes.delete(name);
  }

  /** Counts all nodes as seen now. */
  reset(nowMs: number): void {
    for (const health of this.#nodes.values()) health.seenMs = nowMs;
  }
}

/** Returns the conditions of a silent node: those that the kubelet reports are unknown. */
export function silentConditions(node: Node, now: string): NodeCondition[] {
  const conditions = (node.status?.conditions ?? []).map((condition) => {
    if (!kubeletConditions.includes(condition.type ?? '') || condition.status === 'Unknown') return condition;
    const unknown = { status: 'Unknown', reason: 'NodeStatusUnknown', message: 'Kubelet stopped posting node status.' };
    return { ...condition, ...unknown, lastTransitionTime: now };
  });
  const missing = kubeletConditions.filter((type) => !conditions.some((condition) => condition.type === type));
  const added = missing.map((type) => ({
    type,
    status: 'Unknown',
    reason: 'NodeStatusNeverUpdated',
    message: 'Kubelet never posted node status.',
    lastHeartbeatTime: node.metadata.creationTimestamp as string,
    lastTransitionTime: now,
  }));
  return [...conditions, ...added];
}
