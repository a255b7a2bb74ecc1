// The types of k8s.io/api/apidiscovery/v2. Written by `npm run generate`; do not edit.
import type { ListMeta, ObjectMeta } from '#apimachinery/meta/types';
import type { GroupVersionKind } from './meta_v1.gen.ts';

export interface APIGroupDiscovery {
  kind?: string;
  apiVersion?: string;
  metadata?: ObjectMeta;
  versions?: APIVersionDiscovery[];
}

export interface APIGroupDiscoveryList {
  kind?: string;
  apiVersion?: string;
  metadata?: ListMeta;
  items?: APIGroupDiscovery[];
}

export interface APIResourceDiscovery {
  resource?: string;
  responseKind?: GroupVersionKind;
  scope?: string;
  singularResource?: string;
  verbs?: string[];
  shortNames?: string[];
  categories?: string[];
  subresources?: APISubresourceDiscovery[];
}

export interface APISubresourceDiscovery {
  subresource?: string;
  responseKind?: GroupVersionKind;
  acceptedTypes?: GroupVersionKind[];
  verbs?: string[];
}

export interface APIVersionDiscovery {
  version?: string;
  resources?: APIResourceDiscovery[];
  freshness?: string;
}
