import { describe, expect, it } from 'vitest';
import { swaggerSchema } from '#apimachinery/openapi/swagger';
import { oneStep } from '#apimachinery/runtime/steps';
import { groupDocuments, OpenApiRegistry, rootDocuments } from '#apiserver/endpoints/openapi/openapi-registry';
import { ResourceConfig } from '#apiserver/server/resource-config';
import { groups } from '#kubernetes/apis/groups';
import { tables } from '#kubernetes/schema/schema';

/** The first digits of the hashes in /openapi/v3 of kube-apiserver v1.36.3, which match only if the documents are byte-identical. */
const hashes = {
  '.well-known/openid-configuration': '2229F3F580F0094E',
  api: '09FC77387E701FAA',
  'api/v1': 'B6B6A956CCCED3FD',
  apis: 'E77BDE29C0C16A4B',
  'apis/admissionregistration.k8s.io': '0AD442A156AF0ADA',
  'apis/admissionregistration.k8s.io/v1': '673F7AAFC9AC0CCF',
  'apis/apps': '781221DEDA5795C4',
  'apis/apps/v1': 'E6837BF046F7D260',
  'apis/authentication.k8s.io': '8CE044975199E4F5',
  'apis/authentication.k8s.io/v1': 'AEB8455EAF84DB1D',
  'apis/authorization.k8s.io': '983A575C472BC9F9',
  'apis/authorization.k8s.io/v1': 'F74B50ED6CE9356C',
  'apis/autoscaling': 'B4822635F434AEC9',
  'apis/autoscaling/v1': '0234E812866E848F',
  'apis/autoscaling/v2': 'D4ED7F37F5DD1FFA',
  'apis/batch': '4006C5318DA53DC3',
  'apis/batch/v1': '5664119A513C767E',
  'apis/certificates.k8s.io': 'D7416ED68A53F6AB',
  'apis/certificates.k8s.io/v1': '4A969F933C2FF13B',
  'apis/coordination.k8s.io': '9246BB555EAFD260',
  'apis/coordination.k8s.io/v1': '7A32931036A041A6',
  'apis/discovery.k8s.io': '3A40A2F08DCF200E',
  'apis/discovery.k8s.io/v1': '51233C00FB6F5A4C',
  'apis/events.k8s.io': 'D6F3D9DA4E050D89',
  'apis/events.k8s.io/v1': '09A60AB2DCF9BBF0',
  'apis/flowcontrol.apiserver.k8s.io': 'DB8B49AF48E78528',
  'apis/flowcontrol.apiserver.k8s.io/v1': '521D9553240B7BCA',
  'apis/networking.k8s.io': '633D94D761089FE1',
  'apis/networking.k8s.io/v1': 'ADE0DC6AB67328D4',
  'apis/node.k8s.io': '2258874AC7EA68C1',
  'apis/node.k8s.io/v1': '924F228FEB243C80',
  'apis/policy': '5EADFF975AB51A27',
  'apis/policy/v1': 'FFA6426B2D8DA630',
  'apis/rbac.authorization.k8s.io': '425C732C50EF7D87',
  'apis/rbac.authorization.k8s.io/v1': '84397C7232498254',
  'apis/resource.k8s.io': 'CB0607F90DEEF760',
  'apis/resource.k8s.io/v1': '091C281072F39C85',
  'apis/scheduling.k8s.io': '5CF094DD460C8566',
  'apis/scheduling.k8s.io/v1': '15BA88624BFB0AE5',
  'apis/storage.k8s.io': 'FE39B409D00A3F40',
  'apis/storage.k8s.io/v1': 'F1C7D1D65D08656D',
  'openid/v1/jwks': 'CBD756BEFDF9BD2B',
  version: 'A7C72E0A0AAC295A',
};

function builtIn(): OpenApiRegistry {
  const registry = new OpenApiRegistry();
  registry.set('root', rootDocuments(tables));
  registry.set('kubernetes', groupDocuments(new ResourceConfig().served(groups, { enabled: () => true }), tables));
  return registry;
}

const json = (answer: { pieces: readonly Buffer[] } | undefined) => JSON.parse(String(Buffer.concat(answer?.pieces ?? [])));

