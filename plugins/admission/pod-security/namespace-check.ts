import { quote } from 'kubenest/sdk';
import type { Pod } from '../../common/pod-walker.ts';
import { reasonsText, violationsOf } from './evaluator.ts';
import { labelOf, type LevelVersion, levelVersionText, type Mode, type Policy, versionLabelOf } from './level.ts';

const maxPods = 3_000;
const maxMs = 1_000;

/**
 * Returns warnings about existing pods that violate a stricter level, checking for a second at most. `pods` excludes exempt
 * pods. Upstream: pod-security-admission/admission (EvaluatePodsInNamespace).
 */
export async function warningsAboutPods(namespace: string, pods: readonly Pod[], enforce: LevelVersion): Promise<string[]> {
  const candidates = onePerControllerFirst(pods);
  const bad = new Map<string, { name: string; count: number }>();
  const began = performance.now();
  let checked = 0;
  for (const pod of candidates.slice(0, maxPods)) {
    const violations = violationsOf(enforce, pod);
    checked += 1;
    if (violations.length > 0) count(bad, reasonsText(violations), pod.metadata.name ?? '');
    if (performance.now() - began > maxMs) break;
    // Yields to the event loop, because a namespace may have many pods.
    if (checked % 100 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  const warnings: string[] = [];
  if (checked < candidates.length)
    warnings.push(`new PodSecurity enforce level only checked against the first ${checked} of ${candidates.length} existing pods`);
  if (bad.size > 0) {
    warnings.push(
      `existing pods in namespace ${quote(namespace)} violate the new PodSecurity enforce level ${quote(levelVersionText(enforce))}`,
    );
  }
  const others = (number: number): string => (number === 1 ? '' : number === 2 ? ' (and 1 other pod)' : ` (and ${number - 1} other pods)`);
  return [...warnings, ...Array.from(bad, ([text, { name, count: number }]) => `${name}${others(number)}: ${text}`).sort()];
}

function count(bad: Map<string, { name: string; count: number }>, text: string, name: string): void {
  const seen = bad.get(text);
  if (!seen) bad.set(text, { name, count: 1 });
  else {
    seen.count += 1;
    if (name < seen.name) seen.name = name;
  }
}

/** Moves one pod of each controller to the front, because the pods of a controller are similar. */
function onePerControllerFirst(pods: readonly Pod[]): Pod[] {
  const seen = new Set<string>();
  const first: Pod[] = [];
  const rest: Pod[] = [];
  for (const pod of pods) {
    const controller = pod.metadata.ownerReferences?.find((owner) => owner.controller)?.uid;
    if (controller !== undefined && seen.has(controller)) rest.push(pod);
    else first.push(pod);
    if (controller !== undefined) seen.add(controller);
  }
  return [...first, ...rest];
}

/** Returns the warning about labels of an exempt namespace, which have no effect. */
export function exemptNamespaceWarning(name: string, policy: Policy, labels: Readonly<Record<string, string>>): string {
  const modes: readonly Mode[] = ['enforce', 'audit', 'warn'];
  const levels = modes
    .filter((mode) => policy[mode].level !== 'privileged' && (labels[labelOf(mode)] ?? labels[versionLabelOf(mode)]) !== undefined)
    .map((mode) => `${mode}=${levelVersionText(policy[mode])}`);
  return `namespace ${quote(name)} is exempt from Pod Security, and the policy (${levels.join(', ')}) will be ignored`;
}
