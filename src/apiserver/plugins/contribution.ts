import { ContainerModule } from 'inversify';
import type { PluginClass } from './new-plugin.ts';

/**
 * A class that a plugin package adds to the server, decorated as what it is (`@AdmissionPlugin`, …). Packages bind any
 * number of them to the token, as constant values: the server makes the instance, with the configuration that is its own.
 */
export type Contribution = PluginClass<object>;
export const Contribution = Symbol.for('kubenest.Contribution');

/**
 * The default export of a package that has nothing else to bind. One whose classes share things binds these, too:
 *
 *     export default new ContainerModule(({ bind }) => {
 *       bind(Directory).toSelf().inSingletonScope();
 *       bind(Contribution).toConstantValue(RequireKnownOwner);
 *     });
 */
export function contribute(...classes: readonly Contribution[]): ContainerModule {
  return new ContainerModule(({ bind }) => {
    for (const type of classes) bind(Contribution).toConstantValue(type);
  });
}

/** What a class may be decorated as. */
export type ContributionKind = 'AdmissionPlugin' | 'AuthenticatorPlugin' | 'AuthorizerPlugin' | 'PostStartHookPlugin';

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

/** On the class itself, under a name that all copies of the SDK share. */
const description = Symbol.for('kubenest.contribution');

/** Decorates a class as a contribution. A class is one thing: the decorator that is applied last wins. */
export function describes(kind: ContributionKind, options: ContributionOptions): ClassDecorator {
  return (target) => {
    Object.defineProperty(target, description, { value: { kind, options } satisfies Described, configurable: true });
  };
}

/** What a class was decorated as; undefined for one that was not. */
export function describe(type: object): Described | undefined {
  return Object.hasOwn(type, description) ? (type as { [description]: Described })[description] : undefined;
}
