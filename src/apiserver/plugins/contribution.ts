import { ContainerModule } from 'inversify';
import type { PluginClass } from './new-plugin.ts';

/**
 * A part that a plugin package adds to the server: a decorated class (`@AdmissionPlugin`, …) or a self-contained value
 * (`apiGroup`). Packages bind contributions to the token as constant values; the server instantiates the classes with their
 * configuration.
 */
export type Contribution = PluginClass<object> | ContributedValue;
export const Contribution = Symbol.for('kubenest.Contribution');

/**
 * Creates the default export of a package. A package whose classes share dependencies writes the module itself:
 *
 *     export default new ContainerModule(({ bind }) => {
 *       bind(Directory).toSelf().inSingletonScope();
 *       bind(Contribution).toConstantValue(RequireKnownOwner);
 *     });
 */
export function contribute(...contributions: readonly Contribution[]): ContainerModule {
  return new ContainerModule(({ bind }) => {
    for (const contribution of contributions) bind(Contribution).toConstantValue(contribution);
  });
}

/** The kinds of contributions. */
export type ContributionKind =
  | 'AdmissionPlugin'
  | 'AuthenticatorPlugin'
  | 'AuthorizerPlugin'
  | 'AuditBackendPlugin'
  | 'PostStartHookPlugin'
  | 'ApiGroup'
  | 'StorageBackend'
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
