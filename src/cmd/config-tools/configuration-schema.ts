import { ScopeConfiguration, PolicyConfiguration } from '#apiserver/plugins/policy/policy-configuration';
import type { Described } from '#apiserver/base/contribution';
import { flagProperties } from '#cmd/options/flag';
import { describeFlag, type FlagSpec, flagTable } from '#cmd/options/flag-table';
import type { FlagValue } from '#cmd/options/flag-value';
import { formatFlagValue } from '#cmd/options/flag-values';
import { PluginPackageOptions } from '#cmd/options/plugin-options';
import { defaultOptions } from '#cmd/options/read-server-options';
import { classSchema, numberRange, referenceSchema, type Schema } from './class-schema.ts';
import { labelSelectorSchema } from '#apiserver/plugins/policy/label-selector-schema';

/** A package as a configuration names it, with its contributions. */
export interface KnownPackage {
  readonly package: string;
  readonly contributions: readonly Described[];
}

/**
 * Returns the JSON Schema (draft 2020-12) of a file of kind ServerConfiguration: the options from the table of flags, and the packages from
 * their own configuration classes.
 */
export async function configurationSchema(packages: readonly KnownPackage[]): Promise<Schema> {
  const options = defaultOptions('kubenest serve');
  const flags = flagTable();
  const concerns = options.concerns().filter(([name, concern]) => name !== 'plugins' && flagProperties(concern).size > 0);
  const members = concerns.map(([name, concern]): [string, Schema] => [name, concernSchema(concern, flags)]);
  const { NodeShape } = await import('#plugins/nodes/options');
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'ServerConfiguration of kubenest',
    type: 'object',
    required: ['apiVersion', 'kind'],
    additionalProperties: false,
    properties: {
      apiVersion: { const: 'kubenest.dev/v1alpha1' },
      kind: { const: 'ServerConfiguration' },
      ...Object.fromEntries(
        members.map(([name, schema]) => [name, name === 'nodes' ? withShapes(schema, classSchema(NodeShape)) : schema]),
      ),
      plugins: { type: 'array', description: 'Packages of plugins.', items: packagesSchema(packages) },
    },
  };
}

function concernSchema(concern: object, flags: ReadonlyMap<string, FlagSpec>): Schema {
  const properties = [...flagProperties(concern)].map(([flag, property]): [string, Schema] => {
    const spec = flags.get(flag) as FlagSpec;
    const range = spec.type === 'int' ? numberRange(concern.constructor as new () => object, property) : {};
    const description = describeFlag(flag);
    const set = (concern as Readonly<Record<string, unknown>>)[property] as FlagValue;
    const shown = spec.defaultText ?? formatFlagValue(spec.type, set);
    const text = [description, `Flag --${flag}${shown === '' || shown === '[]' ? '' : `, default ${shown}`}.`].filter(Boolean).join(' ');
    return [property, { description: text, ...flagSchema(spec.type), ...range }];
  });
  return { type: 'object', additionalProperties: false, properties: Object.fromEntries(properties) };
}

/** Every option may also be written as the text of its flag, or as a reference to such a text. */
function flagSchema(type: string): Schema {
  const scalar = { type: ['string', 'number', 'boolean'] };
  switch (type) {
    case 'bool':
    case 'version':
      return { type: ['boolean', 'string'] };
    case 'int':
    case 'Level':
      return { type: ['integer', 'string'] };
    case 'float':
    case 'float32':
      return { type: ['number', 'string'] };
    case 'strings':
    case 'stringArray':
    case 'namedCertKey':
    case 'int32Slice':
      return { anyOf: [{ type: 'array', items: scalar }, scalar] };
    case 'mapStringString':
    case 'stringToString':
    case 'colonSeparatedMultimapStringString':
      return { anyOf: [{ type: 'object', additionalProperties: scalar }, { type: 'string' }] };
    default:
      return scalar;
  }
}

function withShapes(nodes: Schema, shape: Schema): Schema {
  const shapes = { type: 'array', description: 'Shapes of simulated nodes.', items: shape };
  const stages = { type: 'array', description: 'Stages of simulated pods.', items: { type: 'object' } };
  return { ...nodes, properties: { ...(nodes['properties'] as object), shapes, stages } };
}

/** Returns the schema of an item of `plugins`: known packages have the configurations and policies of their own contributions. */
function packagesSchema(packages: readonly KnownPackage[]): Schema {
  const any = classSchema(PluginPackageOptions);
  const own = packages.map(({ package: name, contributions }) => ({
    if: { required: ['package'], properties: { package: { const: name } } },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { properties: contributionsSchema(contributions) },
  }));
  const properties = {
    ...(any['properties'] as object),
    policies: { type: 'object', description: 'Policies of admission plugins by name.', additionalProperties: policySchema() },
  };
  return { ...any, properties, ...(own.length > 0 && { allOf: own }) };
}

function contributionsSchema(described: readonly Described[]): Schema {
  const configurations = described.map(
    ({ options: { name, configuration: Type } }): [string, Schema] | undefined => Type && [name, classSchema(Type)],
  );
  const names = described.map(({ options }) => options.name);
  const policies = described.filter(({ kind }) => kind === 'AdmissionPlugin').map(({ options }) => [options.name, policySchema()] as const);
  return {
    contributions: { items: { anyOf: [{ enum: names }, referenceSchema] } },
    configuration: { additionalProperties: false, properties: Object.fromEntries(configurations.filter((one) => one !== undefined)) },
    policies: { additionalProperties: false, properties: Object.fromEntries(policies) },
  };
}

const selector: Schema = { ...labelSelectorSchema, additionalProperties: false };

function policySchema(): Schema {
  const { properties, ...rest } = classSchema(PolicyConfiguration);
  const { exceptions, ...others } = properties as Readonly<Record<string, Schema>>;
  const items = exceptions?.['items'] as Schema;
  return {
    ...rest,
    properties: {
      ...others,
      scope: withSelectors(classSchema(ScopeConfiguration), ['namespaceSelector', 'objectSelector']),
      exceptions: { ...exceptions, items: withSelectors(items, ['objectSelector']) },
    },
  };
}

/** Details the label selectors, which their class has as plain objects. */
function withSelectors(schema: Schema, names: readonly string[]): Schema {
  return { ...schema, properties: { ...(schema['properties'] as object), ...Object.fromEntries(names.map((name) => [name, selector])) } };
}
