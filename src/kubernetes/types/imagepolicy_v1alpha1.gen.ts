// The types of k8s.io/api/imagepolicy/v1alpha1 for packages. Written by `npm run generate`; do not edit.
import type { ObjectMeta } from './meta_v1.gen.ts';

/** ImageReview checks if the set of images in a pod are allowed. */
export interface ImageReview {
  /**
   * Kind is a string value representing the REST resource this object represents. Servers may infer this from the endpoint the
   * client submits requests to. Cannot be updated. In CamelCase. More info:
   * https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds
   */
  kind?: string;
  /**
   * APIVersion defines the versioned schema of this representation of an object. Servers should convert recognized schemas to the
   * latest internal value, and may reject unrecognized values. More info:
   * https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#resources
   */
  apiVersion?: string;
  /**
   * Standard object's metadata. More info:
   * https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata
   */
  metadata?: ObjectMeta;
  /** Spec holds information about the pod being evaluated */
  spec?: ImageReviewSpec;
  /** Status is filled in by the backend and indicates whether the pod should be allowed. */
  status?: ImageReviewStatus;
}

/** ImageReviewContainerSpec is a description of a container within the pod creation request. */
export interface ImageReviewContainerSpec {
  /** This can be in the form image:tag or image@SHA:012345679abcdef. */
  image?: string;
}

/** ImageReviewSpec is a description of the pod creation request. */
export interface ImageReviewSpec {
  /** Containers is a list of a subset of the information in each container of the Pod being created. */
  containers?: ImageReviewContainerSpec[];
  /**
   * Annotations is a list of key-value pairs extracted from the Pod's annotations. It only includes keys which match the pattern
   * `*.image-policy.k8s.io/*`. It is up to each webhook backend to determine how to interpret these annotations, if at all.
   */
  annotations?: Record<string, string>;
  /** Namespace is the namespace the pod is being created in. */
  namespace?: string;
}

/** ImageReviewStatus is the result of the review for the pod creation request. */
export interface ImageReviewStatus {
  /** Allowed indicates that all images were allowed to be run. */
  allowed?: boolean;
  /**
   * Reason should be empty unless Allowed is false in which case it may contain a short description of what is wrong.  Kubernetes
   * may truncate excessively long errors when displaying to the user.
   */
  reason?: string;
  /**
   * AuditAnnotations will be added to the attributes object of the admission controller request using 'AddAnnotation'.  The keys
   * should be prefix-less (i.e., the admission controller will add an appropriate prefix).
   */
  auditAnnotations?: Record<string, string>;
}
