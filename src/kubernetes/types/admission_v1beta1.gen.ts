// The types of k8s.io/api/admission/v1beta1 for packages. Written by `npm run generate`; do not edit.
import type { UserInfo } from './authentication_v1.gen.ts';
import type { GroupVersionKind, GroupVersionResource, Status } from './meta_v1.gen.ts';

export type Operation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT' | (string & {});

export type PatchType = 'JSONPatch' | (string & {});

export interface AdmissionRequest {
  uid?: string;
  kind: GroupVersionKind;
  resource: GroupVersionResource;
  subResource?: string;
  requestKind?: GroupVersionKind;
  requestResource?: GroupVersionResource;
  requestSubResource?: string;
  name?: string;
  namespace?: string;
  operation?: Operation;
  userInfo?: UserInfo;
  object?: unknown;
  oldObject?: unknown;
  dryRun?: boolean;
  options?: unknown;
}

export interface AdmissionResponse {
  uid?: string;
  allowed?: boolean;
  status?: Status;
  patch?: string;
  patchType?: PatchType;
  auditAnnotations?: Record<string, string>;
  warnings?: string[];
}

export interface AdmissionReview {
  kind?: string;
  apiVersion?: string;
  request?: AdmissionRequest;
  response?: AdmissionResponse;
}
