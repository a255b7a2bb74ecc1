/** What plugins see of kubenest. */
import 'reflect-metadata';

export { ContainerModule, inject, injectable, optional } from 'inversify';
export {
  isAlreadyExists,
  isConflict,
  isNotFound,
  newBadRequest,
  newConflict,
  newGenericServerResponse,
  newForbidden,
  newInternalError,
  newInvalid,
  newNotFound,
  newServiceUnavailable,
  newTimeoutError,
  RequestTimeoutError,
  newTooManyRequests,
  newTooManyRequestsError,
  StatusError,
  statusOf,
} from '#apimachinery/api/errors';
export { Quantity } from '#apimachinery/api/quantity';
export {
  everything,
  type LabelSelector,
  LabelSelectorError,
  labelSelectorAsSelector,
  type LabelSelectorSource,
  newRequirement,
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
export type { TokenCacheMetrics } from '#apiserver/authentication/authentication-metrics';
export { MatchConditionMetrics } from '#apiserver/admission/cel/match-condition-metrics';
export { MatchConditions } from '#apiserver/admission/cel/match-conditions';
export { ConversionError, type EquivalentResource, type ObjectForms } from '#apiserver/admission/object-forms';
export { VisibleObjects } from '#apiserver/admission/policy/invocations';
export { MutatingPolicies } from '#apiserver/admission/policy/mutating-policies';
export { ValidatingPolicies } from '#apiserver/admission/policy/validating-policies';
export { PluginReinvocation } from '#apiserver/admission/plugin-reinvocation';
export type { Reinvocation } from '#apiserver/admission/reinvocation';
export { replaceObject } from '#apiserver/admission/replace-object';
export { matchingRules, type NamedRuleWithOperations } from '#apiserver/admission/resource-rules';
export { dialErrorText } from '#apiserver/endpoints/handlers/dial-error';
export { applyJsonPatch, decodeJsonPatch, type JsonPatch, jsonKind } from '#apimachinery/patch/json-patch';
export { getOwn, setOwn } from '#apimachinery/patch/own-property';
export { deepCopy } from '#apimachinery/runtime/copy';
export { base64Problem } from '#apimachinery/runtime/decode';
export { deepEqual } from '#apimachinery/runtime/equality';
export { compareUtf8, encodeRawJson, parseJson } from '#apimachinery/runtime/json';
export { Float64, isNumber, toFloat } from '#apimachinery/runtime/numbers';
export { quote, quoteList } from '#apimachinery/runtime/quote';
export { semanticDeepEqual } from '#apimachinery/runtime/semantic-equality';
export { parseYaml } from '#apimachinery/runtime/yaml';
export {
  aggregate as aggregateFieldErrors,
  aggregateMessages,
  type FieldError,
  fieldPath,
  forbidden as fieldForbidden,
  invalid,
  required as fieldRequired,
} from '#apimachinery/validation/field';
export { type Certificate, fingerprintOf, parseCertificate } from '#apimachinery/x509/certificate';
export { type CertificateRequest, parsePemCertificateRequest } from '#apimachinery/x509/certificate-request';
export { CertificatePool, parseCertificateBundle } from '#apimachinery/x509/certificate-pool';
export { extendedKeyUsages, verifyCertificate } from '#apimachinery/x509/verify-certificate';
export { checkServerIdentity, trustContext, trustOptions } from '#apiserver/server/trust';
export { isQualifiedName, isValidLabelValue, isValidPathSegmentName } from '#apimachinery/validation/names';
export { deny, setAnnotations, setDefaults, setLabels, warn } from './admission-helpers.ts';
export { AdmissionPlugin } from '#apiserver/admission/admission-plugin';
export type {
  AdmissionHandler,
  AdmissionMatch,
  AdmissionPluginClass,
  AdmissionPluginOptions,
  Attributes,
  Operation,
} from '#apiserver/admission/attributes';
export { forbidden, forbiddenBy } from '#apiserver/admission/forbidden';
export { AuthenticatorPlugin } from '#apiserver/authentication/authenticator-plugin';
export {
  type Authenticator,
  type Credentials,
  groupNames,
  type TokenAuthenticator,
  type UserInfo,
  userNames,
} from '#apiserver/authentication/authenticator';
export { AuthenticationStrategy } from '#apiserver/authentication/strategy';
export { AuthenticationFailedError } from '#apiserver/authentication/union';
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
export { isAuthorizedForSignerName } from '#apiserver/authorization/signers';
export { AuthorizerPlugin } from '#apiserver/authorization/authorizer-plugin';
export type { AdmissionTrace, TraceDocument, TraceNote, TraceStep } from '#apiserver/trace/request-trace';
export { AuthorizerValue } from '#apiserver/cel/library/authz';
export { settled } from '#apiserver/cel/runtime/frame';
export type { Peer } from '#apiserver/endpoints/request/exchange';
export { Configuration } from '#apiserver/plugins/configuration';
export { contribute, Contribution, type ContributionOptions } from '#apiserver/plugins/contribution';
export { checkManifestFolder, type ManifestFiles, readManifestFiles } from '#apiserver/admission/manifest/manifest-files';
export type { ManifestSource } from '#apiserver/admission/manifest/manifests';
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
export type { Column, ComputedRequest, Strategy, StrategyContext } from '#apiserver/registry/resource-definition';
export { ageColumn, nameColumn } from '#apiserver/registry/table-columns';
export type { JsonSchemaProps } from '#apimachinery/structural/json-schema-props';
export { type Informer, Informers } from '#apiserver/registry/informers';
export { type KindObjects, ServedKinds } from '#apiserver/registry/served-kinds';
export { FeatureGates } from '#apiserver/server/feature-gates';
export { type Endpoint, ServiceResolver } from '#apiserver/server/service-resolver';
export { DialBridge } from '#apiserver/server/egress-selector/dial-bridge';
export type { Dial } from '#apiserver/server/egress-selector/egress-selector';
export { RestMapper, type RestMapping } from '#apiserver/server/rest-mapper';
export { Logger } from '#apiserver/server/logger';
export { makeFolder } from '#apiserver/server/make-folder';
export type { PostStartHook } from '#apiserver/server/lifecycle/hooks';
export { PostStartHookPlugin } from '#apiserver/server/lifecycle/post-start-hook-plugin';
export { ShutdownSignal } from '#apiserver/server/lifecycle/shutdown-signal';
export {
  type CounterMetric,
  type GaugeMetric,
  type HistogramMetric,
  type MetricLabels,
  type MetricOptions,
  Metrics,
} from '#apiserver/server/metrics/metrics';
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
  UnavailableError,
  UndecodableRecordError,
  UnknownOutcomeError,
} from '#apiserver/storage/errors';
export { Clock } from '#apiserver/storage/cacher/clock';
export {
  passportAuthenticator,
  type PassportAuthenticatorOptions,
  type PassportRequest,
  type PassportStrategy,
} from '#apiserver/plugins/passport-authenticator';
export { AuditBackendPlugin } from '#apiserver/audit/audit-backend-plugin';
export { storageBackend, type StorageBackendOptions } from '#apiserver/storage/storage-backend-plugin';
export { type AuditBackend, type AuditEvent, eventJson } from '#apiserver/audit/event';
export { type WebhookClientConfig, type WebhookTarget, webhookTarget } from '#apiserver/webhook/client-config';
export { type JsonAnswer, JsonClient, WebhookError } from '#apiserver/webhook/json-client';
export {
  noCredentials,
  readKubeconfig,
  readKubeconfigUsers,
  type ServiceConnection,
  type UserCredentials,
} from '#apiserver/webhook/kubeconfig';
export * as protobufMessage from '#apimachinery/runtime/message-table';
export { compareKeys, hasUncommonOrder, lowerBound, validateKey, validatePrefix } from '#apiserver/storage/key';
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
