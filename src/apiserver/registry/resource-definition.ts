import type { DeleteOptions, GroupVersion, KubeObject, ObjectMeta } from '#apimachinery/meta/types';
import type { ReplicasPaths } from '#apimachinery/managedfields/scale-handler';
import type { JsonNumber } from '#apimachinery/runtime/numbers';
import type { Steps } from '#apimachinery/runtime/steps';
import type { FieldError } from '#apimachinery/validation/field';
import type { ValidateNameFunc } from '#apimachinery/validation/names';
import type { UserInfo } from '#apiserver/request/user-info';

/** Flags of the server on which strategies depend. */
export interface ServerTraits {
  /** Returns true if a feature gate is enabled. If undefined, all gates have their defaults. */
  readonly isEnabled?: ((feature: string) => boolean) | undefined;
  /** Capabilities that the server grants; undefined: none. Upstream: kubernetes/pkg/capabilities. */
  readonly capabilities?: ReadonlySet<string> | undefined;
}

/** Properties of the request and its server available to a strategy. */
export interface StrategyContext extends ServerTraits {
  readonly namespace: string;
  readonly user: UserInfo;
  readonly dryRun: boolean;
  /** Time of the request, RFC 3339 in whole seconds. */
  readonly now: string;
  /** Sends a warning to the client. */
  readonly warn?: (text: string) => void;
  /** True for server-side apply. */
  readonly isApply?: boolean;
}

export interface GracefulDeletion {
  /** Seconds between the deletion request and the removal; 0 deletes immediately. */
  readonly gracePeriodSeconds: number;
}

/**
 * Resource-specific behaviour of writes. All methods are optional. Objects are in the storage version, decoded and
 * defaulted; only the `prepare…` methods may modify them. Upstream: apiserver/pkg/registry/rest/{create,update,delete}.go.
 */
