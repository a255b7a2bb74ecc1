import { describe, expect, it } from 'vitest';
import type {
  CustomResourceDefinition,
  CustomResourceDefinitionSpec,
  CustomResourceDefinitionVersion,
} from '#apiextensions-apiserver/schema/apiextensions_v1.gen';
import { atOnce } from '#apimachinery/runtime/steps';
import type { JsonSchemaProps } from '#apimachinery/structural/json-schema-props';
import { validateDefinition, validateDefinitionUpdate } from './validation.ts';

/** Path of the only version's schema in messages. */
const root = 'spec.validation.openAPIV3Schema';
const text: JsonSchemaProps = { type: 'string' };

function version(openAPIV3Schema: JsonSchemaProps, more: Partial<CustomResourceDefinitionVersion> = {}): CustomResourceDefinitionVersion {
  return { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: openAPIV3Schema as never }, ...more };
}

function crd(spec: Partial<CustomResourceDefinitionSpec>, metadata: CustomResourceDefinition['metadata'] = {}): CustomResourceDefinition {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'widgets.test.dev', ...metadata },
    spec: {
      group: 'test.dev',
      scope: 'Namespaced',
      names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
      versions: [version({ type: 'object' })],
      conversion: { strategy: 'None' },
      ...spec,
    },
    status: { storedVersions: ['v1'] },
  };
}

const errorsOf = (definition: CustomResourceDefinition): string[] => atOnce(validateDefinition(definition)).map(String);
const inSchema = (properties: Record<string, JsonSchemaProps>): CustomResourceDefinition =>
  crd({ versions: [version({ type: 'object', properties })] });

