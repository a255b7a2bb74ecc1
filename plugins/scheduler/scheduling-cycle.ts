import type { ClusterView, Filter, Rejection, Score } from './framework/framework.ts';
import type { NodeInfo } from './framework/node-info.ts';
import type { PodInfo } from './framework/pod-info.ts';

/** A filter with the state that it prepared for the pod. */
export interface ActiveFilter {
  readonly filter: Filter;
  readonly state: unknown;
}

/** Reasons for which no node can take a pod. */
export interface Diagnosis {
  /** Reasons of a filter that rejected the pod before any node was checked. */
  readonly podReasons?: readonly string[];
  /** Rejections by node. */
  readonly nodes: ReadonlyMap<string, Rejection>;
  /** Rejection of the nodes that are not in `nodes`. */
  readonly absent?: Rejection;
  /** Names of the filters that rejected. */
  readonly filters: ReadonlySet<string>;
}

export type CycleResult =
  | { readonly node: NodeInfo; readonly active: readonly ActiveFilter[] }
  | { readonly diagnosis: Diagnosis; readonly active: readonly ActiveFilter[] };

/** Pods that a preemption assigned to a node, but that are not bound yet. */
export interface Nominations {
  /** Returns the pods of at least the priority, other than the given one, that are nominated for the node. */
  of(node: string, pod: PodInfo): readonly PodInfo[];
}

/** Prepares the filters for a pod; the second result is the diagnosis of a filter that rejected it at once. */
export function prepareFilters(
  pod: PodInfo,
  cluster: ClusterView,
  filters: readonly Filter[],
): { readonly active: ActiveFilter[]; readonly only?: ReadonlySet<string>; readonly narrowing: string[]; readonly diagnosis?: Diagnosis } {
  const active: ActiveFilter[] = [];
  const narrowing: string[] = [];
  let only: ReadonlySet<string> | undefined;
  for (const filter of filters) {
    const prepared = filter.prepare(pod, cluster);
    if (prepared === 'skip') continue;
    if ('rejection' in prepared) {
      const { reasons } = prepared.rejection;
      const nodes = new Map(cluster.nodes.map(({ name }) => [name, prepared.rejection]));
      return { active, narrowing, diagnosis: { podReasons: reasons, nodes, filters: new Set([filter.name]) } };
    }
    if (prepared.nodes) {
      const { nodes } = prepared;
      const before = only;
      only = before ? new Set([...nodes].filter((name) => before.has(name))) : nodes;
      narrowing.push(filter.name);
    }
    active.push({ filter, state: prepared.state });
  }
  return { active, ...(only && { only }), narrowing };
}

/** Returns the first rejection of a node, and the filter. */
export function checkNode(
  active: readonly ActiveFilter[],
  pod: PodInfo,
  node: NodeInfo,
): { rejection: Rejection; filter: string } | undefined {
  for (const { filter, state } of active) {
    const rejection = filter.check(state, pod, node);
    if (rejection) return { rejection, filter: filter.name };
  }
  return undefined;
}

/**
 * Checks a node as if the pods nominated for it were there already, and again without them, because these pods may never be bound.
 * Upstream: framework/runtime (RunFilterPluginsWithNominatedPods).
 */
export function checkNodeWithNominated(
  active: readonly ActiveFilter[],
  pod: PodInfo,
  node: NodeInfo,
  nominations: Nominations,
): ReturnType<typeof checkNode> {
  const nominated = nominations.of(node.name, pod).filter(({ uid }) => !node.pods.has(uid));
  if (nominated.length > 0) {
    const full = node.clone();
    const states = copyStates(active);
    for (const other of nominated) changeNode(states, pod, other, full, 1);
    const failed = checkNode(states, pod, full);
    if (failed) return failed;
  }
  return checkNode(active, pod, node);
}

/** Copies the states that `changeNode` modifies. */
export function copyStates(active: readonly ActiveFilter[]): ActiveFilter[] {
  return active.map(({ filter, state }) => ({ filter, state: filter.copy ? filter.copy(state) : state }));
}

/** Adds another pod to a copy of a node or removes it, in the states too. */
export function changeNode(active: readonly ActiveFilter[], pod: PodInfo, other: PodInfo, node: NodeInfo, sign: 1 | -1): void {
  if (sign === 1) node.add(other);
  else node.remove(other.uid);
  for (const { filter, state } of active) filter.change?.(state, pod, other, node, sign);
}

/** Chooses the node of a pod. `random` (0 to 1) decides between nodes of the same score. */
export function schedulePod(
  pod: PodInfo,
  cluster: ClusterView,
  filters: readonly Filter[],
  scores: readonly Score[],
  nominations: Nominations,
  random: () => number,
): CycleResult {
  const { active, only, narrowing, diagnosis } = prepareFilters(pod, cluster, filters);
  if (diagnosis) return { diagnosis, active };
  const feasible: NodeInfo[] = [];
  const rejections = new Map<string, Rejection>();
  const rejecting = new Set<string>(only ? narrowing : []);
  for (const node of cluster.nodes) {
    if (only && !only.has(node.name)) continue;
    const failed = checkNodeWithNominated(active, pod, node, nominations);
    if (!failed) feasible.push(node);
    else {
      rejections.set(node.name, failed.rejection);
      rejecting.add(failed.filter);
    }
  }
  if (feasible.length === 0) {
    const absent: Rejection = { reasons: [`node(s) didn't satisfy plugin(s) [${[...narrowing].sort().join(' ')}]`], isUnresolvable: true };
    return { diagnosis: { nodes: rejections, filters: rejecting, ...(only && { absent }) }, active };
  }
  return { node: bestNode(pod, cluster, scores, feasible, active, random), active };
}

/** Returns the node with the greatest sum of weighted scores. */
function bestNode(
  pod: PodInfo,
  cluster: ClusterView,
  scores: readonly Score[],
  nodes: readonly NodeInfo[],
  active: readonly ActiveFilter[],
  random: () => number,
): NodeInfo {
  if (nodes.length === 1) return nodes[0] as NodeInfo;
  const stateOf = (name: string): unknown => active.find(({ filter }) => filter.name === name)?.state;
  const totals = nodes.map(() => 0);
  for (const score of scores) {
    const state = score.prepare(pod, cluster, nodes, stateOf);
    if (state === undefined) continue;
    const values = nodes.map((node) => score.score(state, pod, node));
    score.normalize?.(state, values, nodes);
    for (const [i, value] of values.entries()) totals[i] = (totals[i] as number) + value * score.weight;
  }
  const best = Math.max(...totals);
  const winners = nodes.filter((_, i) => totals[i] === best);
  return winners[Math.floor(random() * winners.length)] as NodeInfo;
}
