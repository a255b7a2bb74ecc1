// The types of k8s.io/api/imagepolicy/v1alpha1. Written by `npm run generate`; do not edit.
import type { ObjectMeta } from '#apimachinery/meta/types';

export interface ImageReview {
  kind?: string;
  apiVersion?: string;
  metadata?: ObjectMeta;
  spec?: ImageReviewSpec;
  status?: ImageReviewStatus;
}

export interface ImageReviewContainerSpec {
  image?: string;
}

export interface ImageReviewSpec {
  containers?: ImageReviewContainerSpec[];
  annotations?: Record<string, string>;
  namespace?: string;
}

export interface ImageReviewStatus {
  allowed?: boolean;
  reason?: string;
  auditAnnotations?: Record<string, string>;
}