describe('validateDefinition', () => {
  it('accepts a minimal definition', () => {
    expect(errorsOf(crd({}))).toEqual([]);
  });

  it.each(['type(self.port) == int', 'type(self.port) == string ? self.port == "a" : self.port == 1'])(
    'accepts a rule about type(self), with the size of self: %s',
    (rule) => {
      const spec: JsonSchemaProps = {
        type: 'object',
        properties: { port: { 'x-kubernetes-int-or-string': true } },
        'x-kubernetes-validations': [{ rule }],
      };
      expect(errorsOf(inSchema({ spec }))).toEqual([]);
    },
  );

  it.each<[schema: JsonSchemaProps, want: string]>([
    [{ type: 'array' }, `${root}.type: Invalid value: "array": only "object" is allowed as the type at the root`],
    [{ id: 'a', type: 'array' }, `${root}: Invalid value: {"ID":"a",`],
  ])('finds the first field that the root of a schema with a status cannot have: %j', (schema, want) => {
    const definition = crd({ versions: [version(schema, { subresources: { status: {} } })] });
    expect(errorsOf(definition)[0]).toContain(want);
  });

  it.each(['patternProperties', 'definitions'])('takes empty %s for none', (keyword) => {
    expect(errorsOf(inSchema({ spec: { type: 'object', [keyword]: {} } }))).toEqual([]);
  });

  it('yields between the nested schemas of a large schema', () => {
    const properties = Object.fromEntries(Array.from({ length: 100 }, (_, i): [string, JsonSchemaProps] => [`p${i}`, { type: 'string' }]));
    const steps = validateDefinition(inSchema({ spec: { type: 'object', properties } }));
    let count = 0;
    while (!steps.next().done) count += 1;
    expect(count).toBeGreaterThan(100);
  });

  const specs: [string, Partial<CustomResourceDefinitionSpec>, string[]][] = [
    ['a group without a dot', { group: 'dev' }, ['spec.group: Invalid value: "dev": should be a domain with at least one dot']],
    ['another scope', { scope: 'Galaxy' }, ['spec.scope: Unsupported value: "Galaxy": supported values: "Cluster", "Namespaced"']],
    [
      'a kind and a list kind of the same name',
      { names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'Widget' } },
      ['spec.names.listKind: Invalid value: "Widget": kind and listKind may not be the same'],
    ],
    [
      'two versions of the same name',
      { versions: [version({ type: 'object' }), version({ type: 'object' }, { storage: false })] },
      ['spec.versions: Invalid value', 'must contain unique version names'],
    ],
    [
      'two storage versions of the same name',
      { versions: [version({ type: 'object' }), version({ type: 'object' })] },
      ['status.storedVersions: Invalid value: ["v1"]: must have the storage version v1'],
    ],
    [
      'no storage version',
      { versions: [version({ type: 'object' }, { storage: false })] },
      ['spec.versions: Invalid value', 'must have exactly one version marked as storage version'],
    ],
    ['no versions', { versions: undefined as never }, ['spec.versions: Invalid value: null: must have exactly one version']],
    [
      'a warning with unprintable characters',
      { versions: [version({ type: 'object' }, { deprecated: true, deprecationWarning: '\0' })] },
      ['spec.versions[0].deprecationWarning: Invalid value: "\\u0000": must only contain printable UTF-8 characters'],
    ],
    [
      'no schema',
      { versions: [version({ type: 'object' }, { schema: undefined as never })] },
      ['spec.versions[0].schema.openAPIV3Schema: Required value'],
    ],
    [
      'a webhook without configuration',
      { conversion: { strategy: 'Webhook' } },
      ['spec.conversion.webhookClientConfig: Required value: required when strategy is set to Webhook'],
    ],
    [
      'a webhook with an http URL',
      { conversion: { strategy: 'Webhook', webhook: { conversionReviewVersions: ['v1'], clientConfig: { url: 'http://a.dev' } } } },
      ["'https' is the only allowed URL scheme"],
    ],
    [
      'unknown review versions',
      { conversion: { strategy: 'Webhook', webhook: { conversionReviewVersions: ['v9'], clientConfig: { url: 'https://a.dev' } } } },
      ['spec.conversion.conversionReviewVersions: Invalid value', 'must include at least one of v1, v1beta1'],
    ],
    [
      'a column without a path',
      { versions: [version({ type: 'object' }, { additionalPrinterColumns: [{ name: 'A', type: 'string', jsonPath: '' }] })] },
      ['spec.additionalPrinterColumns[0].JSONPath: Required value'],
    ],
    [
      'a scale path of the status',
      {
        versions: [
          version(
            { type: 'object' },
            { subresources: { scale: { specReplicasPath: '.status.a', statusReplicasPath: '.status.replicas' } } },
          ),
        ],
      },
      ['spec.subresources.scale.specReplicasPath: Invalid value: ".status.a": should be a json path under .spec'],
    ],
    [
      'a selectable field that is an object',
      { versions: [version({ type: 'object', properties: { spec: { type: 'object' } } }, { selectableFields: [{ jsonPath: '.spec' }] })] },
      ['spec.selectableFields[0].jsonPath: Invalid value: ".spec": must point to a field of type string, boolean or integer'],
    ],
  ];
  it.each(specs)('rejects %s', (_, spec, parts) => {
    const definition = crd(spec, spec.group === undefined ? {} : { name: `widgets.${spec.group}` });
    const errors = errorsOf(definition).join('\n');
    for (const part of parts) expect(errors).toContain(part);
  });

  const schemas: [string, Record<string, JsonSchemaProps>, string[]][] = [
    [
      'an unknown type',
      { a: { type: 'text' } },
      [
        `${root}.properties[a].type: Unsupported value: "text": supported values: "array", "boolean", "integer", "number", "object", "string"`,
      ],
    ],
    [
      'unique items',
      { a: { type: 'array', items: text, uniqueItems: true } },
      [`${root}.properties[a].uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic`],
    ],
    [
      'properties beside additionalProperties',
      { a: { type: 'object', properties: { b: text }, additionalProperties: text } },
      [`${root}.properties[a].additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive`],
    ],
    ['a list without items', { a: { type: 'array' } }, [`${root}.properties[a].items: Required value: must be specified`]],
    [
      'a map list without keys',
      { a: { type: 'array', 'x-kubernetes-list-type': 'map', items: { type: 'object', properties: { k: text } } } },
      [`${root}.properties[a].x-kubernetes-list-map-keys: Required value: must not be empty if x-kubernetes-list-type is map`],
    ],
    [
      'map list keys that are optional without a default',
      {
        a: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['k'],
          items: { type: 'object', properties: { k: text } },
        },
      },
      [
        `${root}.properties[a].items.properties[k].default: Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property`,
      ],
    ],
    [
      'a default of another type',
      { a: { ...text, default: 1 } },
      [`${root}.properties[a].default: Invalid value: "integer":  in body must be of type string: "integer"`],
    ],
    [
      'a malformed pattern',
      { a: { ...text, pattern: '(' } },
      [
        `${root}.properties[a].pattern: Invalid value: "(": must be a valid regular expression, but isn't: error parsing regexp: missing closing ): \`(\``,
      ],
    ],
    [
      'a rule that does not compile',
      { a: { ...text, 'x-kubernetes-validations': [{ rule: 'self +' }] } },
      [
        `${root}.properties[a].x-kubernetes-validations[0].rule: Invalid value: {"Rule":"self +","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}: compilation failed: ERROR: <input>:1:7: Syntax error`,
      ],
    ],
    [
      'a rule that is not a boolean',
      { a: { ...text, 'x-kubernetes-validations': [{ rule: 'self' }] } },
      [
        `${root}.properties[a].x-kubernetes-validations[0].rule: Invalid value: {"Rule":"self","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}: cel expression must evaluate to a bool`,
      ],
    ],
    [
      'a rule that can cost too much',
      { a: { type: 'array', items: text, 'x-kubernetes-validations': [{ rule: 'self.all(a, self.all(b, a != b))' }] } },
      [`${root}.properties[a].x-kubernetes-validations[0].rule: Forbidden: estimated rule cost exceeds budget by factor of more than 100x`],
    ],
    [
      'a rule on the result of a call, whose parts have the size of self',
      {
        a: {
          type: 'object',
          properties: { b: text },
          'x-kubernetes-validations': [{ rule: 'self.b.split("").all(c, self.b.contains(c))' }],
        },
      },
      [`${root}.properties[a].x-kubernetes-validations[0].rule: Forbidden: estimated rule cost exceeds budget by factor of 2.0x`],
    ],
    [
      'a transition rule in a plain list',
      { a: { type: 'array', maxItems: 2, items: { ...text, maxLength: 5, 'x-kubernetes-validations': [{ rule: 'self == oldSelf' }] } } },
      [
        `${root}.properties[a].items.x-kubernetes-validations[0].rule: Invalid value: "self == oldSelf": oldSelf cannot be used on the uncorrelatable portion of the schema within ${root}.properties[a]`,
      ],
    ],
  ];
  it.each(schemas)('rejects a schema with %s', (_, properties, errors) => {
    const found = errorsOf(inSchema(properties));
    for (const error of errors) expect(found.join('\n')).toContain(error);
  });
});

