// The types of k8s.io/api/authentication/v1. Written by `npm run generate`; do not edit.
import type { KubeObject } from '#apimachinery/meta/types';

export interface BoundObjectReference {
  kind?: string;
  apiVersion?: string;
  name?: string;
  uid?: string;
}

export interface SelfSubjectReview extends KubeObject {
  status?: SelfSubjectReviewStatus;
}

export interface SelfSubjectReviewStatus {
  userInfo?: UserInfo;
}

export interface TokenRequest extends KubeObject {
  spec?: TokenRequestSpec;
  status?: TokenRequestStatus;
}

export interface TokenRequestSpec {
  audiences?: string[];
  expirationSeconds?: number;
  boundObjectRef?: BoundObjectReference;
}

export interface TokenRequestStatus {
  token?: string;
  expirationTimestamp?: string;
}

export interface TokenReview extends KubeObject {
  spec?: TokenReviewSpec;
  status?: TokenReviewStatus;
}

export interface TokenReviewSpec {
  token?: string;
  audiences?: string[];
}

export interface TokenReviewStatus {
  authenticated?: boolean;
  user?: UserInfo;
  audiences?: string[];
  error?: string;
}

export interface UserInfo {
  username?: string;
  uid?: string;
  groups?: string[];
  extra?: Record<string, string[]>;
}