describe('OpenAPI of the built-in groups', () => {
  it("version 3 is identical to the real server's", async () => {
    const { paths } = json(await builtIn().index()) as { paths: Record<string, { serverRelativeURL: string }> };
    const found = Object.entries(paths).map(([path, { serverRelativeURL }]) => [
      path,
      serverRelativeURL.slice(0, `/openapi/v3/${path}?hash=`.length + 16),
    ]);
    expect(Object.fromEntries(found)).toEqual(
      Object.fromEntries(Object.entries(hashes).map(([path, hash]) => [path, `/openapi/v3/${path}?hash=${hash}`])),
    );
  });

  it('serves a document under its hash in the index', async () => {
    const document = await builtIn().document('apis/batch/v1');
    expect(document?.etag.slice(0, 16)).toBe(hashes['apis/batch/v1']);
    expect(await builtIn().document('apis/no.such.group/v1')).toBeUndefined();
  });

  it('keeps unchanged documents when a source changes', async () => {
    const registry = builtIn();
    const before = await registry.document('apis/batch/v1');
    const index = await registry.index();
    registry.set(
      'custom',
      new Map([['apis/example.com/v1', () => oneStep(() => ({ info: {}, paths: {}, components: { securitySchemes: {} } }))]]),
    );
    expect(await registry.document('apis/batch/v1')).toBe(before);
    expect((await registry.index()).etag).not.toBe(index.etag);
    registry.set('custom', new Map());
    expect((await registry.index()).etag).toBe(index.etag);
  });

  it('merges them into version 2', async () => {
    const swagger = json(await builtIn().swaggerJson());
    expect(Object.keys(swagger.parameters)).toContain('allowWatchBookmarks-HC2hJt-J');
    const { get, parameters } = swagger.paths['/apis/batch/v1/namespaces/{namespace}/jobs/{name}'];
    expect(get).toEqual({
      description: 'read the specified Job',
      consumes: ['*/*'],
      produces: ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf'],
      schemes: ['https'],
      tags: ['batch_v1'],
      operationId: 'readBatchV1NamespacedJob',
      responses: {
        200: { description: 'OK', schema: { $ref: '#/definitions/io.k8s.api.batch.v1.Job' } },
        401: { description: 'Unauthorized' },
      },
      'x-kubernetes-action': 'get',
      'x-kubernetes-group-version-kind': { group: 'batch', kind: 'Job', version: 'v1' },
    });
    expect(parameters).toEqual([
      { uniqueItems: true, type: 'string', description: 'name of the Job', name: 'name', in: 'path', required: true },
      { $ref: '#/parameters/namespace-vgWSWtn3' },
      { $ref: '#/parameters/pretty-tJGM1-ng' },
    ]);
    expect(swagger.definitions['io.k8s.apimachinery.pkg.api.resource.Quantity'].type).toBe('string');
    expect(swagger.definitions['io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions']['x-kubernetes-group-version-kind']).toHaveLength(60);
  });

  it('encodes version 2 as gnostic protobuf', async () => {
    const { pieces, etag } = await builtIn().swaggerProtobuf();
    const bytes = Buffer.concat(pieces);
    expect(bytes.subarray(0, 26).toString('latin1')).toBe('\n\x032.0\x12\x12\n\nKubernetes\x12\x041.36B');
    // Extensions and enums are YAML in the style of go-yaml.
    expect(bytes.includes('- discriminator: type\n  fields-to-discriminateBy:\n    localhostProfile: LocalhostProfile\n')).toBe(true);
    expect(bytes.includes("\x12\x04'*'\n")).toBe(true);
    expect(etag).toBe((await builtIn().swaggerJson()).etag);
  });
});

describe('swaggerSchema', () => {
  it.each([
    {
      name: 'a reference with siblings',
      schema: { description: 'd', default: {}, allOf: [{ $ref: '#/components/schemas/a' }] },
      want: { description: 'd', $ref: '#/definitions/a' },
    },
    {
      name: 'a property called default',
      schema: { type: 'object', properties: { default: { type: 'string', default: '' } } },
      want: { type: 'object', properties: { default: { type: 'string' } } },
    },
    { name: 'a keyword that version 2 lacks', schema: { type: 'string', nullable: true, anyOf: [{}], not: {} }, want: { type: 'string' } },
    {
      name: 'nested',
      schema: { type: 'array', items: { type: 'object', additionalProperties: { $ref: '#/components/schemas/a' } } },
      want: { type: 'array', items: { type: 'object', additionalProperties: { $ref: '#/definitions/a' } } },
    },
  ])('$name', ({ schema, want }) => {
    expect(swaggerSchema(schema)).toEqual(want);
  });

  it('accepts __proto__ as a name', () => {
    const schema = swaggerSchema({ properties: JSON.parse('{"__proto__":{"type":"string"}}') });
    expect(JSON.stringify(schema)).toBe('{"properties":{"__proto__":{"type":"string"}}}');
  });
});
