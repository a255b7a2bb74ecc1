import { defineResource } from '#apiserver/registry/resource-definition';
import { eventColumns, eventFields, newerEventStrategy } from '#kubernetes/apis/core/event';
import { eventConversion } from '#kubernetes/apis/events/conversion';
import type { Event } from '#kubernetes/schema/core_v1.gen';

/** Stored as the core Event: strategy, columns and fields see that version. */
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
  selectableFields: {
    reason: eventFields.reason,
    'regarding.kind': eventFields['involvedObject.kind'],
    'regarding.namespace': eventFields['involvedObject.namespace'],
    'regarding.name': eventFields['involvedObject.name'],
    'regarding.uid': eventFields['involvedObject.uid'],
    'regarding.apiVersion': eventFields['involvedObject.apiVersion'],
    'regarding.resourceVersion': eventFields['involvedObject.resourceVersion'],
    'regarding.fieldPath': eventFields['involvedObject.fieldPath'],
    reportingController: eventFields.reportingComponent,
    type: eventFields.type,
  },
  unsupportedField: (label) => `field label not supported: ${label}`,
  columns: eventColumns,
  ttlSeconds: 3600,
});
