import { newBadRequest, newConflict } from '#apimachinery/api/errors';
import type { KubeObject } from '#apimachinery/meta/types';
import { groupVersionString } from '#apimachinery/meta/types';
import { deepCopy } from '#apimachinery/runtime/copy';
import { DecodeError } from '#apimachinery/runtime/json';
import { parseYaml } from '#apimachinery/runtime/yaml';
import type { RequestContext } from '#apiserver/endpoints/request/request-context';
import type { Stored } from '#apiserver/registry/store';
import type { WriteQuery } from './query-options.ts';
import type { ResourceEndpoint } from './resource-endpoint.ts';
import { ensureNameMatches, ensureNamespaceMatches, newWriteRequest } from './write-request.ts';

/** Server-side apply of a YAML body; creates what is missing. Upstream: endpoints/handlers/patch.go (applyPatcher). */
export async function applyObject(context: RequestContext, endpoint: ResourceEndpoint, body: Buffer, options: WriteQuery): Promise<Stored> {
  const { namespace, name } = context.info;
  const readApplied = appliedReader(context, endpoint, body, options);
  const request = newWriteRequest(context, endpoint, options, body.length);
  return endpoint.store.update(
    request,
    name,
    async (existing, inParts) => {
      const live = existing ?? newEmptyObject(endpoint, namespace, name);
      const liveVersioned = endpoint.conversion && existing ? endpoint.conversion.fromStorage(live) : live;
      const merged = endpoint.fieldManager.apply(liveVersioned, readApplied(), options.fieldManager, options.force ?? false);
      const next = deepCopy(merged ?? liveVersioned);
      if (!existing && next.metadata.uid) {
        throw newConflict(
          endpoint.store.groupResource,
          name,
          `uid mismatch: the provided object specified uid ${next.metadata.uid}, and no existing object was found`,
        );
      }
      endpoint.definition.defaults?.(next);
      ensureNamespaceMatches(endpoint, namespace, next);
      ensureNameMatches(name, next);
      const object = endpoint.conversion ? endpoint.conversion.toStorage(next) : next;
      if (existing) await request.admit('UPDATE', object, existing, inParts);
      return object;
    },
    { strategy: endpoint.strategy, forceAllowCreate: endpoint.subresource === '' },
  );
}

/** Checks an applied configuration once, and gives a fresh copy of it each time: as parsed, not decoded. Throws BadRequest. */
export function appliedReader(context: RequestContext, { kind }: ResourceEndpoint, body: Buffer, options: WriteQuery): () => KubeObject {
  const { value, errors } = parseApplied(body);
  if (value === null || typeof value !== 'object' || Array.isArray(value))
    throw newBadRequest('error decoding YAML: the body is not an object');
  const sent = value as KubeObject;
  if (sent.kind !== kind.kind || sent.apiVersion !== groupVersionString(kind)) {
    throw newBadRequest(`invalid object type: ${sent.apiVersion ?? ''}, Kind=${sent.kind ?? ''}`);
  }
  if (errors.length > 0 && options.fieldValidation === 'Strict') throw newBadRequest(`error strict decoding YAML: ${errors.join(', ')}`);
  if (options.fieldValidation === 'Warn') for (const error of errors) context.warn(error);
  return () => parseApplied(body).value as KubeObject;
}

function parseApplied(body: Buffer): { value: unknown; errors: string[] } {
  try {
    const { value, duplicateError } = parseYaml(body);
    return { value, errors: duplicateError === undefined ? [] : [duplicateError] };
  } catch (error) {
    if (error instanceof DecodeError || (error as Error).name === 'YamlError' || (error as Error).name === 'JsonSyntaxError') {
      throw newBadRequest(`error decoding YAML: error converting YAML to JSON: ${(error as Error).message}`);
    }
    throw error;
  }
}

function newEmptyObject(endpoint: ResourceEndpoint, namespace: string, name: string): KubeObject {
  const { kind, definition } = endpoint;
  return { kind: kind.kind, apiVersion: groupVersionString(kind), metadata: { name, ...(definition.namespaced && { namespace }) } };
}
