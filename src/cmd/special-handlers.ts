import { SelfSubjectReviewHandler, TokenReviewHandler } from '#kubernetes/apis/authentication/review-rest';
import {
  LocalSubjectAccessReviewHandler, SelfSubjectAccessReviewHandler, SelfSubjectRulesReviewHandler, SubjectAccessReviewHandler,
} from '#kubernetes/apis/authorization/review-rest';
import { ScaleGetHandler, ScalePatchHandler, ScaleUpdateHandler } from '#kubernetes/apis/autoscaling/scale-rest';
import type { SpecialHandlerClasses } from './modules/server.module.ts';

const scale = { get: ScaleGetHandler, update: ScaleUpdateHandler, patch: ScalePatchHandler };

/** What virtual resources and subresources with a kind of their own do. */
export const specialHandlers: SpecialHandlerClasses = {
  'authentication.k8s.io/selfsubjectreviews/': { create: SelfSubjectReviewHandler },
  'authentication.k8s.io/tokenreviews/': { create: TokenReviewHandler },
  'authorization.k8s.io/localsubjectaccessreviews/': { create: LocalSubjectAccessReviewHandler },
  'authorization.k8s.io/selfsubjectaccessreviews/': { create: SelfSubjectAccessReviewHandler },
  'authorization.k8s.io/selfsubjectrulesreviews/': { create: SelfSubjectRulesReviewHandler },
  'authorization.k8s.io/subjectaccessreviews/': { create: SubjectAccessReviewHandler },
  '/replicationcontrollers/scale': scale,
  'apps/deployments/scale': scale,
  'apps/replicasets/scale': scale,
  'apps/statefulsets/scale': scale,
};
