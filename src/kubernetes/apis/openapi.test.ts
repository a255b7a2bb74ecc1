import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { swaggerSchema } from '#apimachinery/openapi/swagger';
import { oneStep } from '#apimachinery/runtime/steps';
import { groupDocuments, OpenApiRegistry, rootDocuments } from '#apiserver/endpoints/openapi/openapi-registry';
import { ResourceConfig } from '#apiserver/server/resource-config';
import { groups } from '#kubernetes/apis/groups';
import { tables } from '#kubernetes/schema/schema';

/**
 * The first digits of the hashes of kube-apiserver v1.36.3's documents: as JSON, in the index of /openapi/v3, and as protobuf. They match
 * only if the documents are byte-identical.
 */
const hashes: Readonly<Record<string, readonly [json: string, protobuf: string]>> = {
  '.well-known/openid-configuration': ['2229F3F580F0094E', 'FCEEF8DD1F31AFCF'],
  api: ['09FC77387E701FAA', '22712DACDFC9BF52'],
  'api/v1': ['B6B6A956CCCED3FD', '98C1BA4C4C639585'],
  apis: ['E77BDE29C0C16A4B', '7C2419E869E20DCF'],
  'apis/admissionregistration.k8s.io': ['0AD442A156AF0ADA', '7FADE2982E7CB7B3'],
  'apis/admissionregistration.k8s.io/v1': ['673F7AAFC9AC0CCF', 'F6BF08D0426B0CB6'],
  'apis/apps': ['781221DEDA5795C4', 'FDF830887BB4D9EB'],
  'apis/apps/v1': ['E6837BF046F7D260', 'E7FCF5C979532A67'],
  'apis/authentication.k8s.io': ['8CE044975199E4F5', '2038017C10D55452'],
  'apis/authentication.k8s.io/v1': ['AEB8455EAF84DB1D', '4C9AD349DE12C5F9'],
  'apis/authorization.k8s.io': ['983A575C472BC9F9', '7882408CD9D00989'],
  'apis/authorization.k8s.io/v1': ['F74B50ED6CE9356C', 'D9502808BE278EB6'],
  'apis/autoscaling': ['B4822635F434AEC9', 'A446B4B68A8F0CE4'],
  'apis/autoscaling/v1': ['0234E812866E848F', 'D82AD5947700EE7F'],
  'apis/autoscaling/v2': ['D4ED7F37F5DD1FFA', '2A28438DE3CA4C31'],
  'apis/batch': ['4006C5318DA53DC3', 'B30913E6ECAA7B1A'],
  'apis/batch/v1': ['5664119A513C767E', '963391069EC14A6D'],
  'apis/certificates.k8s.io': ['D7416ED68A53F6AB', '36CE59B650F180E3'],
  'apis/certificates.k8s.io/v1': ['4A969F933C2FF13B', '07C67AA8DFDE7BE3'],
  'apis/coordination.k8s.io': ['9246BB555EAFD260', 'F7F5E99ACFA1C8F2'],
  'apis/coordination.k8s.io/v1': ['7A32931036A041A6', 'C80F5F4921A3F36C'],
  'apis/discovery.k8s.io': ['3A40A2F08DCF200E', '0E16AEF824518EA0'],
  'apis/discovery.k8s.io/v1': ['51233C00FB6F5A4C', '6E4BFECCA80E6E69'],
  'apis/events.k8s.io': ['D6F3D9DA4E050D89', '5F4C38456DA2382F'],
  'apis/events.k8s.io/v1': ['09A60AB2DCF9BBF0', '8D463908BC7CE2A3'],
  'apis/flowcontrol.apiserver.k8s.io': ['DB8B49AF48E78528', '2A3168DA329E719D'],
  'apis/flowcontrol.apiserver.k8s.io/v1': ['521D9553240B7BCA', '84BB662EEE22054A'],
  'apis/networking.k8s.io': ['633D94D761089FE1', 'E0BF2504131FBB10'],
  'apis/networking.k8s.io/v1': ['ADE0DC6AB67328D4', '28FDC698A401658B'],
  'apis/node.k8s.io': ['2258874AC7EA68C1', '51F335BCE00D2C72'],
  'apis/node.k8s.io/v1': ['924F228FEB243C80', '6A88F6203E0B1967'],
  'apis/policy': ['5EADFF975AB51A27', '4BD8BED580F2986D'],
  'apis/policy/v1': ['FFA6426B2D8DA630', '1D08594CCCD1E762'],
  'apis/rbac.authorization.k8s.io': ['425C732C50EF7D87', '50791F80C6C788D5'],
  'apis/rbac.authorization.k8s.io/v1': ['84397C7232498254', '127DAD26FABE99C5'],
  'apis/resource.k8s.io': ['CB0607F90DEEF760', '7E2051AA5AED1A46'],
  'apis/resource.k8s.io/v1': ['091C281072F39C85', '7F73C22196C1329B'],
  'apis/scheduling.k8s.io': ['5CF094DD460C8566', '6B6028E45AE9E40A'],
  'apis/scheduling.k8s.io/v1': ['15BA88624BFB0AE5', '9A12DB43EA124415'],
  'apis/storage.k8s.io': ['FE39B409D00A3F40', '766D19ED42E8DC1A'],
  'apis/storage.k8s.io/v1': ['F1C7D1D65D08656D', '6E314DC429D7A452'],
  'openid/v1/jwks': ['CBD756BEFDF9BD2B', '4B8E9252841A5082'],
  version: ['A7C72E0A0AAC295A', 'BB0634395A99FE51'],
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
      Object.fromEntries(Object.entries(hashes).map(([path, [hash]]) => [path, `/openapi/v3/${path}?hash=${hash}`])),
    );
  });

  it("version 3 as protobuf is identical to the real server's", async () => {
    const registry = builtIn();
    const found: Record<string, string> = {};
    for (const path of Object.keys(hashes)) {
      const hash = createHash('sha512');
      for (const piece of (await registry.documentProtobuf(path))?.pieces ?? []) hash.update(piece);
      found[path] = hash.digest('hex').slice(0, 16).toUpperCase();
    }
    expect(found).toEqual(Object.fromEntries(Object.entries(hashes).map(([path, [, hash]]) => [path, hash])));
    expect(await registry.documentProtobuf('apis/no.such.group/v1')).toBeUndefined();
    expect((await registry.documentProtobuf('apis/batch/v1'))?.etag).toBe((await registry.document('apis/batch/v1'))?.etag);
  });

  it('serves a document under its hash in the index', async () => {
    const document = await builtIn().document('apis/batch/v1');
    expect(document?.etag.slice(0, 16)).toBe(hashes['apis/batch/v1']?.[0]);
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

  it('version 2 does not escape HTML in descriptions, version 3 does', async () => {
    const registry = new OpenApiRegistry();
    const schemas = { 'com.example.v1.A': { type: 'object', description: '<a> & \\u003c' } };
    registry.set('custom', new Map([['apis/example.com/v1', () => oneStep(() => ({ info: {}, paths: {}, components: { schemas } }))]]));
    const text = async (answer: Promise<{ pieces: readonly Buffer[] } | undefined>) => String(Buffer.concat((await answer)?.pieces ?? []));
    expect(await text(registry.swaggerJson())).toContain(String.raw`"<a> & \\u003c"`);
    expect(await text(registry.document('apis/example.com/v1'))).toContain(String.raw`"\u003ca\u003e \u0026 \\u003c"`);
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
