import { dirname, resolve } from 'node:path';
import { readText, UnreadableFileError } from '#apiserver/base/system-error';
import { parseYaml } from './parse-yaml.ts';
import { admissionPluginOptions } from '#apiserver/admission/admission-plugin';
import type { AdmissionPluginClass } from '#apiserver/admission/attributes';
import { ConfigurationError, readConfiguration } from '#apiserver/plugins/read-configuration';
import type { FeatureGates } from '#apiserver/base/feature-gates';

const kinds = ['apiserver.config.k8s.io/v1, AdmissionConfiguration', 'apiserver.k8s.io/v1alpha1, AdmissionConfiguration'];
/** Plugins that are older than AdmissionConfiguration: a file may contain only the configuration of one of them. */
const unversioned = ['ImagePolicyWebhook', 'PodNodeSelector'];

type Fields = Readonly<Record<string, unknown>>;
/** Optional static members of a configuration class. */
interface ConfigurationClass {
  new (): object;
  /** Accepted kinds of the document, as `group/version, Kind`; undefined: the document declares no kind. */
  readonly kinds?: readonly string[];
}
/** A configuration document, and its name in messages. */
interface Found {
  readonly document: unknown;
  readonly place: string;
}
interface Loadable {
  /** Reads the files that the configuration names. */
  load?(features: FeatureGates): Promise<void>;
}

/**
 * Reads the configurations of plugins, by plugin name, from a file of kind AdmissionConfiguration. Each configuration is inline or in a
 * separate file whose path is relative to that file. Rejects with a ConfigurationError that contains all problems.
 *
 *     apiVersion: apiserver.config.k8s.io/v1
 *     kind: AdmissionConfiguration
 *     plugins:
 *     - name: PodSecurity
 *       configuration: { apiVersion: pod-security.admission.config.k8s.io/v1, kind: PodSecurityConfiguration, defaults: { enforce: baseline } }
 *     - name: EventRateLimit
 *       path: event-rate-limit.yaml
 *
 * Upstream: apiserver/pkg/admission/config.go.
 */
export async function readAdmissionConfiguration(
  file: string,
  plugins: ReadonlyMap<string, AdmissionPluginClass>,
  features: FeatureGates,
): Promise<Map<string, object>> {
  const problems: string[] = [];
  const configurations = new Map<string, object>();
  const document = await readDocument(file);
  for (const [place, entry] of entriesOf(document, file)) {
    try {
      const name = nameOf(entry, place, plugins, configurations);
      const found = await documentOf(entry, place, file);
      const Plugin = plugins.get(name) as AdmissionPluginClass;
      if (found) configurations.set(name, await configurationOf(Plugin, found, features));
    } catch (error) {
      problems.push(...(error instanceof ConfigurationError ? error.problems : [(error as Error).message]));
    }
  }
  if (problems.length > 0) throw new ConfigurationError(problems);
  return configurations;
}

function* entriesOf(document: Fields, file: string): Iterable<[place: string, entry: Fields]> {
  if (document['kind'] === undefined && document['apiVersion'] === undefined) {
    const name = unversioned.find((plugin) => (plugin === 'PodNodeSelector') === 'podNodeSelectorPluginConfig' in document);
    if (name) yield [file, { name, configuration: document }];
    return;
  }
  checkKind(document, kinds, file);
  const { plugins = [] } = document;
  if (!Array.isArray(plugins)) throw new ConfigurationError([`${file}: plugins must be a list`]);
  for (const [at, entry] of (plugins as unknown[]).entries()) {
    const place = `${file}: plugins[${at}]`;
    if (!isObject(entry)) throw new ConfigurationError([`${place} must be an object`]);
    const strangers = Object.keys(entry).filter((key) => key !== 'name' && key !== 'path' && key !== 'configuration');
    if (strangers.length > 0) throw new ConfigurationError(strangers.map((key) => `${place}.${key} is unknown`));
    yield [place, entry];
  }
}

function nameOf(
  { name }: Fields,
  place: string,
  plugins: ReadonlyMap<string, AdmissionPluginClass>,
  configurations: ReadonlyMap<string, object>,
): string {
  if (typeof name !== 'string' || !plugins.has(name)) throw new Error(`${place}.name: unknown admission plugin ${JSON.stringify(name)}`);
  if (configurations.has(name)) throw new Error(`${place}.name: ${name} is configured twice`);
  return name;
}

/** Returns the document of a plugin; undefined for a plugin without a configuration. */
async function documentOf({ path, configuration }: Fields, place: string, file: string): Promise<Found | undefined> {
  if (configuration !== undefined && configuration !== null) return { document: configuration, place: `${place}.configuration` };
  if (path === undefined || path === '') return undefined;
  if (typeof path !== 'string') throw new Error(`${place}.path must be a string`);
  const absolute = resolve(dirname(file), path);
  return { document: await readDocument(absolute), place: absolute };
}

async function configurationOf(Plugin: AdmissionPluginClass, { document, place }: Found, features: FeatureGates): Promise<object> {
  const { name, configuration } = admissionPluginOptions(Plugin);
  const Type = configuration as ConfigurationClass | undefined;
  if (!Type) throw new Error(`${place}: ${name} takes no configuration`);
  if (!isObject(document)) throw new Error(`${place} must be an object`);
  if (Type.kinds) checkKind(document, Type.kinds, place);
  const { apiVersion: _, kind: __, ...members } = document;
  const instance = readConfiguration(Type, Type.kinds ? members : document, place);
  try {
    await (instance as Loadable).load?.(features);
  } catch (error) {
    throw new Error(`${place}: ${(error as Error).message}`, { cause: error });
  }
  return instance;
}

function checkKind({ apiVersion, kind }: Fields, known: readonly string[], place: string): void {
  if (!known.includes(`${String(apiVersion)}, ${String(kind)}`))
    throw new ConfigurationError([
      `${place}: no kind ${JSON.stringify(kind ?? '')} is registered for version ${JSON.stringify(apiVersion ?? '')}; it must be ${known[0]}`,
    ]);
}

async function readDocument(file: string): Promise<Fields> {
  let document: unknown;
  try {
    document = parseYaml(await readText(file));
  } catch (error) {
    const { message } = error as Error;
    throw new ConfigurationError([error instanceof UnreadableFileError ? message : `${file}: ${message}`]);
  }
  if (!isObject(document)) throw new ConfigurationError([`${file} must be an object`]);
  return document;
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