export interface Strategy<T extends KubeObject = KubeObject> {
  prepareForCreate?(object: T, context: StrategyContext): void;
  prepareForUpdate?(object: T, old: T, context: StrategyContext): void;
  /** Converts a valid object to its canonical form, in place; called on create and update. */
  canonicalize?(object: T, context: StrategyContext): void;
  /**
   * Validates a new object. For large objects it is called repeatedly until its loops complete (validation/pausing.ts), so
   * it must be deterministic.
   */
  validate?(object: T, context: StrategyContext): FieldError[];
  /** Validates a changed object. Called repeatedly, like `validate`. */
  validateUpdate?(object: T, old: T, context: StrategyContext): FieldError[];
  /**
   * Validation that may take long and yields to the event loop between steps. `old` is the previous object, undefined on
   * create.
   */
  validateSteps?(object: T, old: T | undefined, context: StrategyContext): Steps<FieldError[]>;
  warningsOnCreate?(object: T, context: StrategyContext): string[];
  warningsOnUpdate?(object: T, old: T, context: StrategyContext): string[];
  /** Returns warnings about the options of a DELETE of an object or a collection. */
  warningsOnDelete?(options: DeleteOptions): string[];
  /** Returns the reason why an object may not be deleted by its name; collections are deleted without a check. */
  refuseDeletion?(name: string): string | undefined;
  /** Returns the errors of a name; `prefix` is true for a generateName. Default: a DNS-1123 subdomain. */
  validateName?(name: string, prefix: boolean): readonly string[];
  /** Returns `validateName` for kinds whose name depends on the spec (APIServices) or on feature gates (Services). */
  nameRules?(object: T, server: ServerTraits): ValidateNameFunc;
  /**
   * Metadata checks that only the generic registry performs because the kind's validation omits them: `all` (metadata errors
   * of a new object are reported only if everything else is valid), or immutability on `update`. With `create`, the kind's own
   * validation of a new object checks its metadata, too, and the generic registry reports errors only if there are no others.
   * A subresource has that of its resource by default.
   */
  readonly genericMeta?: 'all' | 'update' | 'create';
  /** True if finalizers may have names without a domain. Kinds validated like the core group allow only the server's own. */
  readonly anyFinalizers?: boolean;
  /** True if PUT of a missing object creates it. */
  readonly allowCreateOnUpdate?: boolean;
  /** True if PUT and PATCH without a resourceVersion are allowed. Default: true. */
  readonly allowUnconditionalUpdate?: boolean;
  /** Returns the grace period of a deletion, for kinds with graceful deletion (pods). Default: immediate deletion. */
  gracefulDeletion?(object: T, requestedSeconds: number | undefined): GracefulDeletion;
  /** Propagation of a DELETE that specifies none. Default: `background`. */
  readonly defaultGarbageCollectionPolicy?: 'orphan' | 'background' | 'unsupported';
  /**
   * Begins a deletion in a kind-specific way: marks the object, in place, and adds the finalizers that delay its removal.
   * Called once, at the first deletion request.
   */
  beginDeletion?(object: T, now: string): void;
  /**
   * Replaces the generic check of a deletion's preconditions where a kind has messages of its own. Throws Conflict.
   * The generic check: registry/deletion.ts.
   */
  checkPreconditions?(metadata: ObjectMeta, preconditions: DeleteOptions['preconditions']): void;
  /**
   * Marks an object whose deletion begins, besides its deletionTimestamp; without it, deletionGracePeriodSeconds becomes 0.
   */
  markAsDeleting?(object: T): void;
  /** True if something besides metadata.finalizers keeps a deleted object in the store. */
  isHeld?(object: T): boolean;
  /** True: a DELETE that removes the object returns the object, not a Status; `undocumented`: OpenAPI still declares a Status. */
  readonly returnsDeletedObject?: boolean | 'undocumented';
  /**
   * `spec`: metadata.generation starts at 1 and increases with every change of the spec. `exactSpec`: null and an empty list or map count
   * as a change, too. `none` (the default): the generic store does not modify it; kinds with other rules set it in `prepareForCreate` and
   * `prepareForUpdate`.
   */
  readonly generation?: 'spec' | 'exactSpec' | 'none';
  /** Fields that this endpoint ignores in requests (`['status']`); managed fields never own them here. */
  readonly resetFields?: readonly (readonly string[])[];
  /** Feature gate without which `resetFields` has no effect. */
  readonly resetFieldsGate?: string;
}

/** Conversion of a resource's objects to the storage version and back. */
export interface VersionConversion {
  toStorage(object: KubeObject): KubeObject;
  fromStorage(object: KubeObject): KubeObject;
}

export interface ColumnContext {
  /** Current time in milliseconds since the epoch, for ages. */
  readonly now: number;
}
/** A column of `kubectl get`. Upstream: kubernetes/pkg/printers/internalversion/printers.go. */
export interface Column<T extends KubeObject = KubeObject> {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date';
  readonly format?: string;
  readonly priority?: number;
  readonly description: string;
  value(object: T, context: ColumnContext): string | JsonNumber | boolean | null;
  /** True for a cell without a column definition, as upstream prints some: rows have it, `columnDefinitions` do not. */
  readonly cellOnly?: boolean;
}

export interface TableRowCondition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
}

/**
 * Returns the text of a field for `fieldSelector`. Taken from a method signature, whose parameters are bivariant, so that it
 * is assignable to `FieldText<KubeObject>`.
 */
export type FieldText<T extends KubeObject = KubeObject> = { text(object: T): string }['text'];

/**
 * A subresource that reads and writes its parent's object (status, finalize, approval, ephemeralcontainers, resize): GET
 * returns the whole parent; PUT and PATCH change only what `prepareForUpdate` permits.
 */
export interface ParentSubresource<T extends KubeObject = KubeObject> {
  readonly kind?: undefined;
  readonly scale?: undefined;
  readonly verbs: readonly string[];
  readonly strategy: Strategy<T>;
}

