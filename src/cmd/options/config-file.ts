import { dirname, resolve } from 'node:path';
import { readText, UnreadableFileError } from '#apiserver/base/system-error';
import { parseYaml } from '#cmd/config/parse-yaml';
import type { PluginPolicy } from '#apiserver/plugins/policy/plugin-policy';
import { ConfigurationError, readConfiguration } from '#apiserver/plugins/read-configuration';
import type { FlagSpec } from './flag-table.ts';
import { type FlagValue, parseFlagValue } from './flag-value.ts';
import { flagProperties } from './flag.ts';
import { nearestName } from './nearest-name.ts';
import type { NodeOptions } from './node-options.ts';
import { type PluginOptions, PluginPackageOptions } from './plugin-options.ts';
import { resolveReferences } from './references.ts';
import type { ServerOptions } from './server-options.ts';

const apiVersion = 'kubenest.dev/v1alpha1';
const kind = 'ServerConfiguration';

/**
 * Sets the options of a file of kind ServerConfiguration and returns the problems. The members of the file are the option groups; their
 * members are the options by property name. Values are written as for flags or as YAML values, and may have references
 * (`resolveReferences`).
 *
 *     apiVersion: kubenest.dev/v1alpha1
 *     kind: ServerConfiguration
 *     serving: { securePort: 7443 }
 *     requests: { requestTimeout: 30s, corsAllowedOrigins: ['//localhost(:[0-9]+)?$'] }
 *     plugins:
 *       - package: '@example/required-labels'
 *         configuration: { RequiredLabels: { labels: [team] } }
 */
export async function readConfigFile(file: string, options: ServerOptions, flags: ReadonlyMap<string, FlagSpec>): Promise<string[]> {
  let document: unknown;
  try {
    document = parseYaml(await readText(file));
  } catch (error) {
    const place = error instanceof UnreadableFileError ? '--config' : `--config ${file}`;
    return [`${place}: ${(error as Error).message}`];
  }
  const at = (place: string): string => `--config ${file}: ${place}`;
  if (!isObject(document) || document['kind'] !== kind || document['apiVersion'] !== apiVersion) {
    return [at(`must be of kind ${kind}, apiVersion ${apiVersion}`)];
  }
  const { value, problems, members: references, files } = await resolveReferences(document, dirname(resolve(file)));
  options.plugins.referencedFiles = files;
  const { plugins = [], ...rest } = value as Record<string, unknown>;
  const { shapes, stages } = isObject(rest['nodes']) ? rest['nodes'] : {};
  for (const member of ['shapes', 'stages']) if (isObject(rest['nodes'])) rest['nodes'] = without(rest['nodes'], member);
  const concerns = new Map(options.concerns().filter(([name]) => name !== 'plugins'));
  const ofConcerns = Object.entries(rest)
    .filter(([name]) => name !== 'kind' && name !== 'apiVersion')
    .flatMap(([name, members]) => {
      const concern = concerns.get(name);
      if (!concern) return at(unknown(name, concerns.keys()));
      if (!isObject(members)) return at(`${name} must be an object`);
      const names = new Map([...flagProperties(concern)].map(([flag, property]) => [property, flag]));
      return Object.entries(members).flatMap(([property, value]) => {
        const flag = names.get(property);
        if (flag === undefined) return at(`${name}.${unknown(property, names.keys())}`);
        try {
          (concern as Record<string, unknown>)[property] = settingOf((flags.get(flag) as FlagSpec).type, value);
          options.markGiven(flag);
          if (hasReference(`${name}.${property}`, references)) options.markSecret(flag);
          return [];
        } catch (error) {
          return at(`${name}.${property}: ${(error as Error).message}`);
        }
      });
    });
  return [
    ...problems.map(at),
    ...ofConcerns,
    ...(await readShapes(shapes, options.nodes)).map(at),
    ...(await readStages(stages, options.nodes)).map(at),
    ...(await readPlugins(plugins, resolve(file), options.plugins)).map(at),
  ];
}

