/** The public API of kubenest for plugins. */
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
export { compareUtf8, encodeRawJson, parseJson } from '#apimachinery/runtime/json/json';
export { Float64, isNumber, toFloat } from '#apimachinery/runtime/numbers';
export { quote, quoteList } from '#apimachinery/runtime/quote';
export { semanticDeepEqual } from '#apimachinery/runtime/semantic-equality';
export { parseYaml } from '#apimachinery/runtime/yaml/yaml';
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
export { checkServerIdentity, trustContext, trustOptions } from '#apiserver/network/trust';
export { isQualifiedName, isValidLabelValue, isValidPathSegmentName } from '#apimachinery/validation/names';
export { deny, setAnnotations, setDefaults, setLabels, warn } from './admission-helpers.ts';
export { AdmissionPlugin } from '#apiserver/admission/admission-plugin';
export type {
  AdmissionHandler,
  AdmissionMatch,
  AdmissionPluginClass,
  AdmissionPluginOptions,
  Attributes,
} from '#apiserver/admission/attributes';
export type { Operation } from '#apiserver/request/admission-context';
export { forbidden, forbiddenBy } from '#apiserver/admission/forbidden';
export { AuthenticatorPlugin } from '#apiserver/authentication/authenticator-plugin';
export type { Authenticator, Credentials, TokenAuthenticator } from '#apiserver/authentication/authenticator';
export { groupNames, type UserInfo, userNames } from '#apiserver/request/user-info';
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
export type { AdmissionTrace, TraceDocument, TraceNote, TraceStep } from '#apiserver/request/request-trace';
export { AuthorizerValue } from '#apiserver/cel/library/authz';
export { settled } from '#apiserver/cel/runtime/frame';
export type { Peer } from '#apiserver/request/exchange';
export { Configuration } from '#apiserver/plugins/configuration';
export type { ContributionOptions } from '#apiserver/base/contribution';
export { contribute, Contribution } from '#apiserver/plugins/contribute';
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
export { FeatureGates } from '#apiserver/base/feature-gates';
export { ServiceResolver } from '#apiserver/network/service-resolver';
export type { Endpoint } from '#apiserver/network/endpoint';
export { DialBridge } from '#apiserver/network/egress-selector/dial-bridge';
export type { Dial } from '#apiserver/network/egress-selector/egress-selector';
export { RestMapper, type RestMapping } from '#apiserver/server/rest-mapper';
export { Logger } from '#apiserver/base/logger';
export { makeFolder } from '#apiserver/base/make-folder';
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
  UnavailableError,
  UndecodableRecordError,
  UnknownOutcomeError,
} from '#apiserver/storage/errors';
export { Clock } from '#apiserver/base/clock';
export { AuditBackendPlugin } from '#apiserver/audit/audit-backend-plugin';
export { storageBackend, type StorageBackendOptions } from '#apiserver/storage/storage-backend-plugin';
export { type AuditBackend, type AuditEvent, eventJson } from '#apiserver/audit/event';
export { type WebhookClientConfig, type WebhookTarget, webhookTarget } from '#apiserver/network/webhook/client-config';
export { type JsonAnswer, JsonClient, WebhookError } from '#apiserver/network/webhook/json-client';
export {
  noCredentials,
  readKubeconfig,
  readKubeconfigUsers,
  type ServiceConnection,
  type UserCredentials,
} from '#apiserver/network/webhook/kubeconfig';
export * as protobufMessage from '#apimachinery/runtime/protobuf/message-table';
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
