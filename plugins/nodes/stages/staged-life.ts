import { Buffer } from 'node:buffer';
import type { ObjectPatch } from 'kubenest/sdk';
import type { Pod } from 'kubenest/types/core_v1';
import { parseYaml } from '#sdk/internal';
import type { KubeletEvent } from '../pods/container-life.ts';
import type { LifeOutcome, LifeStep, PodHost } from '../pods/pod-life.ts';
import { limitWork, maxWork } from '../shell/work.ts';
import { timeText } from '../time.ts';
import { chooseStage, type CompiledPatch, type CompiledStep, type Stage } from './stage.ts';
import { finalizerOperations } from './stage-finalizers.ts';
import type { TemplateFunctions } from './template.ts';

/** A stage that was chosen for a version of a pod. */
interface Choice {
  readonly version: string | undefined;
  readonly stage: Stage | undefined;
  readonly at: number;
  hasRun: boolean;
}

/** Names of the conditions of a healthy node, which templates can list. */
const nodeConditions = [
  ['Ready', 'True', 'KubeletReady', 'kubelet is posting ready status'],
  ['MemoryPressure', 'False', 'KubeletHasSufficientMemory', 'kubelet has sufficient memory available'],
  ['DiskPressure', 'False', 'KubeletHasNoDiskPressure', 'kubelet has no disk pressure'],
  ['PIDPressure', 'False', 'KubeletHasSufficientPID', 'kubelet has sufficient PID available'],
].map(([type, status, reason, message]) => ({ type, status, reason, message }));

/**
 * Lives of pods by stages of kwok. For each version of a pod, one of the stages that match is chosen, and is due after its delay. A pod
 * that no stage matches has the built-in life.
 */
export class StagedLife {
  readonly #choices = new Map<string, Choice>();

  constructor(
    private readonly stages: () => readonly Stage[],
    private readonly wallTime: () => number,
    private readonly random: () => number = Math.random,
  ) {}

  /** Returns the next step of a pod: undefined if its stage has run already, 'none' if no stage matches. */
  next(pod: Pod, host: PodHost): LifeStep | undefined | 'none' {
    if (this.#choices.size === 0 && this.stages().length === 0) return 'none';
    const uid = pod.metadata.uid ?? '';
    const version = pod.metadata.resourceVersion;
    let choice = this.#choices.get(uid);
    if (choice?.version !== version || !choice) {
      choice = limitWork(maxWork, () => this.#choose(pod, version));
      this.#choices.set(uid, choice);
    }
    const { stage, at, hasRun } = choice;
    if (!stage) return 'none';
    if (hasRun) return undefined;
    return { at, run: (now) => limitWork(maxWork, () => runStage(stage, pod, host, now)) };
  }

  /** Remembers that the outcome of the pod's stage was written, so that the stage does not run again for this version. */
  done({ metadata }: Pod): void {
    const choice = this.#choices.get(metadata.uid ?? '');
    if (choice && choice.version === metadata.resourceVersion) choice.hasRun = true;
  }

  /** Chooses again for the pods whose stage has not run, because the stages have changed. */
  stagesChanged(): void {
    for (const [uid, { hasRun }] of this.#choices) if (!hasRun) this.#choices.delete(uid);
  }

  forget(uid: string): void {
    this.#choices.delete(uid);
  }

  #choose(pod: Pod, version: string | undefined): Choice {
    const stage = chooseStage(this.stages(), pod, this.random());
    const now = this.wallTime();
    return { version, stage, at: stage ? now + stage.delay(pod, now, this.random()) : 0, hasRun: false };
  }
}

function runStage({ steps }: Stage, pod: Pod, host: PodHost, now: number): LifeOutcome {
  const events: KubeletEvent[] = [];
  const patches: NonNullable<LifeOutcome['patches']>[number][] = [];
  let deletes = false;
  for (const step of steps) {
    const { event } = step;
    if (event)
      events.push({ type: event.type === 'Warning' ? 'Warning' : 'Normal', reason: event.reason ?? '', message: event.message ?? '' });
    if (!deletes) patches.push(...patchesOf(step, pod, host, now));
    deletes ||= step.delete ?? false;
  }
  return { events, patches, deletes };
}

function patchesOf({ finalizers, patch }: CompiledStep, pod: Pod, host: PodHost, now: number): NonNullable<LifeOutcome['patches']> {
  const operations = finalizers ? finalizerOperations(pod.metadata.finalizers ?? [], finalizers) : [];
  return [
    ...(operations.length > 0 ? [{ patch: { type: 'json', patch: operations } as const }] : []),
    ...(patch ? [{ patch: objectPatch(patch, pod, host, now), ...(patch.subresource && { subresource: patch.subresource }) }] : []),
  ];
}

/** Renders a patch. Without a type, patches of pods are strategic merge patches. */
function objectPatch({ type = 'strategic', root, render }: CompiledPatch, pod: Pod, host: PodHost, now: number): ObjectPatch {
  const { value } = parseYaml(Buffer.from(render(pod, functionsOf(pod, host, now))));
  if (type === 'json') {
    const operations = value as unknown as { readonly path: string }[];
    return { type, patch: root ? operations.map((one) => ({ ...one, path: `/${root}${one.path}` })) : operations };
  }
  const patch = (root ? { [root]: value } : value) as object;
  return { type: type === 'merge' ? 'merge' : 'strategic', patch };
}

/** Functions of templates that depend on the pod. Upstream: kwok/pkg/kwok/controllers/pod_controller.go. */
function functionsOf(pod: Pod, host: PodHost, now: number): TemplateFunctions {
  const { hostIP, podIP } = host.addressesOf(pod);
  const time = timeText(now);
  return {
    Now: () => time,
    StartTime: () => time,
    Version: () => 'v0.8.0',
    NodeConditions: () => nodeConditions,
    NodeName: () => pod.spec?.nodeName,
    NodeIP: () => hostIP,
    NodeIPWith: () => hostIP,
    NodeIPsWith: () => [hostIP],
    PodIP: () => podIP,
    PodIPWith: () => podIP,
    PodIPsWith: () => [podIP],
  };
}
