import { ContainerModule } from 'inversify';
import type { ContributedValue, PluginClass } from '#apiserver/base/contribution';

/**
 * What a plugin package adds to the server: a class that is decorated as what it is (`@AdmissionPlugin`, …), or a value that
 * says all that there is to know (`apiGroup`). Packages bind any number of them to the token, as constant values: of classes
 * the server makes the instance, with the configuration that is its own.
 */
export type Contribution = PluginClass<object> | ContributedValue;
export const Contribution = Symbol.for('kubenest.Contribution');

/**
 * The default export of a package that has nothing else to bind. One whose classes share things binds these, too:
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
