import { Container, type Newable } from 'inversify';
import type { PluginClass } from '#apiserver/base/contribution';
import { Configuration } from './configuration.ts';
import { ConfigurationError } from './read-configuration.ts';

/** Values that only one plugin can inject. */
export interface OwnBindings {
  readonly configuration?: object | undefined;
  /** Further values by injection token. */
  readonly values?: ReadonlyMap<symbol, object> | undefined;
}

/**
 * Instantiates a plugin in its own container, so that plugins do not see each other's bindings. Throws an error that names
 * the plugin if a dependency is missing, a ConfigurationError if its configuration is invalid.
 */
export function newPlugin<T extends object>(services: Container, name: string, Plugin: PluginClass<T>, own: OwnBindings = {}): T {
  const { configuration, values = [] } = own;
  const container = new Container({ parent: services });
  for (const [token, value] of values) container.bind(token).toConstantValue(value);
  if (configuration) container.bind(Configuration).toConstantValue(configuration);
  const type = Plugin as unknown as Newable<T>;
  container.bind(type).toSelf().inSingletonScope();
  try {
    return container.get(type) as T;
  } catch (cause) {
    if (cause instanceof ConfigurationError) throw new ConfigurationError(cause.problems.map((problem) => `plugin ${name}: ${problem}`));
    throw new Error(`plugin ${name}: ${(cause as Error).message.split('\n\n', 1)[0]}`, { cause });
  }
}
