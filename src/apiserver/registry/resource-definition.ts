import type { DeleteOptions, GroupVersion, KubeObject, ObjectMeta } from '#apimachinery/meta/types';
import type { ReplicasPaths } from '#apimachinery/managedfields/scale-handler';
import type { JsonNumber } from '#apimachinery/runtime/numbers';
import type { Steps } from '#apimachinery/runtime/steps';
import type { FieldError } from '#apimachinery/validation/field';
import type { ValidateNameFunc } from '#apimachinery/validation/names';
import type { UserInfo } from '#apiserver/request/user-info';

/** What a strategy may know of the request besides the objects. */
export interface StrategyContext {
  readonly namespace: string;
  readonly user: UserInfo;
  readonly dryRun: boolean;
  /** The time of the request, RFC 3339 in whole seconds. */
  readonly now: string;
  /** Whether a feature gate is on; without it, all are at their defaults. */
  readonly isEnabled?: ((feature: string) => boolean) | undefined;
  /** Sends a warning to the client. */
  readonly warn?: (text: string) => void;
  /** True for server-side apply. */
  readonly isApply?: boolean;
}

export interface GracefulDeletion {
  /** Seconds that the object stays with a deletionTimestamp; 0 deletes it at once. */
  readonly gracePeriodSeconds: number;
}

/**
 * What differs from the generic behaviour when objects of a resource are written. Every method is optional; objects are in
 * the storage version, decoded and defaulted, and may be changed in place by the `prepare…` methods only.
 * Upstream: apiserver/pkg/registry/rest/{create,update,delete}.go.
 */
export interface Strategy<T extends KubeObject = KubeObject> {
  prepareForCreate?(object: T, context: StrategyContext): void;
  prepareForUpdate?(object: T, old: T, context: StrategyContext): void;
  /** Brings an object that passed validation into its canonical form, in place; on create and update. */
  canonicalize?(object: T, context: StrategyContext): void;
  /** Of a large object it is called more than once, until its loops have had their time (validation/pausing.ts): it finds the same each time. */
  validate?(object: T, context: StrategyContext): FieldError[];
  /** As `validate`. */
  validateUpdate?(object: T, old: T, context: StrategyContext): FieldError[];
  /** What of the validation may take long: others run between its steps. `old`: the object before, undefined on create. */
  validateSteps?(object: T, old: T | undefined, context: StrategyContext): Steps<FieldError[]>;
  warningsOnCreate?(object: T, context: StrategyContext): string[];
  warningsOnUpdate?(object: T, old: T, context: StrategyContext): string[];
  /** Warnings about the options of a DELETE, of one object or of a collection. */
  warningsOnDelete?(options: DeleteOptions): string[];
  /** Messages of what is wrong with a name, empty if nothing; `prefix` for a generateName. Without it: a DNS-1123 subdomain. */
  validateName?(name: string, prefix: boolean): readonly string[];
  /** `validateName` where the name of a new object follows from its spec (APIServices). */
  nameRules?(object: T): ValidateNameFunc;
  /**
   * How much of the metadata is left to the generic registry, where the kind's own validation does not look at it again: `all` (nothing is said of the
   * metadata of a new object before all else is right), or what may change on `update`.
   */
  readonly genericMeta?: 'all' | 'update';
  /** Finalizers may have names without a domain; of kinds that are validated as those of the core group are, only the server's own have. */
  readonly anyFinalizers?: boolean;
  /** PUT of a missing object creates it. */
  readonly allowCreateOnUpdate?: boolean;
  /** PUT and PATCH without a resourceVersion are allowed (the default). */
  readonly allowUnconditionalUpdate?: boolean;
  /** Of kinds that stop gracefully (pods): how long this deletion takes. Without it, deletion is immediate. */
  gracefulDeletion?(object: T, requestedSeconds: number | undefined): GracefulDeletion;
  /** What happens to dependents when a DELETE says nothing; without it, `background`. */
  readonly defaultGarbageCollectionPolicy?: 'orphan' | 'background' | 'unsupported';
  /**
   * Begins a deletion in its own way: marks the object, in place, and gives it the finalizers that hold it. Called once, when
   * its deletion is asked for the first time.
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
  /** True: a DELETE that removes the object returns the object, not a Status; `undocumented`: OpenAPI says Status all the same. */
  readonly returnsDeletedObject?: boolean | 'undocumented';
  /**
   * `spec`: metadata.generation is 1 at first and raised by every change of the spec. `none` (the default): the generic store
   * leaves it as it is; what kinds have a generation of their own set it in `prepareForCreate` and `prepareForUpdate`.
   */
  readonly generation?: 'spec' | 'none';
  /** Fields that this endpoint does not take from clients (`['status']`): managed fields never own them here. */
  readonly resetFields?: readonly (readonly string[])[];
}

