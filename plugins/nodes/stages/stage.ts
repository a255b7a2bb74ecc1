import type { KubeObject } from 'kubenest/sdk';
import { parseGoDuration } from '../go-duration.ts';
import { compileJq, type Json } from './jq.ts';
import type {
  StageDelay,
  StageExpression,
  StageNext,
  StageObject,
  StagePatch,
  StageSelector,
  StageStep,
  ValueFrom,
} from './stage-types.ts';
import { compileTemplate, type TemplateFunctions } from './template.ts';

/** A stage that is ready to use. */
export interface Stage {
  readonly name: string;
  matches(object: KubeObject): boolean;
  /** Weight among the stages that match; undefined if it has none. */
  weight(object: KubeObject): number | undefined;
  /** Delay in milliseconds; `random` (0 to 1) chooses within the jitter. */
  delay(object: KubeObject, now: number, random: number): number;
  readonly steps: readonly CompiledStep[];
}

/** A step with its compiled template. */
export interface CompiledStep extends Omit<StageStep, 'patch' | 'apply'> {
  readonly patch?: CompiledPatch;
}
export interface CompiledPatch extends Omit<StagePatch, 'template'> {
  render(data: unknown, functions: TemplateFunctions): string;
}

/** A stage that cannot be used, and why. */
export class StageError extends Error {}

const supported = 'kwok.x-k8s.io/v1alpha1';

/**
 * Compiles a stage for pods. Throws a StageError that names the stage for other kinds, for features that are not supported (CEL, `apply`,
 * impersonation) and for invalid queries and templates. Upstream: kwok/pkg/utils/lifecycle.
 */
export function compileStage({ apiVersion, kind, metadata, spec = {} }: StageObject): Stage {
  const name = metadata?.name ?? '';
  try {
    if (apiVersion !== supported || kind !== 'Stage') throw new Error(`it is not a Stage of ${supported}`);
    const { apiGroup = 'v1', kind: of } = spec.resourceRef ?? {};
    if (apiGroup !== 'v1' || of !== 'Pod') throw new Error(`resources of kind ${of} are not simulated by stages`);
    return {
      name,
      matches: compileSelector(spec.selector),
      weight: compileWeight(spec.weight, spec.weightFrom),
      delay: compileDelay(spec.delay ?? {}),
      steps: [...stepsOfNext(spec.next), ...(spec.steps ?? [])].map(compileStep),
    };
  } catch (cause) {
    throw new StageError(`stage ${name}: ${(cause as Error).message}`, { cause });
  }
}

/** A stage without a selector matches nothing. */
function compileSelector(selector: StageSelector | undefined): Stage['matches'] {
  if (!selector) return () => false;
  const { matchLabels = {}, matchAnnotations = {}, matchExpressions = [] } = selector;
  const requirements = matchExpressions.map(compileRequirement);
  const hasAll = (wanted: Readonly<Record<string, string>>, present: Readonly<Record<string, string>> = {}): boolean =>
    Object.entries(wanted).every(([key, value]) => Object.hasOwn(present, key) && present[key] === value);
  return (object) =>
    hasAll(matchLabels, object.metadata.labels) &&
    hasAll(matchAnnotations, object.metadata.annotations) &&
    requirements.every((requirement) => requirement(object));
}

/** Upstream: kwok/pkg/utils/expression/selector.go. */
function compileRequirement({ jq, cel, ...own }: StageExpression): (object: KubeObject) => boolean {
  if (cel) throw new Error('CEL expressions are not supported');
  const { key = '', operator = '', values = [] } = jq ?? own;
  const needsValues = operator === 'In' || operator === 'NotIn';
  if (!needsValues && operator !== 'Exists' && operator !== 'DoesNotExist')
    throw new Error(`operator ${JSON.stringify(operator)} is unknown`);
  if (needsValues !== values.length > 0) throw new Error(`operator ${operator} ${needsValues ? 'needs' : 'takes no'} values`);
  const query = compileJq(key);
  const isListed = (value: Json): boolean =>
    (typeof value === 'string' || typeof value === 'boolean' || Number.isInteger(value)) && values.includes(String(value));
  return (object) => {
    const outputs = query(object) ?? [];
    if (operator === 'In') return outputs.some(isListed);
    if (operator === 'NotIn') return !outputs.some(isListed);
    return outputs.length > 0 === (operator === 'Exists');
  };
}