describe('validateDefinitionUpdate', () => {
  const established = (spec: Partial<CustomResourceDefinitionSpec>): CustomResourceDefinition => ({
    ...crd(spec),
    metadata: { name: 'widgets.test.dev', resourceVersion: '1' },
    status: { storedVersions: ['v1'], conditions: [{ type: 'Established', status: 'True' }] },
  });
  const changes: [string, Partial<CustomResourceDefinitionSpec>, string[]][] = [
    ['nothing', {}, []],
    ['the scope', { scope: 'Cluster' }, ['spec.scope']],
    ['the kind', { names: { plural: 'widgets', singular: 'widget', kind: 'Gadget', listKind: 'WidgetList' } }, ['spec.names.kind']],
    ['short names', { names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList', shortNames: ['w'] } }, []],
    [
      'the removal of a stored version',
      { versions: [version({ type: 'object' }, { name: 'v2' })] },
      ['status.storedVersions[0]', 'status.storedVersions'],
    ],
  ];
  it.each(changes)('rejects %s', (_, change, fields) => {
    const errors = atOnce(validateDefinitionUpdate(established(change), established({})));
    expect(errors.map(({ field }) => field).sort()).toEqual(fields.sort());
  });

  it('accepts an unchanged unknown type', () => {
    const bad = inSchema({ a: { type: 'text' } });
    expect(errorsOf(bad)).toHaveLength(1);
    expect(atOnce(validateDefinitionUpdate(bad, bad))).toEqual([]);
  });
});
