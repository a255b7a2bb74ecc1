// The types of k8s.io/api/discovery/v1. Written by `npm run generate`; do not edit.
import type { KubeObject, ListMeta } from '#apimachinery/meta/types';
import type { ObjectReference } from './core_v1.gen.ts';

export interface Endpoint {
  addresses?: string[];
  conditions?: EndpointConditions;
  hostname?: string;
  targetRef?: ObjectReference;
  deprecatedTopology?: Record<string, string>;
  nodeName?: string;
  zone?: string;
  hints?: EndpointHints;
}

export interface EndpointConditions {
  ready?: boolean;
  serving?: boolean;
  terminating?: boolean;
}

export interface EndpointHints {
  forZones?: ForZone[];
  forNodes?: ForNode[];
}

export interface EndpointPort {
  name?: string;
  protocol?: string;
  port?: number;
  appProtocol?: string;
}

export interface EndpointSlice extends KubeObject {
  addressType?: string;
  endpoints?: Endpoint[];
  ports?: EndpointPort[];
}

export interface EndpointSliceList {
  kind?: string;
  apiVersion?: string;
  metadata?: ListMeta;
  items?: EndpointSlice[];
}

export interface ForNode {
  name?: string;
}

export interface ForZone {
  name?: string;
}
