/** What plugins see of kubenest. */
export {
  isConflict,
  isNotFound,
  newBadRequest,
  newConflict,
  newForbidden,
  newInternalError,
  newInvalid,
  newNotFound,
  newTooManyRequests,
  StatusError,
} from '#apimachinery/api/errors';
export type {
  GroupResource,
  GroupVersionKind,
  GroupVersionResource,
  KubeObject,
  ObjectMeta,
  OwnerReference,
  Status,
} from '#apimachinery/meta/types';
export { AdmissionPlugin } from '#apiserver/admission/admission-plugin';
export type { AdmissionHandler, AdmissionMatch, AdmissionPluginOptions, Attributes, Operation } from '#apiserver/admission/attributes';
export { forbidden } from '#apiserver/admission/forbidden';
export { type Authenticator, type Credentials, groupNames, type UserInfo, userNames } from '#apiserver/authentication/authenticator';
export type {
  AuthorizationAttributes,
  AuthorizationResult,
  Authorizer,
  Decision,
  NonResourceRule,
  ResourceRule,
  UserRules,
} from '#apiserver/authorization/authorizer';
export type { Peer } from '#apiserver/endpoints/request/exchange';
export { type Informer, Informers } from '#apiserver/registry/informers';
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
  UnknownOutcomeError,
} from '#apiserver/storage/errors';
export { compareKeys, hasUncommonOrder, lowerBound, validateKey, validatePrefix } from '#apiserver/storage/key';
export type {
  CommitFeed,
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
