/** Validation of jobs. Upstream: pkg/apis/batch/validation/validation.go, pkg/registry/batch/job/strategy.go. */
import type { ServerTraits } from '#apiserver/registry/resource-definition';
import { isOptedOut } from '#kubernetes/apis/core/capabilities';
import {
  addErrors,
  type FieldError,
  type Path,
  duplicate,
  fieldPath,
  invalid,
  notSupported,
  omitValue,
  required,
  stopIfTooMany,
  tooLong,
  tooMany,
  named,
} from '#apimachinery/validation/field';
import { isDNS1123Label, isDomainPrefixedPath, isQualifiedName, nameIsDNSSubdomain } from '#apimachinery/validation/names';
import { labelSelectorHasInvalidLabelValue } from '#apimachinery/validation/object-meta';
import { byteLength, check, validateNonnegative } from '#kubernetes/apis/core/validation/checks';
import { internalValue } from '#kubernetes/apis/core/validation/internal';
import { validateMetaAgain, validateMetaUpdateAgain } from '#kubernetes/apis/core/validation/object-meta';
import { type PodOptions, templateOptions } from '#kubernetes/apis/core/validation/pod-options';
import { validatePodTemplateSpec } from '#kubernetes/apis/core/validation/pod-spec';
import { equalAs } from '#kubernetes/apis/equal-as';
import { validateImmutable } from '#kubernetes/apis/immutable-field';
import { selects, selectorValue, templateLabelsError, templateValue, validateSelector } from '#kubernetes/apis/pod-template';
import { structValue } from '#kubernetes/apis/struct-value';
import type {
  Job,
  JobSpec,
  PodFailurePolicy,
  PodFailurePolicyOnExitCodesRequirement,
  PodFailurePolicyOnPodConditionsPattern,
  PodFailurePolicyRule,
  SuccessPolicy,
  SuccessPolicyRule,
} from '#kubernetes/schema/batch_v1.gen';
import type { Container, PodSpec, PodTemplateSpec } from '#kubernetes/schema/core_v1.gen';
import { countIndexes } from './index-intervals.ts';
import { hasCondition } from './job-conditions.ts';

const legacyLabels = { uid: 'controller-uid', name: 'job-name' };
const prefixedLabels = { uid: 'batch.kubernetes.io/controller-uid', name: 'batch.kubernetes.io/job-name' };
const maxParallelismForIndexedJob = 100_000;
const maxFailedIndexesForIndexedJob = 100_000;
const completionsSoftLimit = 100_000;
const limitForHighCompletions = 10_000;
const maxSucceededIndexesLength = 64 * 1024;
const maxRules = 20;
const maxExitCodes = 255;
const maxManagedByLength = 63;
const actions = ['Count', 'FailIndex', 'FailJob', 'Ignore'];
const exitCodeOperators = ['In', 'NotIn'];
const conditionStatuses = ['False', 'True', 'Unknown'];
const noSpec: JobSpec = {};
const noTemplate: PodTemplateSpec = {};
const specPath = fieldPath('spec');

const validValues = (values: readonly string[]) => `valid values: [${values.map((value) => `"${value}"`).join(' ')}]`;

export function validateJob(job: Job, server: ServerTraits): FieldError[] {
  const errors: FieldError[] = [];
  validateGeneratedSelector(errors, job, true);
  validateSelectedSpec(errors, job.spec ?? noSpec, specPath, templateOptions(undefined, server), false);
  validateHostnames(errors, job);
  return errors;
}

export function validateJobUpdate(job: Job, old: Job, server: ServerTraits): FieldError[] {
  const errors: FieldError[] = [];
  const { spec = noSpec } = job;
  const oldSpec = old.spec ?? noSpec;
  const options = templateOptions(oldSpec.template, server);
  const oldLabels = oldSpec.template?.metadata?.labels;
  const hadLabels = oldLabels?.[prefixedLabels.name] !== undefined && oldLabels[prefixedLabels.uid] !== undefined;
  validateMetaAgain(errors, job.metadata, nameIsDNSSubdomain);
  validateGeneratedSelector(errors, job, hadLabels);
  // Upstream validates an update as a new object and again as an update: clients see both sets of errors.
  const ofSpec: FieldError[] = [];
  validateSelectedSpec(
    ofSpec,
    spec,
    specPath,
    options,
    labelSelectorHasInvalidLabelValue(oldSpec.selector as Parameters<typeof labelSelectorHasInvalidLabelValue>[0]),
  );
  addErrors(errors, ofSpec);
  validateHostnames(errors, job);
  validateMetaUpdateAgain(errors, job.metadata, old.metadata);
  addErrors(errors, ofSpec);
  validateCompletionsUpdate(errors, spec, oldSpec);
  validateImmutable(errors, spec.selector, oldSpec.selector, specPath, 'selector', selectorValue);
  validateTemplateUpdate(errors, spec.template ?? noTemplate, oldSpec.template ?? noTemplate, old, server);
  validateImmutable(errors, spec.completionMode, oldSpec.completionMode, specPath, 'completionMode', named);
  validateImmutable(errors, spec.podFailurePolicy, oldSpec.podFailurePolicy, specPath, 'podFailurePolicy', podFailurePolicyValue);
  validateImmutable(errors, spec.backoffLimitPerIndex, oldSpec.backoffLimitPerIndex, specPath, 'backoffLimitPerIndex');
  validateImmutable(errors, spec.managedBy, oldSpec.managedBy, specPath, 'managedBy');
  validateImmutable(errors, spec.successPolicy, oldSpec.successPolicy, specPath, 'successPolicy', successPolicyValue);
  return errors;
}

