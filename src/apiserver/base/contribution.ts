/** A class whose constructor parameters are injected according to their `@inject` decorators. */
export type PluginClass<T> = new (...dependencies: never[]) => T;

/** Kind of a contribution. */
export type ContributionKind =
  | 'AdmissionPlugin'
  | 'AuthenticatorPlugin'
  | 'AuthorizerPlugin'
  | 'AuditBackendPlugin'
  | 'PostStartHookPlugin'
  | 'ApiGroup'
  | 'StorageBackend'
  | 'Controller'
  | 'Pages';

/** Options of every contribution's decorator. */
export interface ContributionOptions {
  /** Unique among contributions of the same kind. */
  readonly name: string;
  /** Class of the configuration, injected by `@inject(Configuration)`. Default: a new instance. */
  readonly configuration?: new () => object;
}

export interface Described<Options extends ContributionOptions = ContributionOptions> {
  readonly kind: ContributionKind;
  readonly options: Options;
}

/** Key of a contribution's description on the class or value, shared by all copies of the SDK. */
const description = Symbol.for('kubenest.contribution');

/** A contribution that is not instantiated. */
export interface ContributedValue {
  readonly [description]: Described;
}

/** Creates a contribution of a value. */
export function contributedValue(kind: ContributionKind, options: ContributionOptions): ContributedValue {
  return { [description]: { kind, options } };
}

/** Declares a class as a contribution. A class has one kind; the decorator applied last takes precedence. */
export function describes(kind: ContributionKind, options: ContributionOptions): ClassDecorator {
  return (target) => {
    Object.defineProperty(target, description, { value: { kind, options } satisfies Described, configurable: true });
  };
}

/** Returns the description of a contribution; undefined if a class or value is not one. */
export function describe(type: object): Described | undefined {
  return Object.hasOwn(type, description) ? (type as ContributedValue)[description] : undefined;
}
