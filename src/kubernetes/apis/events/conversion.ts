import type { KubeObject } from '#apimachinery/meta/types';
import type { VersionConversion } from '#apiserver/registry/resource-definition';

/** Fields of events.k8s.io/v1 that have other names in core v1. Upstream: pkg/apis/events/v1/conversion.go. */
const names: readonly (readonly [events: string, core: string])[] = [
  ['regarding', 'involvedObject'],
  ['note', 'message'],
  ['reportingController', 'reportingComponent'],
  ['deprecatedSource', 'source'],
  ['deprecatedFirstTimestamp', 'firstTimestamp'],
  ['deprecatedLastTimestamp', 'lastTimestamp'],
  ['deprecatedCount', 'count'],
];
const toCore = new Map(names);
const fromCore = new Map(names.map(([events, core]) => [core, events]));

function rename(object: KubeObject, apiVersion: string, renamed: ReadonlyMap<string, string>): KubeObject {
  const result: KubeObject = { apiVersion, kind: object.kind, metadata: object.metadata };
  for (const [field, value] of Object.entries(object)) {
    if (field !== 'apiVersion') result[renamed.get(field) ?? field] = value;
  }
  return result;
}

/** Conversion of events.k8s.io/v1 events, which are stored as core v1. */
export const eventConversion: VersionConversion = {
  toStorage: (object) => rename(object, 'v1', toCore),
  fromStorage: (object) => rename(object, 'events.k8s.io/v1', fromCore),
};