/** Validates the selector and labels that the server generates if the client brings no selector. */
function validateGeneratedSelector(errors: FieldError[], { metadata, spec = noSpec }: Job, requirePrefixedLabels: boolean): void {
  if (spec.manualSelector || !spec.selector) return;
  const { uid = '', name = '' } = metadata;
  if (uid === '') errors.push(required(fieldPath('metadata', 'uid')));
  const labels = spec.template?.metadata?.labels;
  const expected: Record<string, string> = {};
  for (const own of requirePrefixedLabels ? [legacyLabels, prefixedLabels] : [legacyLabels]) {
    expected[own.uid] = uid;
    expected[own.name] = name;
    validateHasLabel(errors, labels, own.uid, uid);
    validateHasLabel(errors, labels, own.name, name);
  }
  if (selects(spec.selector, expected) === false)
    errors.push(invalid(specPath.child('selector'), selectorValue(spec.selector), '`selector` not auto-generated'));
}

function validateHasLabel(errors: FieldError[], labels: Readonly<Record<string, string>> | undefined, key: string, expected: string): void {
  const value = labels?.[key];
  if (value === expected) return;
  const path = specPath.child('template', 'metadata', 'labels').key(key);
  const detail = `must be '${expected}'`;
  errors.push(value === undefined ? required(path, detail) : invalid(path, labels, detail));
}

/** Validates the hostnames of the pods of an indexed job, which consist of the job's name and their index. */
function validateHostnames(errors: FieldError[], { metadata: { name = '' }, spec = noSpec }: Job): void {
  if (spec.completionMode !== 'Indexed' || (spec.completions ?? 0) <= 0) return;
  const last = `${name}-${spec.completions! - 1}`;
  if (isDNS1123Label(last).length > 0) {
    errors.push(invalid(fieldPath('metadata', 'name'), name, `will not able to create pod with invalid DNS label: ${last}`));
  }
}

function validateSelectedSpec(errors: FieldError[], spec: JobSpec, path: Path, options: PodOptions, allowInvalidLabelValue: boolean): void {
  validateJobSpec(errors, spec, path, options);
  if (!spec.selector) errors.push(required(path.child('selector')));
  else validateSelector(errors, spec.selector, path.child('selector'), allowInvalidLabelValue || options.allowInvalidLabelValueInSelector);
  if (selects(spec.selector, spec.template?.metadata?.labels) === false)
    errors.push(templateLabelsError(spec.template ?? noTemplate, path.child('template')));
}

/** Validates the fields that jobs and job templates of cron jobs share. */
export function validateJobSpec(errors: FieldError[], spec: JobSpec, path: Path, options: PodOptions): void {
  validateNonnegative(errors, spec.parallelism, path, 'parallelism');
  validateNonnegative(errors, spec.completions, path, 'completions');
  validateNonnegative(errors, spec.activeDeadlineSeconds, path, 'activeDeadlineSeconds');
  validateNonnegative(errors, spec.backoffLimit, path, 'backoffLimit');
  validateNonnegative(errors, spec.ttlSecondsAfterFinished, path, 'ttlSecondsAfterFinished');
  validateNonnegative(errors, spec.backoffLimitPerIndex, path, 'backoffLimitPerIndex');
  validateNonnegative(errors, spec.maxFailedIndexes, path, 'maxFailedIndexes');
  if (spec.maxFailedIndexes !== undefined && spec.backoffLimitPerIndex === undefined) {
    errors.push(required(path.child('backoffLimitPerIndex'), 'when maxFailedIndexes is specified'));
  }
  if (spec.managedBy !== undefined) {
    addErrors(errors, isDomainPrefixedPath(path.child('managedBy'), spec.managedBy));
    if (byteLength(spec.managedBy) > maxManagedByLength) errors.push(tooLong(path.child('managedBy'), '', maxManagedByLength));
  }
  validateCompletionMode(errors, spec, path);
  if (spec.podFailurePolicy) validatePodFailurePolicy(errors, spec, spec.podFailurePolicy, path.child('podFailurePolicy', 'rules'));
  if (spec.successPolicy) {
    if (spec.completionMode !== 'Indexed')
      errors.push(invalid(path.child('successPolicy'), successPolicyValue(spec.successPolicy), 'requires indexed completion mode'));
    else validateSuccessPolicy(errors, spec, spec.successPolicy, path.child('successPolicy', 'rules'));
  }
  validatePodReplacementPolicy(errors, spec, path);
  validatePodTemplateSpec(errors, spec.template ?? noTemplate, path.child('template'), options);
  validateRestartPolicy(errors, spec, path);
}