/** Compiles the query of a value, which returns its first output; undefined if there is none. */
function compileValue(from: ValueFrom | undefined): ((object: KubeObject) => Json) | undefined {
  if (!from) return undefined;
  if (from.cel) throw new Error('CEL expressions are not supported');
  const query = compileJq(from.jq?.expression ?? from.expressionFrom ?? '');
  return (object) => query(object)?.[0];
}

function compileWeight(weight = 0, from: ValueFrom | undefined): Stage['weight'] {
  const value = compileValue(from);
  if (!value) return () => weight;
  return (object) => {
    const found = value(object);
    if (found === undefined) return weight;
    const number = typeof found === 'number' ? found : typeof found === 'string' && /^-?\d+$/.test(found) ? Number(found) : undefined;
    return number !== undefined && number >= 0 ? Math.trunc(number) : undefined;
  };
}

function compileDelay({ durationMilliseconds, durationFrom, jitterDurationMilliseconds, jitterDurationFrom }: StageDelay): Stage['delay'] {
  const duration = compileDuration(durationMilliseconds ?? 0, durationFrom);
  const jitter = compileDuration(jitterDurationMilliseconds, jitterDurationFrom);
  return (object, now, random) => {
    const least = duration(object, now) ?? 0;
    const most = jitter(object, now);
    if (most === undefined) return Math.max(0, least);
    return Math.max(0, most <= least ? most : least + random * (most - least));
  };
}

/** A duration is a text of Go, or the time until an RFC 3339 time. */
function compileDuration(ms: number | undefined, from: ValueFrom | undefined): (object: KubeObject, now: number) => number | undefined {
  const value = compileValue(from);
  if (!value) return () => ms;
  return (object, now) => {
    const found = value(object);
    if (typeof found !== 'string') return ms;
    if (found === '') return undefined;
    const time = /^\d{4}-\d\d-\d\dT/.test(found) ? Date.parse(found) : Number.NaN;
    return Number.isNaN(time) ? (parseGoDuration(found) ?? ms) : time - now;
  };
}

/** Steps that the older form `next` stands for. Upstream: kwok/pkg/apis/internalversion/conversion.go. */
function stepsOfNext(next: StageNext | undefined): StageStep[] {
  if (!next) return [];
  if (next.statusPatchAs) throw new Error('impersonation is not supported');
  const steps: StageStep[] = [];
  if (next.event) steps.push({ event: next.event });
  if (next.finalizers) steps.push({ finalizers: next.finalizers });
  if (next.delete) return [...steps, { delete: true }];
  for (const patch of next.patches ?? []) steps.push({ patch });
  if (next.statusTemplate !== undefined)
    steps.push({ patch: { subresource: next.statusSubresource ?? 'status', root: 'status', template: next.statusTemplate } });
  return steps;
}

function compileStep({ patch, apply, ...step }: StageStep): CompiledStep {
  if (apply) throw new Error('apply is not supported');
  if (!patch) return step;
  const { template = '', ...rest } = patch;
  if (rest.impersonation) throw new Error('impersonation is not supported');
  if (!['json', 'merge', 'strategic', undefined].includes(rest.type)) throw new Error(`patch type ${rest.type} is unknown`);
  return { ...step, patch: { ...rest, render: compileTemplate(template) } };
}

/**
 * Chooses among the stages that match: one alone; else by weight, where stages of weight 0 count only if no other has a weight. Upstream:
 * kwok/pkg/utils/lifecycle/lifecycle.go (Match).
 */
export function chooseStage(stages: readonly Stage[], object: KubeObject, random: number): Stage | undefined {
  const matching = stages.filter((stage) => stage.matches(object));
  if (matching.length <= 1) return matching[0];
  const weights = matching.map((stage) => stage.weight(object));
  const total = weights.reduce<number>((sum, weight) => sum + (weight ?? 0), 0);
  if (total === 0) {
    const weighted = matching.filter((_, i) => weights[i] !== undefined);
    const choices = weighted.length > 0 ? weighted : matching;
    return choices[Math.floor(random * choices.length)];
  }
  let left = random * total;
  for (const [i, stage] of matching.entries()) {
    left -= weights[i] ?? 0;
    if (left < 0) return stage;
  }
  return matching.at(-1);
}
