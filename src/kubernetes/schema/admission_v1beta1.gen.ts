// The types of k8s.io/api/admission/v1beta1. Written by `npm run generate`; do not edit.
import type { UserInfo } from './authentication_v1.gen.ts';
import type { GroupVersionKind, GroupVersionResource, Status } from '#apimachinery/meta/schema/meta_v1.gen';

export interface AdmissionRequest {
  uid?: string;
  kind?: GroupVersionKind;
  resource?: GroupVersionResource;
  subResource?: string;
  requestKind?: GroupVersionKind;
  requestResource?: GroupVersionResource;
  requestSubResource?: string;
  name?: string;
  namespace?: string;
  operation?: string;
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
  patchType?: string;
  auditAnnotations?: Record<string, string>;
  warnings?: string[];
}

export interface AdmissionReview {
  kind?: string;
  apiVersion?: string;
  request?: AdmissionRequest;
  response?: AdmissionResponse;
}
