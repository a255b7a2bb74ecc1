import { execFile } from 'node:child_process';
import { relative, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Container, type ContainerModule } from 'inversify';
import { type ContributionKind, type Described, describe } from '#apiserver/base/contribution';
import { Contribution } from './contribute.ts';
import { defaultGuard } from './guard-admission.ts';
import { type LoadedContribution, makeContribution } from './loaded-contribution.ts';
import { isArchive, unpackArchive } from './package-archive.ts';
import { findPluginPackage, type PluginPackage } from './plugin-package.ts';
import { PluginLoadError, type PluginRequest } from './plugin-request.ts';
import { withPolicies } from './policy/with-policies.ts';
import { hasSchedules } from '#apiserver/controllers/schedules';
import { newPackageServices } from './package-services.ts';
import { type PluginOrigin, runnerOf } from './plugin-origin.ts';
import { ConfigurationError, readPluginConfiguration } from './read-configuration.ts';
import { placeOfImport } from './place-of-import.ts';
import { stackPlaces } from './stack-places.ts';
import { importOnly, type VerifiedFiles } from './verified-modules.ts';
import { TimeoutError, within } from './within.ts';

/**
 * Resolves packages from a folder and loads them. Throws a PluginLoadError with all problems of all packages, because a
 * security plugin must never be silently absent.
 */
export async function loadPlugins(requests: readonly PluginRequest[], folder: string): Promise<LoadedContribution[]> {
  const loaded: LoadedContribution[] = [];
  const problems: string[] = [];
  for (const [entry, request] of requests.entries()) {
    try {
      loaded.push(...(await load(request, folder)).map((contribution) => ({ ...contribution, entry })));
    } catch (error) {
      if (error instanceof PluginLoadError) {
        problems.push(...error.problems);
        continue;
      }
      const causes = error instanceof ConfigurationError ? error.problems : [(error as Error).message];
      problems.push(...causes.map((cause) => `plugin package ${request.package}: ${cause}`));
    }
  }
  if (problems.length > 0) throw new PluginLoadError(problems);
  return loaded;
}

async function load({ policies, ...request }: PluginRequest, folder: string): Promise<LoadedContribution[]> {
  const loaded = isArchive(request.package) ? await loadArchive(request, folder) : await loadContributions(request, folder);
  return policies ? withPolicies(loaded, policies) : loaded;
}

/** Unpacks an archive and loads its package. The integrity is that of the archive, which has been verified. */
async function loadArchive({ integrity, ...request }: PluginRequest, folder: string): Promise<LoadedContribution[]> {
  const unpacked = unpackArchive(request.package, folder, integrity);
  if (unpacked.verified) importOnly(unpacked.verified);
  const loaded = await loadContributions({ ...request, package: unpacked.folder }, folder, unpacked.verified);
  return loaded.map((contribution) => ({ ...contribution, origin: contribution.origin && { ...contribution.origin, integrity } }));
}

/** The code for worker threads is imported only if a package uses one. */
async function loadContributions(request: PluginRequest, folder: string, verified?: VerifiedFiles): Promise<LoadedContribution[]> {
  if (request.isolation === undefined) return loadPackage(request, folder);
  const { loadIsolated } = await import('./isolation/isolated-contributions.ts');
  return loadIsolated(request, folder, verified);
}

/** Returns the descriptions of a package's contributions, without creating them or reading a configuration. Rejects with an Error. */
export async function describePackage(name: string, folder: string): Promise<Described[]> {
  const found = findPluginPackage(isArchive(name) ? unpackArchive(name, folder, undefined).folder : name, folder);
  const { described } = await describeContributions(found, { package: name }, defaultGuard.startTimeoutMs);
  return described.map(({ description }) => description);
}

interface DescribedContribution {
  readonly contribution: Contribution;
  readonly description: Described;
  readonly origin: PluginOrigin;
}

async function describeContributions(
  found: PluginPackage,
  { integrity }: PluginRequest,
  timeoutMs: number,
): Promise<{ readonly modules: readonly ContainerModule[]; readonly described: readonly DescribedContribution[] }> {
  const imported = await Promise.all(found.modules.map((file) => importModule(found, file, timeoutMs)));
  const described = imported.flatMap(({ module, file }) =>
    contributedBy([module]).map((contribution) => {
      const description = describe(contribution);
      if (!description) throw new Error(`${file}: contributes ${nameOf(contribution)}, which is not decorated as a plugin`);
      return { contribution, description, origin: { package: found.name, folder: found.folder, file, version: found.version, integrity } };
    }),
  );
  return { modules: imported.map(({ module }) => module), described };
}

async function loadPackage(request: PluginRequest, folder: string): Promise<LoadedContribution[]> {
  const found = findPluginPackage(request.package, folder, request.integrity);
  const guard = { ...defaultGuard, ...request.guard };
  const { modules, described } = await describeContributions(found, request, guard.startTimeoutMs);
  const names = described.map(({ description }) => description.options.name);
  const { configuration = {}, contributions = names } = request;
  const unknown = [...contributions, ...Object.keys(configuration)].filter((name) => !names.includes(name));
  if (unknown.length > 0) throw new Error(`unknown contributions: ${unknown.join(', ')} (available: ${names.join(', ')})`);
  const container = shared(modules, { package: found.name });
  return described
    .filter(({ description }) => contributions.includes(description.options.name))
    .map(({ contribution, description, origin }) => {
      const { name } = description.options;
      const configured = (data: unknown): Pick<LoadedContribution, 'configuration' | 'make'> => {
        const settings = readPluginConfiguration(description.options, data);
        return {
          configuration: settings,
          make: (services, values) => {
            const made = (): object => makeContribution(container(services), contribution, name, { configuration: settings, values });
            return madeBy(found, origin, description, made);
          },
        };
      };
      return {
        described: description,
        origin,
        guard,
        ...configured(Object.hasOwn(configuration, name) ? configuration[name] : undefined),
        ...(description.kind === 'AdmissionPlugin' && { reconfigure: configured }),
      };
    });
}

