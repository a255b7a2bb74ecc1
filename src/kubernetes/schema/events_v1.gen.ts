// The types of k8s.io/api/events/v1. Written by `npm run generate`; do not edit.
import type { KubeObject, ListMeta } from '#apimachinery/meta/types';
import type { EventSource, ObjectReference } from './core_v1.gen.ts';

export interface Event extends KubeObject {
  eventTime?: string;
  series?: EventSeries;
  reportingController?: string;
  reportingInstance?: string;
  action?: string;
  reason?: string;
  regarding?: ObjectReference;
  related?: ObjectReference;
  note?: string;
  type?: string;
  deprecatedSource?: EventSource;
  deprecatedFirstTimestamp?: string;
  deprecatedLastTimestamp?: string;
  deprecatedCount?: number;
}

export interface EventList {
  kind?: string;
  apiVersion?: string;
  metadata?: ListMeta;
  items?: Event[];
}

export interface EventSeries {
  count?: number;
  lastObservedTime?: string;
}
