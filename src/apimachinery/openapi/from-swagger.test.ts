import { describe, expect, it } from 'vitest';
import { fromSwagger } from './from-swagger.ts';

const reference = (name: string) => ({ $ref: `#/definitions/${name}` });
const operation = {
  description: 'create',
  consumes: ['*/*'],
  produces: ['application/json'],
  schemes: ['https'],
  operationId: 'create',
  parameters: [
    { name: 'body', in: 'body', required: true, schema: reference('Thing') },
    { uniqueItems: true, type: 'string', name: 'dryRun', in: 'query' },
    { $ref: '#/parameters/pretty-x' },
  ],
  responses: { 200: { description: 'OK', schema: reference('Thing') }, 401: { description: 'Unauthorized' } },
};
const swagger = {
  swagger: '2.0',
  info: { title: 'things' },
  paths: { '/apis/a.io/v1/things': { post: operation }, '/apis/': { get: { responses: { 200: { schema: reference('Groups') } } } } },
  definitions: {
    Thing: { type: 'object', properties: { part: { description: 'd', ...reference('Part') }, ['__proto__']: { type: 'string' } } },
    Part: { additionalProperties: reference('Thing'), items: { type: 'string' } },
    Groups: { type: 'object' },
  },
  parameters: { 'pretty-x': { name: 'pretty', in: 'query' }, other: { name: 'other', in: 'query' } },
  securityDefinitions: { BearerToken: { type: 'apiKey', description: 'd', name: 'authorization', in: 'header' } },
};

describe('an OpenAPI 2.0 document', () => {
  const document = fromSwagger(swagger, '/apis/a.io/v1/');

  it('converts to 3.0', () => {
    const thing = { schema: { $ref: '#/components/schemas/Thing' } };
    expect(document.paths['/apis/a.io/v1/things']).toEqual({
      post: {
        description: 'create',
        operationId: 'create',
        parameters: [
          { name: 'dryRun', in: 'query', schema: { type: 'string', uniqueItems: true } },
          { $ref: '#/components/parameters/pretty-x' },
        ],
        requestBody: { content: { '*/*': thing } },
        responses: { 200: { description: 'OK', content: { 'application/json': thing } }, 401: { description: 'Unauthorized' } },
      },
    });
    expect(JSON.parse(JSON.stringify(document.components))).toEqual({
      schemas: {
        Thing: {
          type: 'object',
          properties: {
            part: { description: 'd', allOf: [{ $ref: '#/components/schemas/Part' }] },
            ['__proto__']: { type: 'string' },
          },
        },
        Part: { additionalProperties: { $ref: '#/components/schemas/Thing' }, items: { type: 'string' } },
        Groups: { type: 'object' },
      },
      securitySchemes: swagger.securityDefinitions,
    });
  });

  it('contributes the paths of its group version, and their references, to the merged document', () => {
    expect(document.swagger).toEqual({
      info: swagger.info,
      paths: { '/apis/a.io/v1/things': { post: operation } },
      definitions: { Thing: swagger.definitions.Thing, Part: swagger.definitions.Part },
      parameters: { 'pretty-x': swagger.parameters['pretty-x'] },
      securityDefinitions: swagger.securityDefinitions,
    });
  });

  it('is rejected if malformed', () => {
    expect(() => fromSwagger({ paths: { '/a': { get: { responses: null } } } }, '/')).toThrow(TypeError);
  });
});
