import { defineResource } from '#apiserver/registry/resource-definition';
import { eventColumns, eventFields, eventStrategy } from '#kubernetes/apis/core/event';
import type { Event } from '#kubernetes/schema/core_v1.gen';

export default defineResource<Event>({
  group: '',
  version: 'v1',
  kind: 'Event',
  resource: 'events',
  shortNames: ['ev'],
  storageVersionHash: 'r2yiGXH7wu8=',
  schema: 'core_v1.Event',
  storagePath: 'events',
  strategy: eventStrategy,
  selectableFields: eventFields,
  unsupportedField: (label) => `field label not supported: ${label}`,
  columns: eventColumns,
  ttlSeconds: 3600,
  readsStorage: true,
});