/** Reads the shapes of simulated nodes and returns the problems. */
async function readShapes(list: unknown, options: NodeOptions): Promise<readonly string[]> {
  if (list === undefined) return [];
  if (!Array.isArray(list)) return ['nodes.shapes must be a list'];
  const { NodeShape } = await import('#plugins/nodes/options');
  return problemsIn(() => {
    options.shapes = list.map((item, i) => readConfiguration(NodeShape, item, `nodes.shapes[${i}]`));
  });
}

/** Reads the stages of simulated pods and returns the problems. */
async function readStages(list: unknown, options: NodeOptions): Promise<readonly string[]> {
  if (list === undefined) return [];
  if (!Array.isArray(list) || !list.every(isObject)) return ['nodes.stages must be a list of objects'];
  const { compileStage, StageError } = await import('#plugins/nodes/stages/stage');
  options.stages = list;
  return list.flatMap((stage, i) => {
    try {
      compileStage(stage);
      return [];
    } catch (error) {
      if (error instanceof StageError) return [`nodes.stages[${i}]: ${error.message}`];
      throw error;
    }
  });
}

/** Selects the packages of a `plugins` list in a file of that absolute path, and returns the problems. */
export async function readPlugins(list: unknown, file: string, options: PluginOptions): Promise<readonly string[]> {
  if (!Array.isArray(list)) return ['plugins must be a list'];
  const problems = problemsIn(() => {
    options.packages = list.map((item, i) => readConfiguration(PluginPackageOptions, item, `plugins[${i}]`));
    options.folder = dirname(file);
    options.file = file;
  });
  return problems.length > 0 ? problems : readPolicies(options);
}

/** Compiles the policies of all packages and returns the problems. The compiler is imported only if there are policies. */
async function readPolicies(options: PluginOptions): Promise<readonly string[]> {
  if (options.packages.every(({ policies }) => policies === undefined)) return [];
  const { readPolicy } = await import('#apiserver/plugins/policy/plugin-policy');
  const problems: string[] = [];
  options.policies = options.packages.map(({ policies = {} }, i) => {
    const compiled = new Map<string, PluginPolicy>();
    for (const [name, policy] of Object.entries(policies))
      problems.push(...problemsIn(() => compiled.set(name, readPolicy(policy, `plugins[${i}].policies.${name}`))));
    return compiled;
  });
  return problems;
}

/** True if a member or a value in it has a reference. */
function hasReference(member: string, references: ReadonlySet<string>): boolean {
  return [...references].some((place) => place === member || place.startsWith(`${member}.`) || place.startsWith(`${member}[`));
}

function problemsIn(read: () => unknown): readonly string[] {
  try {
    read();
    return [];
  } catch (error) {
    if (error instanceof ConfigurationError) return error.problems;
    throw error;
  }
}

/** Converts a YAML value to the value of a flag of this type, by way of its command-line text. */
function settingOf(type: string, value: unknown): FlagValue {
  if (Array.isArray(value)) {
    if (!value.every(isScalar)) throw new Error('must be a list of plain values');
    const list = value.map(String);
    if (type !== 'strings' && type !== 'stringArray' && type !== 'namedCertKey' && type !== 'int32Slice')
      throw new Error('must be one value, not a list');
    return list;
  }
  if (isObject(value)) {
    if (type !== 'mapStringString' && type !== 'stringToString' && type !== 'colonSeparatedMultimapStringString')
      throw new Error('must be one value, not an object');
    return new Map(Object.entries(value).map(([key, item]) => [key, String(item)]));
  }
  if (!isScalar(value)) throw new Error('must have a value');
  return parseFlagValue(type, [String(value)]);
}

function without(object: Record<string, unknown>, member: string): Record<string, unknown> {
  const { [member]: _, ...rest } = object;
  return rest;
}

function unknown(name: string, names: Iterable<string>): string {
  const nearest = nearestName(name, names);
  return `${name} is unknown${nearest === undefined ? '' : `; did you mean ${nearest}?`}`;
}

function isScalar(value: unknown): value is string | number | boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
