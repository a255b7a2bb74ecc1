import { defineResource } from '#apiserver/registry/resource-definition';
import { eventColumns, eventFields, newerEventStrategy } from '#kubernetes/apis/core/event';
import { eventConversion } from '#kubernetes/apis/events/conversion';
import type { Event } from '#kubernetes/schema/core_v1.gen';

/** Events are stored as core v1: the strategy, columns and field selectors work on that version. */
export default defineResource<Event>({
  group: 'events.k8s.io',
  version: 'v1',
  kind: 'Event',
  resource: 'events',
  shortNames: ['ev'],
  storageVersionHash: 'r2yiGXH7wu8=',
  schema: 'events_v1.Event',
  storagePath: 'events',
  storageVersion: { version: { group: '', version: 'v1' }, schema: 'core_v1.Event', conversion: eventConversion },
  strategy: newerEventStrategy,
  selectableFields: eventFields,
  fieldLabels: {
    reason: 'reason',
    'regarding.kind': 'involvedObject.kind',
    'regarding.namespace': 'involvedObject.namespace',
    'regarding.name': 'involvedObject.name',
    'regarding.uid': 'involvedObject.uid',
    'regarding.apiVersion': 'involvedObject.apiVersion',
    'regarding.resourceVersion': 'involvedObject.resourceVersion',
    'regarding.fieldPath': 'involvedObject.fieldPath',
    reportingController: 'reportingComponent',
    type: 'type',
  },
  unsupportedField: (label) => `field label not supported: ${label}`,
  columns: eventColumns,
  ttlSeconds: 3600,
  readsStorage: true,
});
