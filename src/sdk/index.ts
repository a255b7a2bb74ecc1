/** The public API of kubenest for plugins. */
import 'reflect-metadata';

export { ContainerModule, inject, injectable, optional } from 'inversify';
export {
  hasStatusCause,
  isAlreadyExists,
  isConflict,
  isNotFound,
  newBadRequest,
  newConflict,
  newForbidden,
  newInternalError,
  newInvalid,
  newNotFound,
  newServiceUnavailable,
  newTimeoutError,
  newTooManyRequests,
  StatusError,
} from '#apimachinery/api/errors';
export { Quantity } from '#apimachinery/api/quantity';
export {
  everything,
  type LabelSelector,
  LabelSelectorError,
  labelSelectorAsSelector,
  type LabelSelectorSource,
  parseSelector,
  selectorFromSet,
} from '#apimachinery/labels/selector';
export type {
  GroupResource,
  GroupVersionKind,
  GroupVersionResource,
  KubeObject,
  ObjectMeta,
  OwnerReference,
  Status,
} from '#apimachinery/meta/types';
export { ConversionError, type EquivalentResource, type ObjectForms } from '#apiserver/admission/object-forms';
export { parseSchedule, type ScheduleTimes } from '#apimachinery/runtime/schedule-times';
export { deepCopy } from '#apimachinery/runtime/copy';
export { formatMicroTime, formatTime, parseTime } from '#apimachinery/runtime/time';
export { deepEqual } from '#apimachinery/runtime/equality';
export { isNumber, type JsonNumber, toFloat } from '#apimachinery/runtime/numbers';
export { quote } from '#apimachinery/runtime/quote';
export {
  type FieldError,
  fieldPath,
  type Path as FieldPath,
  forbidden as fieldForbidden,
  invalid,
  required as fieldRequired,
} from '#apimachinery/validation/field';
export type { Certificate } from '#apimachinery/x509/certificate';
export { createJsonPatch, type JsonPatchOperation } from '#apimachinery/patch/create-patch';
export { annotationOf, applyJsonPatch, deny, labelOf, setAnnotations, setDefaults, setLabels, warn } from './admission-helpers.ts';
export { type ImageReference, parseImage } from './image-reference.ts';
export {
  changedPodTemplate,
  containersOf,
  imagesOf,
  type PlacedContainer,
  type PlacedImage,
  podSpecOf,
  type PodTemplate,
  podTemplateOf,
  workloads,
} from './pod-specs.ts';
export { AdmissionPlugin, type KindMatch, requestsFor, subresourceRequestsFor } from './fluent/admission-plugin.ts';
export type { Draft } from './fluent/draft.ts';
export { policy, type PolicyContext, type PolicyOptions, type PolicyService } from './fluent/policy.ts';
export type { Condition as RuleCondition, PolicyRequest, Rule, RuleHandler } from './fluent/rule.ts';
export { type NotOffered, type Selection, type SubresourceSelection, type TextPattern, when } from './fluent/when.ts';
export { type ConnectionOptions, type CustomKindFacts, type Kind, type KindFacts, kindOf, type OfType } from '#apiserver/registry/kind';
export type {
  AdmissionHandler,
  AdmissionMatch,
  AdmissionPluginClass,
  AdmissionPluginOptions,
  Attributes,
} from '#apiserver/admission/attributes';
export type { Operation } from '#apiserver/request/admission-context';
export type { Verdict, VerdictRecorder, VerdictResult } from '#apiserver/admission/scan/verdict';
export { forbidden } from '#apiserver/admission/forbidden';
export { AuthenticatorPlugin } from '#apiserver/authentication/authenticator-plugin';
export type { Authenticator, Credentials, TokenAuthenticator } from '#apiserver/authentication/authenticator';
export { groupNames, type UserInfo, userNames } from '#apiserver/request/user-info';
export { AuthenticationStrategy } from '#apiserver/authentication/strategy';
export {
  type AuthorizationAttributes,
  type AuthorizationResult,
  Authorizer,
  type Decision,
  type NonResourceRule,
  type ResourceRule,
  type SelectorRequirement,
  type UserRules,
} from '#apiserver/authorization/authorizer';
export { AuthorizerPlugin } from '#apiserver/authorization/authorizer-plugin';
export type { AdmissionTrace, TraceNote, TraceStep } from '#apiserver/request/request-trace';
export type { Peer } from '#apiserver/request/exchange';
export { Configuration } from '#apiserver/plugins/configuration';
export type { ContributedValue, ContributionOptions, PluginClass } from '#apiserver/base/contribution';
export { contribute, Contribution } from '#apiserver/plugins/contribute';
export { PluginServices } from '#apiserver/plugins/plugin-services';
export { Client, type ClientTarget, type ObjectClient } from '#apiserver/registry/client';
export {
  apiGroup,
  type ContributedAction as ActionOptions,
  type ContributedFields as FieldsOptions,
  type ContributedGroupOptions as ApiGroupOptions,
  type ContributedResource as ResourceOptions,
  contributedResource as defineResource,
  type ContributedScale as ScaleOptions,
  type ContributedVersion as VersionOptions,
} from '#apiserver/registry/contributed-group';
export type { Column, ComputedRequest, ServerTraits, Strategy, StrategyContext } from '#apiserver/registry/resource-definition';
export { ageColumn, nameColumn } from '#apiserver/registry/table-columns';
export type { JsonSchemaProps } from '#apimachinery/structural/json-schema-props';
export { type Informer, Informers } from '#apiserver/registry/informers';
export { type KindObjects, ServedKinds } from '#apiserver/registry/served-kinds';
export { FeatureGates } from '#apiserver/base/feature-gates';
export { RestMapper, type RestMapping } from '#apiserver/server/rest-mapper';
export { Logger } from '#apiserver/base/logger';
export type { PostStartHook } from '#apiserver/server/lifecycle/hooks';
export { PostStartHookPlugin } from '#apiserver/server/lifecycle/post-start-hook-plugin';
export { ShutdownSignal } from '#apiserver/base/shutdown-signal';
export {
  type CounterMetric,
  type GaugeMetric,
  type HistogramMetric,
  type MetricLabels,
  type MetricOptions,
  Metrics,
} from '#apiserver/base/metrics/metrics';
export {
  ClosedError,
  CompactedError,
  ConflictError,
  CorruptRecordError,
  CorruptStoreError,
  FutureRevisionError,
  InvalidKeyError,
  KeyExistsError,
  LockedStoreError,
  NoSpaceError,
  StorageError,
  UnusableStoreError,
  UnavailableError,
  UndecodableRecordError,
  UnknownOutcomeError,
} from '#apiserver/storage/errors';
export { Clock } from '#apiserver/base/clock';
export {
  passportAuthenticator,
  type PassportAuthenticatorOptions,
  type PassportRequest,
  type PassportStrategy,
} from '#apiserver/plugins/passport-authenticator';
export { AuditBackendPlugin } from '#apiserver/audit/audit-backend-plugin';
export { storageBackend, type StorageBackendOptions } from '#apiserver/storage/storage-backend-plugin';
export type { AuditBackend, AuditEvent } from '#apiserver/audit/event';
export { compareKeys, lowerBound, validateKey, validatePrefix } from '#apiserver/storage/key';
export { UnreadableRecord } from '#apiserver/storage/unreadable-record';
export type {
  CommitFeed,
  Durability,
  Encode,
  GetOptions,
  ListOptions,
  ListResult,
  Revision,
  Storage,
  StorageEvent,
  StorageRecord,
  WriteOptions,
} from '#apiserver/storage/storage';
export {
  Controller,
  type ControlledResource,
  type ControllerOptions,
  type ControllerRule,
  generationChanged,
  type Reconciler,
  type ReconcileContext,
  type ReconcileRequest,
  type ReconcileResult,
  Watches,
} from '#apiserver/controllers/controller';
export { aborted } from '#apiserver/controllers/aborted';
export { ControllerClient } from '#apiserver/controllers/controller-client';
export { type CreatedOrUpdated, createOrUpdate } from '#apiserver/controllers/create-or-update';
export type { EventType } from '#apiserver/controllers/event-form';
export { EventRecorder } from '#apiserver/controllers/event-recorder';
export { Expectations } from '#apiserver/controllers/expectations';
export { addFinalizer, hasFinalizer, removeFinalizer } from '#apiserver/controllers/finalizers';
export { controllerOf, isControlledBy, newControllerReference, newOwnerReference } from '#apiserver/controllers/owner-references';
export { KeyValueStore } from '#apiserver/controllers/key-value-store';
export { Schedule, type ScheduleOptions } from '#apiserver/controllers/schedules';
export { RequestQueue } from '#apiserver/controllers/request-queue';
export { keyOf, type ObjectHandler, type SharedInformer, SharedInformers } from '#apiserver/controllers/shared-informer';
export { type ServedResource, servedResources, type ServedResourcesOptions } from '#apiserver/controllers/served-resources';
export { WorkQueue } from '#apiserver/controllers/work-queue';
export type { DeleteOptions, ObjectPatch, RequestClient } from '#apiserver/registry/client';