/** autoscaling/v1: the actual and the desired number of replicas. */
export interface Scale extends KubeObject {
  spec?: { replicas?: number };
  status?: { replicas?: number; selector?: string };
}

/** Mapping of a resource's objects to their Scale. Its functions have the form of `FieldText`, for the same reason. */
export interface ScaleBinding<T extends KubeObject = KubeObject> {
  /** Desired replicas; undefined if the object does not specify them. */
  specReplicas: { replicas(object: T): number | undefined }['replicas'];
  statusReplicas: { replicas(object: T): number }['replicas'];
  /** The label selector as text; empty if there is none. */
  selector: FieldText<T>;
  setReplicas: { set(object: T, replicas: number): void }['set'];
  /** Paths of the replicas by version of the resource. */
  readonly replicasPaths: ReplicasPaths;
  /** Path of the replicas for custom resources, whose objects have no Scale without them. */
  readonly requiredPath?: string;
  readonly validate?: (scale: Scale) => FieldError[];
}

/** A subresource with its own kind. The group's provider implements it under its name (`SubresourceHandler`). */
export interface KindSubresource {
  readonly kind: string;
  /** Group version of the kind, if it differs from the resource's. */
  readonly groupVersion?: GroupVersion;
  readonly schema?: string;
  readonly verbs: readonly string[];
  /** Columns of the Table form, if the kind supports it. */
  readonly columns?: readonly Column[];
  /** Set for the subresource scale. */
  readonly scale?: ScaleBinding;
  /** True for a connect subresource (exec, attach, portforward, proxy, log), whose requests are forwarded undecoded. */
  readonly connect?: boolean;
}

export type Subresource<T extends KubeObject = KubeObject> = ParentSubresource<T> | KindSubresource;

/** Properties specific to custom resources, whose kinds have a schema instead of a Go type. */
export interface CustomResourceTraits {
  /** Decodes a parsed document, which it may modify, and returns the fields that are not in the schema. Throws DecodeError. */
  decode(document: Record<string, unknown>): Steps<{ readonly object: KubeObject; readonly unknownFields: readonly string[] }>;
  /** True if a webhook converts between the versions of the resource. */
  readonly isConverted: boolean;
}

/** A request that is answered without storing an object. */
export interface ComputedRequest {
  readonly namespace: string;
  readonly user: UserInfo;
  readonly dryRun: boolean;
}

/** Handles the POSTs of a virtual resource or of a subresource with its own kind. */
export interface Computed {
  readonly decode: CustomResourceTraits['decode'];
  defaults(object: KubeObject): void;
  validate(object: KubeObject): FieldError[];
  /** Returns the response. `parent` is the stored object of a subresource. */
  create(object: KubeObject, parent: KubeObject | undefined, request: ComputedRequest): KubeObject | Promise<KubeObject>;
}