function nameOf(contribution: Contribution): string {
  return (typeof contribution === 'function' && contribution.name) || 'a value';
}

/** Returns the container of a package, shared by all of its contributions and their dependencies. */
function shared(modules: readonly ContainerModule[], origin: PluginOrigin): (services: Container) => Container {
  let container: Container | undefined;
  return (services) => {
    container ??= containerOf(modules, newPackageServices(services, origin));
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

/** A module of a package, and its path relative to the package's folder. */
interface ImportedModule {
  readonly module: ContainerModule;
  readonly file: string;
}

async function importModule({ name, folder }: PluginPackage, path: string, timeoutMs: number): Promise<ImportedModule> {
  const file = path.slice(folder.length + 1);
  const origin = { package: name, file };
  let exported: { readonly default?: unknown };
  try {
    const importing = runnerOf(origin)(() => import(pathToFileURL(path).href) as Promise<typeof exported>);
    exported = await within(importing, timeoutMs);
  } catch (error) {
    if (error instanceof TimeoutError) throw new Error(`${file}: not loaded within ${timeoutMs} ms`);
    const { message, code } = error as NodeJS.ErrnoException;
    // Only `require` has this code; `import` has ERR_MODULE_NOT_FOUND.
    const hint = code === 'MODULE_NOT_FOUND' ? `: ${commonJsHint}` : '';
    const place =
      placeOf(error, folder) ??
      (error instanceof SyntaxError ? await placeOfSyntaxError(path, folder) : inFolder(await placeOfImport(error as Error), folder));
    throw new Error(`${place ?? file}: ${message.split('\n', 1)[0]}${hint}`, { cause: error });
  }
  const { default: module } = exported;
  if (isContainerModule(module)) return { module, file };
  throw new Error(`the default export of ${file} is not a ContainerModule${'module.exports' in exported ? `: ${commonJsHint}` : ''}`);
}

const commonJsHint = 'it is a CommonJS module; set "type": "module" in package.json and compile to ES modules';

/** Returns the place of a syntax error in a module, which the error itself does not contain. */
async function placeOfSyntaxError(path: string, folder: string): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  execFile(process.execPath, ['--check', path], (error, _, stderr) => {
    resolve(error ? placeOf({ stack: stderr }, folder) : undefined);
  });
  return promise;
}

function isContainerModule(module: unknown): module is ContainerModule {
  return typeof (module as { readonly load?: unknown } | null | undefined)?.load === 'function';
}

/** Returns `dist/index.js:3`, the first place in the folder that the stack of an error names; undefined if there is none. */
function placeOf(error: unknown, folder: string): string | undefined {
  const { stack } = (error ?? {}) as { readonly stack?: unknown };
  return inFolder(stackPlaces(typeof stack === 'string' ? stack : ''), folder);
}

/** Returns the first of the places that is in the folder of a package, relative to it. */
function inFolder(places: readonly { readonly file: string; readonly line: string | number }[], folder: string): string | undefined {
  const place = places.find(({ file }) => file.startsWith(folder + sep));
  return place && `${relative(folder, place.file)}:${place.line}`;
}

/** Methods of which a contribution needs at least one, by kind. */
const methods: Partial<Record<ContributionKind, readonly string[]>> = {
  AdmissionPlugin: ['admit', 'validate'],
  AuthenticatorPlugin: ['authenticate'],
  AuthorizerPlugin: ['authorize'],
  AuditBackendPlugin: ['process'],
  PostStartHookPlugin: ['run'],
  Controller: ['reconcile', 'run'], // or a schedule
};

/** Instantiates a contribution. Throws an error that names the package, the file and the line of the cause. */
function madeBy({ folder }: PluginPackage, origin: PluginOrigin, { kind, options }: Described, make: () => object): object {
  const prefix = (error: unknown): string => `plugin package ${origin.package}: ${placeOf(error, folder) ?? origin.file}`;
  let made: object;
  try {
    made = runnerOf(origin)(make);
  } catch (error) {
    if (error instanceof ConfigurationError) throw new ConfigurationError(error.problems.map((problem) => `${prefix(error)}: ${problem}`));
    const { cause = error, message } = error as Error;
    throw new ConfigurationError([`${prefix(cause)}: ${message}`], { cause });
  }
  const needed = methods[kind] ?? [];
  if (needed.length === 0 || needed.some((name) => typeof (made as Readonly<Record<string, unknown>>)[name] === 'function')) return made;
  if (kind === 'Controller' && hasSchedules(made)) return made;
  const names = needed.map((name) => `\`${name}\``).join(' or ');
  throw new ConfigurationError([`${prefix(undefined)}: plugin ${options.name} has no method ${names}`]);
}