function validateCompletionMode(errors: FieldError[], spec: JobSpec, path: Path): void {
  const { completionMode: mode, completions, parallelism, maxFailedIndexes, backoffLimitPerIndex } = spec;
  if (mode === undefined || mode === 'NonIndexed') {
    const detail = 'requires indexed completion mode';
    if (backoffLimitPerIndex !== undefined) errors.push(invalid(path.child('backoffLimitPerIndex'), backoffLimitPerIndex, detail));
    if (maxFailedIndexes !== undefined) errors.push(invalid(path.child('maxFailedIndexes'), maxFailedIndexes, detail));
    return;
  }
  if (mode !== 'Indexed') {
    errors.push(notSupported(path.child('completionMode'), mode, ['NonIndexed', 'Indexed']));
    return;
  }
  if (completions === undefined) errors.push(required(path.child('completions'), 'when completion mode is Indexed'));
  if ((parallelism ?? 0) > maxParallelismForIndexedJob) {
    errors.push(
      invalid(
        path.child('parallelism'),
        parallelism,
        `must be less than or equal to ${maxParallelismForIndexedJob} when completion mode is Indexed`,
      ),
    );
  }
  if (completions !== undefined && maxFailedIndexes !== undefined && maxFailedIndexes > completions) {
    errors.push(invalid(path.child('maxFailedIndexes'), maxFailedIndexes, 'must be less than or equal to completions'));
  }
  if ((maxFailedIndexes ?? 0) > maxFailedIndexesForIndexedJob) {
    errors.push(
      invalid(path.child('maxFailedIndexes'), maxFailedIndexes, `must be less than or equal to ${maxFailedIndexesForIndexedJob}`),
    );
  }
  if ((completions ?? 0) <= completionsSoftLimit || backoffLimitPerIndex === undefined) return;
  if (maxFailedIndexes === undefined)
    errors.push(required(path.child('maxFailedIndexes'), `must be specified when completions is above ${completionsSoftLimit}`));
  const detail = `must be less than or equal to ${limitForHighCompletions} when completions are above ${completionsSoftLimit} and used with backoff limit per index`;
  if ((parallelism ?? 0) > limitForHighCompletions) errors.push(invalid(path.child('parallelism'), parallelism, detail));
  if ((maxFailedIndexes ?? 0) > limitForHighCompletions) errors.push(invalid(path.child('maxFailedIndexes'), maxFailedIndexes, detail));
}

function validateRestartPolicy(errors: FieldError[], spec: JobSpec, path: Path): void {
  const policy = spec.template?.spec?.restartPolicy ?? '';
  if (policy === 'Never' || (policy === 'OnFailure' && !spec.podFailurePolicy)) return;
  const at = path.child('template', 'spec', 'restartPolicy');
  if (policy === '' || policy === 'Always') errors.push(required(at, 'valid values: "OnFailure", "Never"'));
  else if (policy !== 'OnFailure') errors.push(notSupported(at, policy, ['OnFailure', 'Never']));
  else errors.push(invalid(at, policy, 'only "Never" is supported when podFailurePolicy is specified'));
}

function validatePodReplacementPolicy(errors: FieldError[], { podReplacementPolicy: policy, podFailurePolicy }: JobSpec, path: Path): void {
  const supported = podFailurePolicy ? ['Failed'] : ['Failed', 'TerminatingOrFailed'];
  if (policy !== undefined && !supported.includes(policy)) errors.push(notSupported(path.child('podReplacementPolicy'), policy, supported));
}