/** The definition of a resource, built-in or custom, for the generic server. */
export interface ResourceDefinition<T extends KubeObject = KubeObject> {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly listKind: string;
  /** Plural name in the URL. */
  readonly resource: string;
  readonly singular: string;
  readonly namespaced: boolean;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly verbs: readonly string[];
  /** base64 of 8 bytes, published in discovery; undefined for virtual resources. */
  readonly storageVersionHash?: string | undefined;
  /** Name of the type in the schema tables: `apps_v1.Deployment`. */
  readonly schema: string;
  /** Storage path relative to the prefix: `pods`, `services/specs`; undefined for virtual resources. */
  readonly storagePath?: string | undefined;
  /** Version in which objects are stored, with the conversion, if it differs from `version`. */
  readonly storageVersion?: { readonly version: GroupVersion; readonly schema: string; readonly conversion: VersionConversion } | undefined;
  /** Sets defaults in every decoded object of this version, in place. */
  defaults?(object: T): void;
  /** Like `defaults`, which it replaces where an object may be large; yields to the event loop. */
  defaultsSteps?(object: T): Steps<void>;
  readonly strategy: Strategy<T>;
  /**
   * Labels accepted in fieldSelector in addition to metadata.name (and metadata.namespace), with the field's text in the
   * storage version.
   */
  readonly selectableFields: Readonly<Record<string, FieldText<T>>>;
  /** The selectable fields by which the watch cache indexes objects, so that a list by one of them reads only those that match. */
  readonly indexedFields?: readonly string[];
  /** True if each object is a namespace: admission sees the object's name as the namespace of a write. */
  readonly isNamespace?: boolean;
  /** Field labels specific to this version, mapped to selectable fields of the stored version. Other labels are rejected. */
  readonly fieldLabels?: Readonly<Record<string, string>>;
  /**
   * Returns the error for an unsupported label, for kinds that convert labels themselves. Without it, the generic error
   * names metadata.name and metadata.namespace, and metadata.namespace is accepted for cluster-scoped kinds, too.
   */
  unsupportedField?(label: string): string;
  /** Columns of the Table form, computed from the storage version. */
  readonly columns: readonly Column<T>[];
  /** Returns the conditions of an object's row in the Table form. */
  rowConditions?(object: T): readonly TableRowCondition[];
  /** Annotations that are fields of upstream's internal objects; rows of the Table form omit them. */
  readonly internalAnnotations?: readonly string[];
  /** Order of the rows in the Table form of a list, if it differs from the order of the list. */
  compareRows?(a: T, b: T): number;
  readonly subresources: Readonly<Record<string, Subresource<T>>>;
  /** Warning sent with every request of a deprecated resource, naming its replacement. */
  readonly deprecationWarning?: string | undefined;
  /** Release that removes the resource, such as `1.25`. */
  readonly removedRelease?: string | undefined;
  /** Feature gate required to serve the resource in addition to its version. */
  readonly featureGate?: string | undefined;
  /** True if the resource is served by default although its version is not stable. `--runtime-config` overrides it. */
  readonly servedByDefault?: boolean | undefined;
  /**
   * True if upstream has no watch cache for the resource: a read of an invalid version is 400 instead of 500, and one of a future version fails at
   * once. Upstream: DefaultWatchCacheSizes in pkg/kubeapiserver/default_storage_factory_builder.go.
   */
  readonly readsStorage?: boolean | undefined;
  /** Seconds after which objects expire (events). */
  readonly ttlSeconds?: number | undefined;
  /** False if no garbage collector runs: its finalizers are never set. Default: true. */
  readonly hasGarbageCollection?: boolean | undefined;
  /** Set for custom resources. */
  readonly custom?: CustomResourceTraits | undefined;
  /** Handlers of POST by subresource; the empty name is the resource itself. */
  readonly computed?: Readonly<Record<string, Computed>> | undefined;
  /** Returns the current objects of a virtual resource that can only be read; with a name, those of the name. */
  readonly read?: ((namespace: string, name: string | undefined) => readonly KubeObject[] | Promise<readonly KubeObject[]>) | undefined;
  /** Type that defines the fields for apply, if it differs from `schema` (custom resources). */
  readonly applySchema?: string | undefined;
}

type Optional =
  | 'listKind'
  | 'singular'
  | 'shortNames'
  | 'categories'
  | 'verbs'
  | 'strategy'
  | 'selectableFields'
  | 'columns'
  | 'subresources'
  | 'namespaced';

export const standardVerbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'] as const;

/**
 * Completes a definition with derived values. Default: a stored, namespaced resource with all eight verbs and default
 * columns.
 */
export function defineResource<T extends KubeObject = KubeObject>(
  definition: Omit<ResourceDefinition<T>, Optional> & Partial<Pick<ResourceDefinition<T>, Optional>>,
): ResourceDefinition<T> {
  return {
    listKind: `${definition.kind}List`,
    singular: definition.kind.toLowerCase(),
    namespaced: true,
    shortNames: [],
    categories: [],
    verbs: standardVerbs,
    strategy: {},
    selectableFields: {},
    columns: [],
    subresources: {},
    ...definition,
  };
}
