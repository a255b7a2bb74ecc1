import type { Type } from '@nestjs/common';
import type { VerbHandler } from '#apiserver/endpoints/verb-compiler';
import { SelfSubjectReviewHandler, TokenReviewHandler } from '#kubernetes/apis/authentication/review-rest';
import {
  LocalSubjectAccessReviewHandler,
  SelfSubjectAccessReviewHandler,
  SelfSubjectRulesReviewHandler,
  SubjectAccessReviewHandler,
} from '#kubernetes/apis/authorization/review-rest';
import { ComputedCreateHandler, ComputedGetHandler, ComputedListHandler } from '#apiserver/endpoints/handlers/computed';
import { ScaleGetHandler, ScalePatchHandler, ScaleUpdateHandler } from '#apiserver/endpoints/handlers/scale';
import { BindingHandler } from '#kubernetes/apis/core/binding-rest';
import { ComponentStatusGetHandler, ComponentStatusListHandler } from '#kubernetes/apis/core/component-status-rest';
import { PodAttachHandler, PodExecHandler, PodLogHandler, PodPortForwardHandler } from '#kubernetes/apis/core/pod-connect-rest';
import { NodeProxyHandler, PodProxyHandler, ServiceProxyHandler } from '#kubernetes/apis/core/proxy-rest';
import { TokenRequestHandler } from '#kubernetes/apis/core/token-request-rest';
import { EvictionHandler } from '#kubernetes/apis/policy/eviction-rest';

/** Handler classes by endpoint (`group/resource/subresource`) and verb; each is a provider of the endpoints module. */
export type SpecialHandlerClasses = Readonly<Record<string, Readonly<Record<string, Type<VerbHandler>>>>>;

const scale = { get: ScaleGetHandler, update: ScaleUpdateHandler, patch: ScalePatchHandler };

/** Handlers of virtual resources, and of subresources with their own kinds. */
export const specialHandlers: SpecialHandlerClasses = {
  'authentication.k8s.io/selfsubjectreviews/': { create: SelfSubjectReviewHandler },
  'authentication.k8s.io/tokenreviews/': { create: TokenReviewHandler },
  'authorization.k8s.io/localsubjectaccessreviews/': { create: LocalSubjectAccessReviewHandler },
  'authorization.k8s.io/selfsubjectaccessreviews/': { create: SelfSubjectAccessReviewHandler },
  'authorization.k8s.io/selfsubjectrulesreviews/': { create: SelfSubjectRulesReviewHandler },
  'authorization.k8s.io/subjectaccessreviews/': { create: SubjectAccessReviewHandler },
  '/bindings/': { create: BindingHandler },
  '/componentstatuses/': { get: ComponentStatusGetHandler, list: ComponentStatusListHandler },
  '/nodes/proxy': { connect: NodeProxyHandler },
  '/pods/attach': { get: PodAttachHandler, create: PodAttachHandler },
  '/pods/binding': { create: BindingHandler },
  '/pods/eviction': { create: EvictionHandler },
  '/pods/exec': { get: PodExecHandler, create: PodExecHandler },
  '/pods/log': { get: PodLogHandler },
  '/pods/portforward': { get: PodPortForwardHandler, create: PodPortForwardHandler },
  '/pods/proxy': { connect: PodProxyHandler },
  '/replicationcontrollers/scale': scale,
  '/services/proxy': { connect: ServiceProxyHandler },
  '/serviceaccounts/token': { create: TokenRequestHandler },
  // Scale subresource of every custom resource that declares it.
  'custom/scale': scale,
  'custom/computed': { create: ComputedCreateHandler },
  'custom/read': { get: ComputedGetHandler, list: ComputedListHandler },
  'apps/deployments/scale': scale,
  'apps/replicasets/scale': scale,
  'apps/statefulsets/scale': scale,
};
