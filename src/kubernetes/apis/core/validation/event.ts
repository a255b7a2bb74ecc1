/** Validation of events. Upstream: pkg/apis/core/validation/events.go. */
import { semanticDeepEqual } from '#apimachinery/runtime/semantic-equality';
import { addErrors, type FieldError, fieldPath, invalid, required } from '#apimachinery/validation/field';
import { isDNS1123Subdomain, nameIsDNSSubdomain } from '#apimachinery/validation/names';
import type { Event } from '#kubernetes/schema/core_v1.gen';
import { byteLength, check, fieldIsImmutable, validateQualifiedName } from './checks.ts';
import { internalValue } from './internal.ts';
import { validateMetaAgain } from './object-meta.ts';

/** Validates by the rules of core v1, which are also the first part of the newer rules. `reporting` is the name of the reporter's field. */
function validateLegacy(event: Event, reporting: string): FieldError[] {
  const errors: FieldError[] = [];
  const {
    metadata: { namespace = '' },
    involvedObject,
    eventTime = null,
    reportingComponent = '',
    reportingInstance = '',
    action = '',
    reason = '',
    message = '',
  } = event;
  const ofObject = involvedObject?.namespace ?? '';
  const isForeign =
    eventTime !== null
      ? ofObject === '' && namespace !== 'default' && namespace !== 'kube-system'
      : ofObject === ''
        ? namespace !== '' && namespace !== 'default'
        : namespace !== ofObject;
  if (isForeign) errors.push(invalid(fieldPath('involvedObject', 'namespace'), ofObject, 'does not match event.namespace'));
  if (eventTime !== null) {
    if (reportingComponent === '') errors.push(required(fieldPath(reporting)));
    validateQualifiedName(errors, reportingComponent, fieldPath(reporting));
    for (const [field, value] of [
      ['reportingInstance', reportingInstance],
      ['action', action],
      ['reason', reason],
    ] as const) {
      if (value === '') errors.push(required(fieldPath(field)));
      if (byteLength(value) > 128) errors.push(invalid(fieldPath(field), '', 'can have at most 128 characters'));
    }
    if (byteLength(message) > 1024) errors.push(invalid(fieldPath('message'), '', 'can have at most 1024 characters'));
  }
  check(errors, isDNS1123Subdomain(namespace), namespace, fieldPath('namespace'));
  return errors;
}

function validateSeries({ series }: Event): FieldError[] {
  if (!series) return [];
  const errors: FieldError[] = [];
  if ((series.count ?? 0) < 2) errors.push(invalid(fieldPath('series.count'), '', 'should be at least 2'));
  if (!series.lastObservedTime) errors.push(required(fieldPath('series.lastObservedTime')));
  return errors;
}

export function validateCoreEvent(event: Event): FieldError[] {
  return validateLegacy(event, 'reportingComponent');
}

/** Validates a new event of events.k8s.io/v1, in the form of core v1. */
export function validateEventCreate(event: Event): FieldError[] {
  const errors = validateLegacy(event, 'reportingController');
  validateMetaAgain(errors, event.metadata, nameIsDNSSubdomain);
  addErrors(errors, validateSeries(event));
  if (!event.eventTime) errors.push(required(fieldPath('eventTime')));
  if (event.type !== 'Normal' && event.type !== 'Warning')
    errors.push(invalid(fieldPath('type'), '', `has invalid value: ${event.type ?? ''}`));
  const { firstTimestamp, lastTimestamp, count, source } = event;
  const isOld = {
    firstTimestamp: Boolean(firstTimestamp),
    lastTimestamp: Boolean(lastTimestamp),
    count: Boolean(count),
    source: Boolean(source?.component || source?.host),
  };
  for (const [field, isSet] of Object.entries(isOld)) if (isSet) errors.push(invalid(fieldPath(field), '', 'needs to be unset'));
  return errors;
}

/** Immutable fields in order of comparison, some twice, with the text that messages show for an absent value. */
const immutable = [
  ['involvedObject', {}],
  ['reason', ''],
  ['message', ''],
  ['source', {}],
  ['firstTimestamp', null],
  ['lastTimestamp', null],
  ['count', 0],
  ['reason', ''],
  ['type', ''],
  ['eventTime', null],
  ['action', ''],
  ['related', null],
  ['reportingComponent', ''],
  ['reportingInstance', ''],
] as const;

/** Returns the value in the form of messages; references are printed as upstream's internal type. */
function shown(field: string, value: unknown): unknown {
  if (field === 'involvedObject' || (field === 'related' && value !== null)) return internalValue('ObjectReference', value);
  return value;
}

export function validateEventUpdate(event: Event, old: Event): FieldError[] {
  const errors = validateLegacy(event, 'reportingController');
  if (!semanticDeepEqual(event.series, old.series)) addErrors(errors, validateSeries(event));
  for (const [field, zero] of immutable) {
    if (semanticDeepEqual(event[field] ?? zero, old[field] ?? zero)) continue;
    errors.push(
      invalid(
        fieldPath(field === 'reportingComponent' ? 'reportingController' : field),
        shown(field, event[field] ?? zero),
        fieldIsImmutable,
      ),
    );
  }
  return errors;
}