/** Turns objects of a resource's group version into those of the storage version and back. */
export interface VersionConversion {
  toStorage(object: KubeObject): KubeObject;
  fromStorage(object: KubeObject): KubeObject;
}

export interface ColumnContext {
  /** Milliseconds since the epoch, for ages. */
  readonly now: number;
}
/** One column of `kubectl get`. Upstream: kubernetes/pkg/printers/internalversion/printers.go. */
export interface Column<T extends KubeObject = KubeObject> {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date';
  readonly format?: string;
  readonly priority?: number;
  readonly description: string;
  value(object: T, context: ColumnContext): string | JsonNumber | boolean | null;
  /** A cell that upstream prints without a column definition: rows have it, `columnDefinitions` do not. */
  readonly cellOnly?: boolean;
}

export interface TableRowCondition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
}

/** The text of a field that `fieldSelector` can ask for. */
export type FieldText<T extends KubeObject = KubeObject> = { text(object: T): string }['text'];

/**
 * A subresource that reads and writes its parent's object (status, finalize, approval, ephemeralcontainers, resize): GET
 * answers the whole parent, PUT and PATCH keep all but what `prepareForUpdate` lets through.
 */
export interface ParentSubresource<T extends KubeObject = KubeObject> {
  readonly kind?: undefined;
  readonly scale?: undefined;
  readonly verbs: readonly string[];
  readonly strategy: Strategy<T>;
}

/** autoscaling/v1: how many there are of something, and how many there should be. */
export interface Scale extends KubeObject {
  spec?: { replicas?: number };
  status?: { replicas?: number; selector?: string };
}

/** How objects of a resource are seen, and changed, through their Scale. */
export interface ScaleBinding<T extends KubeObject = KubeObject> {
  /** undefined where the object says nothing of it. */
  specReplicas: { replicas(object: T): number | undefined }['replicas'];
  statusReplicas: { replicas(object: T): number }['replicas'];
  /** A label selector as text; empty if there is none. */
  selector: { text(object: T): string }['text'];
  setReplicas: { set(object: T, replicas: number): void }['set'];
  /** Where the versions of the resource have their replicas. */
  readonly replicasPaths: ReplicasPaths;
  /** The path of the replicas where an object without them has no Scale (custom resources). */
  readonly requiredPath?: string;
  readonly validate?: (scale: Scale) => FieldError[];
}

/** A subresource with a kind of its own. What it does is bound to its name by the group's provider (`SubresourceHandler`). */
export interface KindSubresource {
  readonly kind: string;
  /** The kind's group version where it is another than the resource's. */
  readonly groupVersion?: GroupVersion;
  readonly schema?: string;
  readonly verbs: readonly string[];
  /** Of kinds that can be asked for as a Table. */
  readonly columns?: readonly Column[];
  /** Of the subresource scale. */
  readonly scale?: ScaleBinding;
  /** A connect subresource (exec, attach, portforward, proxy, log): the methods are forwarded, not decoded. */
  readonly connect?: boolean;
}

export type Subresource<T extends KubeObject = KubeObject> = ParentSubresource<T> | KindSubresource;

/** What sets custom resources apart from built-in ones: their kinds have no Go type, only a schema. */
export interface CustomResourceTraits {
  /** Makes an object of a parsed document, which it uses up, and tells what the schema did not know. Throws DecodeError. */
  decode(document: Record<string, unknown>): Steps<{ readonly object: KubeObject; readonly unknownFields: readonly string[] }>;
  /** True if a webhook converts between the versions of the resource. */
  readonly isConverted: boolean;
}