function validatePodFailurePolicy(errors: FieldError[], spec: JobSpec, { rules = [] }: PodFailurePolicy, path: Path): void {
  if (rules.length > maxRules) errors.push(tooMany(path, rules.length, maxRules));
  const pod = spec.template?.spec ?? {};
  const names = new Set([...(pod.containers ?? []), ...(pod.initContainers ?? [])].map(({ name = '' }) => name));
  for (const [i, rule] of rules.entries()) {
    validatePodFailurePolicyRule(errors, spec, rule, names, path.index(i));
    stopIfTooMany(errors);
  }
}

function validatePodFailurePolicyRule(
  errors: FieldError[],
  spec: JobSpec,
  rule: PodFailurePolicyRule,
  names: ReadonlySet<string>,
  path: Path,
): void {
  const { action, onExitCodes, onPodConditions = [] } = rule;
  if (!action) errors.push(required(path.child('action'), validValues(actions)));
  else if (action === 'FailIndex') {
    if (spec.backoffLimitPerIndex === undefined)
      errors.push(invalid(path.child('action'), named(action), 'requires the backoffLimitPerIndex to be set'));
  } else if (!actions.includes(action)) errors.push(notSupported(path.child('action'), action, actions));
  if (onExitCodes) validateOnExitCodes(errors, onExitCodes, names, path.child('onExitCodes'));
  validateOnPodConditions(errors, onPodConditions, path.child('onPodConditions'));
  if (onExitCodes && onPodConditions.length > 0)
    errors.push(invalid(path, omitValue, 'specifying both OnExitCodes and OnPodConditions is not supported'));
  if (!onExitCodes && onPodConditions.length === 0)
    errors.push(invalid(path, omitValue, 'specifying one of OnExitCodes and OnPodConditions is required'));
}

function validateOnPodConditions(errors: FieldError[], patterns: readonly PodFailurePolicyOnPodConditionsPattern[], path: Path): void {
  if (patterns.length > maxRules) errors.push(tooMany(path, patterns.length, maxRules));
  for (const [i, { type = '', status }] of patterns.entries()) {
    const at = path.index(i);
    check(errors, isQualifiedName(type), type, at, 'type');
    if (!status) errors.push(required(at.child('status'), validValues(conditionStatuses)));
    else if (!conditionStatuses.includes(status)) errors.push(notSupported(at.child('status'), status, conditionStatuses));
    stopIfTooMany(errors);
  }
}

function validateOnExitCodes(
  errors: FieldError[],
  { operator, containerName, values }: PodFailurePolicyOnExitCodesRequirement,
  names: ReadonlySet<string>,
  path: Path,
): void {
  if (!operator) errors.push(required(path.child('operator'), validValues(exitCodeOperators)));
  else if (!exitCodeOperators.includes(operator)) errors.push(notSupported(path.child('operator'), operator, exitCodeOperators));
  if (containerName !== undefined && !names.has(containerName)) {
    errors.push(
      invalid(path.child('containerName'), containerName, 'must be one of the container or initContainer names in the pod template'),
    );
  }
  const at = path.child('values');
  if (!values?.length) {
    errors.push(invalid(at, values, 'at least one value is required'));
    return;
  }
  if (values.length > maxExitCodes) errors.push(tooMany(at, values.length, maxExitCodes));
  const seen = new Set<number>();
  for (const [i, value] of values.entries()) {
    if (operator === 'In' && value === 0) errors.push(invalid(at.index(i), value, 'must not be 0 for the In operator'));
    if (seen.has(value)) errors.push(duplicate(at.index(i), value));
    seen.add(value);
    stopIfTooMany(errors);
  }
  if (values.some((value, i) => i > 0 && values[i - 1]! > value)) errors.push(invalid(at, values, 'must be ordered'));
}

function validateSuccessPolicy(errors: FieldError[], spec: JobSpec, { rules = [] }: SuccessPolicy, path: Path): void {
  if (rules.length === 0) errors.push(required(path, 'at least one rules must be specified when the successPolicy is specified'));
  if (rules.length > maxRules) errors.push(tooMany(path, rules.length, maxRules));
  for (const [i, rule] of rules.entries()) {
    validateSuccessPolicyRule(errors, spec.completions ?? 0, rule, path.index(i));
    stopIfTooMany(errors);
  }
}

