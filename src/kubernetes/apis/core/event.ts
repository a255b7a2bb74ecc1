import type { Column, Strategy } from '#apiserver/registry/resource-definition';
import { describeMeta, translateTimestampSince } from '#apiserver/registry/table-columns';
import { validatePathSegmentName } from '#apimachinery/validation/names';
import { describe, stringColumn, wide } from '#kubernetes/apis/columns';
import { validateCoreEvent, validateEventCreate, validateEventUpdate } from '#kubernetes/apis/core/validation/event';
import type { Event } from '#kubernetes/schema/core_v1.gen';

const common: Strategy<Event> = {
  allowCreateOnUpdate: true,
  defaultGarbageCollectionPolicy: 'unsupported',
  validateName: validatePathSegmentName,
};

/** Strategy of events of core v1. */
export const eventStrategy: Strategy<Event> = {
  ...common,
  genericMeta: 'all',
  validate: validateCoreEvent,
  validateUpdate: validateCoreEvent,
};

/** Strategy of events of events.k8s.io, which has stricter validation. */
export const newerEventStrategy: Strategy<Event> = {
  ...common,
  genericMeta: 'create',
  validate: validateEventCreate,
  validateUpdate: validateEventUpdate,
};

/** Field selectors of events, by their core v1 names. */
export const eventFields = {
  'involvedObject.kind': ({ involvedObject }: Event) => involvedObject?.kind ?? '',
  'involvedObject.namespace': ({ involvedObject }: Event) => involvedObject?.namespace ?? '',
  'involvedObject.name': ({ involvedObject }: Event) => involvedObject?.name ?? '',
  'involvedObject.uid': ({ involvedObject }: Event) => involvedObject?.uid ?? '',
  'involvedObject.apiVersion': ({ involvedObject }: Event) => involvedObject?.apiVersion ?? '',
  'involvedObject.resourceVersion': ({ involvedObject }: Event) => involvedObject?.resourceVersion ?? '',
  'involvedObject.fieldPath': ({ involvedObject }: Event) => involvedObject?.fieldPath ?? '',
  reason: ({ reason }: Event) => reason ?? '',
  reportingComponent: ({ reportingComponent }: Event) => reportingComponent ?? '',
  source: ({ source, reportingComponent }: Event) => source?.component || (reportingComponent ?? ''),
  type: ({ type }: Event) => type ?? '',
};

function firstSeen({ firstTimestamp, eventTime }: Event, now: number): string {
  return translateTimestampSince(firstTimestamp ?? eventTime, now);
}

function lastSeen(event: Event, now: number): string {
  if (event.series) return translateTimestampSince(event.series.lastObservedTime, now);
  return event.lastTimestamp ? translateTimestampSince(event.lastTimestamp, now) : firstSeen(event, now);
}

function sourceText({ source, reportingComponent, reportingInstance }: Event): string {
  const component = source?.component || (reportingComponent ?? '');
  const instance = source?.host || reportingInstance;
  return instance ? `${component}, ${instance}` : component;
}

export const eventColumns: readonly Column<Event>[] = [
  stringColumn('Last Seen', describe('core_v1.Event', 'lastTimestamp'), (event, { now }) => lastSeen(event, now)),
  stringColumn('Type', describe('core_v1.Event', 'type'), ({ type }) => type ?? ''),
  stringColumn('Reason', describe('core_v1.Event', 'reason'), ({ reason }) => reason ?? ''),
  stringColumn('Object', describe('core_v1.Event', 'involvedObject'), ({ involvedObject }) => {
    const kind = (involvedObject?.kind ?? '').toLowerCase();
    return involvedObject?.name ? `${kind}/${involvedObject.name}` : kind;
  }),
  stringColumn(
    'Subobject',
    describe('core_v1.ObjectReference', 'fieldPath'),
    ({ involvedObject }) => involvedObject?.fieldPath ?? '',
    wide,
  ),
  stringColumn('Source', describe('core_v1.Event', 'source'), sourceText, wide),
  stringColumn('Message', describe('core_v1.Event', 'message'), ({ message }) => (message ?? '').trim()),
  stringColumn('First Seen', describe('core_v1.Event', 'firstTimestamp'), (event, { now }) => firstSeen(event, now), wide),
  // A singleton event of events.k8s.io has no count.
  stringColumn('Count', describe('core_v1.Event', 'count'), ({ series, count }) => (series ? (series.count ?? 0) : count || 1), wide),
  stringColumn('Name', describeMeta('name'), ({ metadata }) => metadata.name ?? '', { ...wide, format: 'name' }),
];
