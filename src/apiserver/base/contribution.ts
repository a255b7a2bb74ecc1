/** A class whose constructor takes what its `@inject` decorators ask for. */
export type PluginClass<T> = new (...dependencies: never[]) => T;

/** What a class may be decorated as, and what else there is. */
export type ContributionKind =
  | 'AdmissionPlugin'
  | 'AuthenticatorPlugin'
  | 'AuthorizerPlugin'
  | 'AuditBackendPlugin'
  | 'PostStartHookPlugin'
  | 'ApiGroup'
  | 'StorageBackend'
  | 'Pages';

/** What every decorator of a contribution takes. */
export interface ContributionOptions {
  /** Unique among those of its kind. */
  readonly name: string;
  /** The class of its configuration, which it gets by `@inject(Configuration)`: a new one where nothing is configured. */
  readonly configuration?: new () => object;
}

export interface Described<Options extends ContributionOptions = ContributionOptions> {
  readonly kind: ContributionKind;
  readonly options: Options;
}

/** On the class or value itself, under a name that all copies of the SDK share. */
const description = Symbol.for('kubenest.contribution');

/** A contribution of which no instance is made. */
export interface ContributedValue {
  readonly [description]: Described;
}

/** A value that is contributed as it is. */
export function contributedValue(kind: ContributionKind, options: ContributionOptions): ContributedValue {
  return { [description]: { kind, options } };
}

/** Decorates a class as a contribution. A class is one thing: the decorator that is applied last wins. */
export function describes(kind: ContributionKind, options: ContributionOptions): ClassDecorator {
  return (target) => {
    Object.defineProperty(target, description, { value: { kind, options } satisfies Described, configurable: true });
  };
}

/** What a class was decorated as, or a value is; undefined for others. */
export function describe(type: object): Described | undefined {
  return Object.hasOwn(type, description) ? (type as ContributedValue)[description] : undefined;
}