function validateSuccessPolicyRule(
  errors: FieldError[],
  completions: number,
  { succeededCount: count, succeededIndexes: indexes }: SuccessPolicyRule,
  path: Path,
): void {
  if (count === undefined && indexes === undefined)
    errors.push(required(path, 'at least one of succeededCount or succeededIndexes must be specified'));
  let total = 0;
  if (indexes !== undefined) {
    const at = path.child('succeededIndexes');
    if (byteLength(indexes) > maxSucceededIndexesLength) errors.push(tooLong(at, '', maxSucceededIndexesLength));
    const counted = countIndexes(indexes, completions);
    if (typeof counted === 'string') errors.push(invalid(at, indexes, `error parsing succeededIndexes: ${counted}`));
    else total = counted;
  }
  if (count === undefined) return;
  const at = path.child('succeededCount');
  validateNonnegative(errors, count, at);
  if (count > completions)
    errors.push(invalid(at, count, `must be less than or equal to ${completions} (the number of specified completions)`));
  if (indexes !== undefined && count > total) {
    errors.push(
      invalid(at, count, `must be less than or equal to ${total} (the number of indexes in the specified succeededIndexes field)`),
    );
  }
}

function validateCompletionsUpdate(errors: FieldError[], spec: JobSpec, old: JobSpec): void {
  const { completions, completionMode, parallelism } = spec;
  if (completionMode !== 'Indexed') validateImmutable(errors, completions, old.completions, specPath, 'completions');
  else if (completions !== undefined && completions !== old.completions && completions !== parallelism) {
    errors.push(invalid(specPath.child('completions'), completions, 'can only be modified in tandem with spec.parallelism'));
  }
}

/** Validates that the template of a suspended job changes only in its scheduling directives and resources. */
function validateTemplateUpdate(
  errors: FieldError[],
  template: PodTemplateSpec,
  oldTemplate: PodTemplateSpec,
  old: Job,
  server: ServerTraits,
): void {
  if (equalAs('core_v1.PodTemplateSpec', template, oldTemplate)) return;
  const { spec, status } = old;
  const isSuspended = spec?.suspend === true;
  const isMutable = isSuspended && (!status?.startTime || hasCondition(old, 'Suspended')) && !status?.active;
  const hasMutableDirectives = isOptedOut(server, 'MutableSchedulingDirectivesForSuspendedJobs')
    ? isSuspended && !status?.startTime
    : isMutable;
  const hasMutableResources = isMutable && !isOptedOut(server, 'MutablePodResourcesForSuspendedJobs');
  const allowed = hasMutableDirectives ? withSchedulingDirectives(oldTemplate, template) : oldTemplate;
  if (!hasMutableResources) validateImmutable(errors, template, allowed, specPath, 'template', templateValue);
  else {
    const pod = template.spec ?? {};
    validateImmutable(errors, pod, withResources(allowed.spec ?? {}, pod), specPath, 'template.spec', (value) =>
      internalValue('PodSpec', value),
    );
  }
}

function withSchedulingDirectives(old: PodTemplateSpec, template: PodTemplateSpec): PodTemplateSpec {
  const { nodeSelector, tolerations, schedulingGates, affinity } = template.spec ?? {};
  const spec: Record<string, unknown> = { ...old.spec, nodeSelector, tolerations, schedulingGates };
  const { nodeAffinity: _, ...otherAffinity } = old.spec?.affinity ?? {};
  if (affinity) spec['affinity'] = { ...otherAffinity, nodeAffinity: affinity.nodeAffinity };
  else if (old.spec?.affinity) spec['affinity'] = Object.keys(otherAffinity).length > 0 ? otherAffinity : undefined;
  return { metadata: template.metadata ?? {}, spec: spec as PodSpec };
}

function withResources(old: PodSpec, pod: PodSpec): PodSpec {
  const replace = (before: readonly Container[] = [], now: readonly Container[] = []): Container[] => {
    if (before.length !== now.length) return [...before];
    return before.map((container, i) =>
      container.name === now[i]!.name ? { ...container, resources: now[i]!.resources ?? {} } : container,
    );
  };
  return { ...old, containers: replace(old.containers, pod.containers), initContainers: replace(old.initContainers, pod.initContainers) };
}

function podFailurePolicyValue({ rules }: PodFailurePolicy): unknown {
  return structValue({
    Rules: rules?.map(({ action = '', onExitCodes, onPodConditions }) => ({
      Action: action,
      OnExitCodes: onExitCodes && {
        ContainerName: onExitCodes.containerName,
        Operator: onExitCodes.operator ?? '',
        Values: onExitCodes.values,
      },
      OnPodConditions: onPodConditions?.map(({ type = '', status = '' }) => ({ Type: type, Status: status })),
    })),
  });
}

function successPolicyValue({ rules }: SuccessPolicy): unknown {
  return structValue({
    Rules: rules?.map(({ succeededIndexes, succeededCount }) => ({ SucceededIndexes: succeededIndexes, SucceededCount: succeededCount })),
  });
}