/** What a request asks for that is answered and not stored. */
export interface ComputedRequest {
  readonly namespace: string;
  readonly user: UserInfo;
  readonly dryRun: boolean;
}

/** Answers the POSTs of a custom resource, or of a subresource with a kind of its own, whose objects are not stored. */
export interface Computed {
  readonly decode: CustomResourceTraits['decode'];
  defaults(object: KubeObject): void;
  validate(object: KubeObject): FieldError[];
  /** `parent`: the stored object that a subresource is of. */
  create(object: KubeObject, parent: KubeObject | undefined, request: ComputedRequest): KubeObject | Promise<KubeObject>;
}

/** Everything that the generic server needs to know of a resource, built-in or custom. */
export interface ResourceDefinition<T extends KubeObject = KubeObject> {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly listKind: string;
  /** The plural of the URL. */
  readonly resource: string;
  readonly singular: string;
  readonly namespaced: boolean;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly verbs: readonly string[];
  /** base64 of 8 bytes, published in discovery; undefined for resources that are not stored. */
  readonly storageVersionHash?: string | undefined;
  /** The name of the type in the schema tables: `apps_v1.Deployment`. */
  readonly schema: string;
  /** Where objects are stored, relative to the storage prefix: `pods`, `services/specs`; undefined for virtual resources. */
  readonly storagePath?: string | undefined;
  /** The version that is stored where it is another than `version`; objects are converted on the way. */
  readonly storageVersion?: { readonly version: GroupVersion; readonly schema: string; readonly conversion: VersionConversion } | undefined;
  /** Fills in what the client left out; called on every decoded object of this version, in place. */
  defaults?(object: T): void;
  readonly strategy: Strategy<T>;
  /** Labels accepted in fieldSelector besides metadata.name (and metadata.namespace), with the field's text in the storage version. */
  readonly selectableFields: Readonly<Record<string, FieldText<T>>>;
  /** The selectable fields by which the watch cache indexes objects, so that a list by one of them reads only those that match. */
  readonly indexedFields?: readonly string[];
  /** True if each object is a namespace: admission sees the object's name as the namespace of a write. */
  readonly isNamespace?: boolean;
  /** Of a version that has names of its own for fields: by label, the selectable field of the stored version. Others are not accepted. */
  readonly fieldLabels?: Readonly<Record<string, string>>;
  /**
   * The message for another label, of kinds that convert their labels themselves; without it, the generic one that names metadata.name and
   * metadata.namespace, which then is accepted of cluster-scoped kinds, too.
   */
  unsupportedField?(label: string): string;
  /** The columns of the Table form; their values are taken of the storage version. */
  readonly columns: readonly Column<T>[];
  /** Conditions of an object's row in the Table form. */
  rowConditions?(object: T): readonly TableRowCondition[];
  /** Annotations that upstream's internal objects have as fields: rows of the Table form, which are made of those, do not show them. */
  readonly internalAnnotations?: readonly string[];
  /** The order of rows in the Table form of a list where it is another than that of the list. */
  compareRows?(a: T, b: T): number;
  readonly subresources: Readonly<Record<string, Subresource<T>>>;
  /** Told to clients with every request of the resource: it is deprecated, and what to use. */
  readonly deprecationWarning?: string | undefined;
  /** The release without it, as `1.25`. */
  readonly removedRelease?: string | undefined;
  /** The feature without which the resource is not served, even if its version is. */
  readonly featureGate?: string | undefined;
  /** Served though its version is not a stable one, unless `--runtime-config` says otherwise. */
  readonly servedByDefault?: boolean | undefined;
  /** Seconds after which objects vanish (events). */
  readonly ttlSeconds?: number | undefined;
  /** False: no finalizer is set for a garbage collector, whatever clients ask. Default: true. */
  readonly hasGarbageCollection?: boolean | undefined;
  /** Of custom resources. */
  readonly custom?: CustomResourceTraits | undefined;
  /** By the name of the subresource; the empty one is the resource itself. */
  readonly computed?: Readonly<Record<string, Computed>> | undefined;
  /** The type by which apply tells fields apart, where it is another than `schema` (custom resources). */
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

/** Completes a definition with what follows from the rest: a stored, namespaced resource with all eight verbs and default columns. */
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
