import { pathToFileURL } from 'node:url';
import { Container, type ContainerModule } from 'inversify';
import { type Described, describe } from '#apiserver/base/contribution';
import { Contribution } from './contribute.ts';
import { defaultGuard, type PluginGuard } from './guard-admission.ts';
import { type LoadedContribution, makeContribution } from './loaded-contribution.ts';
import { findPluginPackage, type PluginPackage } from './plugin-package.ts';
import { ConfigurationError, readConfiguration } from './read-configuration.ts';

/** A plugin package in a ServerConfiguration. */
export interface PluginRequest {
  /** Package name, or the path of its folder (`./plugins/labels`). */
  readonly package: string;
  readonly integrity?: string | undefined;
  /** Names of the contributions to load; undefined: all. */
  readonly contributions?: readonly string[] | undefined;
  /** Configurations by contribution name. */
  readonly configuration?: Readonly<Record<string, unknown>> | undefined;
  /** Failure handling of its admission plugins; `defaultGuard` applies to omitted members. */
  readonly guard?: Partial<PluginGuard> | undefined;
}

/** All problems that prevented packages from loading, one sentence each. */
export class PluginLoadError extends Error {
  constructor(readonly problems: readonly string[]) {
    super(problems.join('\n'));
    this.name = 'PluginLoadError';
  }
}

/**
 * Resolves packages from a folder and loads them. Throws a PluginLoadError with all problems of all packages, because a
 * security plugin must never be silently absent.
 */
export async function loadPlugins(requests: readonly PluginRequest[], folder: string): Promise<LoadedContribution[]> {
  const loaded: LoadedContribution[] = [];
  const problems: string[] = [];
  for (const request of requests) {
    try {
      loaded.push(...(await loadPackage(request, folder)));
    } catch (error) {
      const causes = error instanceof ConfigurationError ? error.problems : [(error as Error).message];
      problems.push(...causes.map((cause) => `plugin package ${request.package}: ${cause}`));
    }
  }
  if (problems.length > 0) throw new PluginLoadError(problems);
  return loaded;
}

async function loadPackage(request: PluginRequest, folder: string): Promise<LoadedContribution[]> {
  const found = findPluginPackage(request.package, folder, request.integrity);
  const modules = await Promise.all(found.modules.map((file) => importModule(found, file)));
  const described = contributedBy(modules).map((contribution) => {
    const description = describe(contribution);
    if (!description) throw new Error(`contributes ${nameOf(contribution)}, which is not decorated as a plugin`);
    return { contribution, description };
  });
  const names = described.map(({ description }) => description.options.name);
  const { configuration = {}, contributions = names } = request;
  const unknown = [...contributions, ...Object.keys(configuration)].filter((name) => !names.includes(name));
  if (unknown.length > 0) throw new Error(`unknown contributions: ${unknown.join(', ')} (available: ${names.join(', ')})`);
  const container = shared(modules);
  const guard = { ...defaultGuard, ...request.guard };
  return described
    .filter(({ description }) => contributions.includes(description.options.name))
    .map(({ contribution, description }) => {
      const { name } = description.options;
      const settings = configurationOf(description, Object.hasOwn(configuration, name) ? configuration[name] : undefined);
      return {
        described: description,
        package: found.name,
        guard,
        configuration: settings,
        make: (services) => makeContribution(container(services), contribution, name, settings),
      };
    });
}

function nameOf(contribution: Contribution): string {
  return (typeof contribution === 'function' && contribution.name) || 'a value';
}

function configurationOf({ options: { name, configuration: Type } }: Described, data: unknown): object | undefined {
  if (Type) return readConfiguration(Type, data ?? {}, name);
  if (data !== undefined) throw new ConfigurationError([`${name} takes no configuration`]);
  return undefined;
}

/** Returns the container of a package, shared by all of its contributions and their dependencies. */
function shared(modules: readonly ContainerModule[]): (services: Container) => Container {
  let container: Container | undefined;
  return (services) => {
    container ??= containerOf(modules, services);
    return container;
  };
}

function containerOf(modules: readonly ContainerModule[], parent?: Container): Container {
  const container = new Container(parent && { parent });
  for (const module of modules) container.load(module);
  return container;
}

function contributedBy(modules: readonly ContainerModule[]): Contribution[] {
  const container = containerOf(modules);
  return container.isBound(Contribution) ? container.getAll<Contribution>(Contribution) : [];
}

async function importModule({ folder }: PluginPackage, file: string): Promise<ContainerModule> {
  const { default: module } = (await import(pathToFileURL(file).href)) as { readonly default?: unknown };
  const { load } = (module ?? {}) as { readonly load?: unknown };
  if (typeof load !== 'function') throw new Error(`the default export of ${file.slice(folder.length + 1)} is not a ContainerModule`);
  return module as ContainerModule;
}
