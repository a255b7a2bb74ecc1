/** Validation of webhook configurations. Upstream: pkg/apis/admissionregistration/validation/validation.go. */
import { semanticDeepEqual } from '#apimachinery/runtime/semantic-equality';
import {
  addErrors,
  duplicate,
  type FieldError,
  fieldPath,
  invalid,
  notSupported,
  type Path,
  required,
} from '#apimachinery/validation/field';
import { isDNS1035Label, isFullyQualifiedName } from '#apimachinery/validation/names';
import { validateWebhookService, validateWebhookURL } from '#apimachinery/validation/webhook';
import type { MutatingWebhook, ValidatingWebhook } from '#kubernetes/schema/admissionregistration_v1.gen';
import { type KnownExpressions, noneKnown, validateMatchConditions } from './expressions.ts';
import { failurePolicies, matchPolicies, reinvocationPolicies, validateChoice, validateRule, validateSelector } from './rules.ts';

type Webhook = ValidatingWebhook & Pick<MutatingWebhook, 'reinvocationPolicy'>;

interface Configuration {
  readonly webhooks?: Webhook[];
}

/** Values that stored configurations may keep and new ones may not have. */
interface Options {
  readonly ignoresMatchConditions: boolean;
  readonly sideEffects: readonly string[];
  readonly requiresKnownReviewVersion: boolean;
  readonly requiresUniqueNames: boolean;
  readonly allowsInvalidLabelValues: boolean;
  readonly known: KnownExpressions;
}

const reviewVersions = ['v1', 'v1beta1'];
const harmlessSideEffects = ['None', 'NoneOnDryRun'];
const allSideEffects = ['None', 'NoneOnDryRun', 'Some', 'Unknown'];
const maxTimeoutSeconds = 30;

const strict: Options = {
  ignoresMatchConditions: false,
  sideEffects: harmlessSideEffects,
  requiresKnownReviewVersion: true,
  requiresUniqueNames: true,
  allowsInvalidLabelValues: false,
  known: noneKnown,
};

export function validateWebhookConfiguration({ webhooks = [] }: Configuration): FieldError[] {
  return validateWebhooks(webhooks, strict);
}

export function validateWebhookConfigurationUpdate({ webhooks = [] }: Configuration, { webhooks: old = [] }: Configuration): FieldError[] {
  return validateWebhooks(webhooks, {
    ignoresMatchConditions:
      webhooks.length === old.length && old.every((hook, i) => semanticDeepEqual(hook.matchConditions, webhooks[i]?.matchConditions)),
    sideEffects: old.every(({ sideEffects = '' }) => harmlessSideEffects.includes(sideEffects)) ? harmlessSideEffects : allSideEffects,
    requiresKnownReviewVersion: old.every(
      ({ admissionReviewVersions: versions = [] }) => versions.length === 0 || versions.some((version) => reviewVersions.includes(version)),
    ),
    requiresUniqueNames: new Set(old.map(({ name }) => name)).size === old.length,
    allowsInvalidLabelValues: old.some((hook) => validateSelectors(hook, false, fieldPath('webhooks')).length > 0),
    known: new Set(old.flatMap(({ matchConditions = [] }) => matchConditions.map(({ expression }) => expression))),
  });
}

function validateWebhooks(webhooks: readonly Webhook[], options: Options): FieldError[] {
  const names = new Set<string>();
  return webhooks.flatMap((hook, i) => {
    const path = fieldPath('webhooks').index(i);
    const { name = '' } = hook;
    const errors = validateWebhook(hook, options, path);
    addErrors(errors, validateReviewVersions(hook.admissionReviewVersions ?? [], options, path.child('admissionReviewVersions')));
    if (options.requiresUniqueNames && name !== '' && names.has(name)) errors.push(duplicate(path.child('name'), name));
    names.add(name);
    return errors;
  });
}

function validateWebhook(hook: Webhook, options: Options, path: Path): FieldError[] {
  const { name = '', rules = [], failurePolicy, matchPolicy, timeoutSeconds, reinvocationPolicy, matchConditions = [] } = hook;
  const errors = isFullyQualifiedName(path.child('name'), name);
  for (const [i, rule] of rules.entries()) addErrors(errors, validateRule(rule, path.child('rules').index(i)));
  addErrors(errors, validateChoice(path.child('failurePolicy'), failurePolicy, failurePolicies));
  addErrors(errors, validateChoice(path.child('matchPolicy'), matchPolicy, matchPolicies));
  addErrors(errors, validateSideEffects(hook.sideEffects, options.sideEffects, path.child('sideEffects')));
  if (timeoutSeconds !== undefined && (timeoutSeconds > maxTimeoutSeconds || timeoutSeconds < 1))
    errors.push(invalid(path.child('timeoutSeconds'), timeoutSeconds, 'the timeout value must be between 1 and 30 seconds'));
  addErrors(errors, validateSelectors(hook, options.allowsInvalidLabelValues, path));
  addErrors(errors, validateChoice(path.child('reinvocationPolicy'), reinvocationPolicy, reinvocationPolicies));
  addErrors(errors, validateClientConfig(hook.clientConfig ?? {}, path.child('clientConfig')));
  if (options.ignoresMatchConditions) return errors;
  return [...errors, ...validateMatchConditions(matchConditions, { params: false, known: options.known }, path.child('matchConditions'))];
}

function validateSideEffects(value: string | undefined, allowed: readonly string[], path: Path): FieldError[] {
  if (value === undefined) return [required(path, `must specify one of ${allowed.join(', ')}`)];
  return allowed.includes(value) ? [] : [notSupported(path, value, allowed)];
}

function validateSelectors({ namespaceSelector, objectSelector }: Webhook, allowsInvalidValues: boolean, path: Path): FieldError[] {
  return [
    ...validateSelector(namespaceSelector, path.child('namespaceSelector'), allowsInvalidValues),
    ...validateSelector(objectSelector, path.child('objectSelector'), allowsInvalidValues),
  ];
}

function validateClientConfig({ url, service }: NonNullable<Webhook['clientConfig']>, path: Path): FieldError[] {
  if ((url === undefined) === (service === undefined)) return [required(path, 'exactly one of url or service is required')];
  if (url !== undefined) return validateWebhookURL(path.child('url'), url);
  // Upstream passes name and namespace in swapped order.
  const { name = '', namespace = '', ...rest } = service ?? {};
  return validateWebhookService(path.child('service'), { ...rest, namespace: name, name: namespace });
}

function validateReviewVersions(versions: readonly string[], { requiresKnownReviewVersion }: Options, path: Path): FieldError[] {
  if (versions.length === 0) return [required(path, `must specify one of ${reviewVersions.join(', ')}`)];
  const seen = new Set<string>();
  const errors = versions.flatMap((version, i) => {
    if (seen.has(version)) return [invalid(path.index(i), version, 'duplicate version')];
    seen.add(version);
    return isDNS1035Label(version).map((message) => invalid(path.index(i), version, message));
  });
  if (requiresKnownReviewVersion && !versions.some((version) => reviewVersions.includes(version)))
    errors.push(invalid(path, versions, `must include at least one of ${reviewVersions.join(', ')}`));
  return errors;
}
