import { ContainerModule } from 'inversify';
import type { ContributedValue, PluginClass } from '#apiserver/base/contribution';

/**
 * A contribution of a plugin package: a class with the decorator of its kind (`@AdmissionPlugin`, …), or a complete value
 * (`apiGroup`). A package binds any number of them to the token, as constant values; the server instantiates classes with their
 * own configuration.
 */
export type Contribution = PluginClass<object> | ContributedValue;
export const Contribution = Symbol.for('kubenest.Contribution');

/**
 * Returns the default export of a package that has no other bindings. A package whose classes share dependencies binds them too:
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
