import type { KubeObject } from '#apimachinery/meta/types';
import { deepEqual } from '#apimachinery/runtime/equality';
import { now } from '#apimachinery/runtime/time';
import type { FlowSchema, PriorityLevelConfiguration } from '#kubernetes/schema/flowcontrol_v1.gen';
import { bootstrapTable } from './bootstrap.ts';
import type { LoopbackClient, LoopbackTarget } from '#apiserver/server/loopback-client';

const apiVersion = 'flowcontrol.apiserver.k8s.io/v1';
const group = { group: 'flowcontrol.apiserver.k8s.io', version: 'v1' } as const;
export const priorityLevels: LoopbackTarget = { ...group, resource: 'prioritylevelconfigurations' };
export const flowSchemas: LoopbackTarget = { ...group, resource: 'flowschemas' };
const producer = 'api-priority-and-fairness-config-producer-v1';
const consumer = 'api-priority-and-fairness-config-consumer-v1';
/** `true` if the server maintains the spec, `false` if a user does. */
const autoUpdate = 'apf.kubernetes.io/autoupdate-spec';
/** Mandatory objects, whose specs users cannot take over. */
const mandatory = new Set(['exempt', 'catch-all']);

/**
 * Ensures the mandatory and suggested flow schemas and priority levels: creates missing ones, updates those that no user has taken over,
 * and deletes those that are no longer part of the set. Upstream: registry/flowcontrol/rest/storage_flowcontrol.go,
 * registry/flowcontrol/ensurer.
 */
export async function ensureFlowControl(client: LoopbackClient): Promise<void> {
  const writer = client.as(producer);
  await Promise.all([
    ensureConfigurations(writer, priorityLevels, 'PriorityLevelConfiguration'),
    ensureConfigurations(writer, flowSchemas, 'FlowSchema'),
  ]);
}

async function ensureConfigurations(client: LoopbackClient, target: LoopbackTarget, kind: string): Promise<void> {
  const wanted = bootstrapTable()[`${apiVersion}/${target.resource}`] ?? [];
  const names = new Set(wanted.map(({ metadata }) => metadata.name));
  const removed = client
    .peekAll(target)
    .filter(({ metadata }) => metadata.annotations?.[autoUpdate] === 'true' && !names.has(metadata.name));
  await Promise.all([
    // The table was recorded from a running server, so its status is dropped.
    ...wanted.map(({ status: _, ...object }) =>
      ensureConfiguration(client, target, { ...object, metadata: object.metadata, apiVersion, kind }),
    ),
    ...removed.map(({ metadata }) => client.delete(target, '', metadata.name ?? '')),
  ]);
}

async function ensureConfiguration(client: LoopbackClient, target: LoopbackTarget, wanted: KubeObject): Promise<void> {
  const name = wanted.metadata.name ?? '';
  const present = client.peek(target, '', name);
  if (!present) return client.ensure(target, wanted);
  const isMandatory = mandatory.has(name);
  if (!isMandatory && present.metadata.annotations?.[autoUpdate] !== 'true') return undefined;
  if (present.metadata.annotations?.[autoUpdate] === 'true' && hasWantedSpec(present, wanted)) return undefined;
  await client.update(target, '', name, (object) => ({
    ...object,
    metadata: { ...object.metadata, annotations: { ...object.metadata.annotations, [autoUpdate]: 'true' } },
    spec: wanted['spec'],
  }));
}

/** True if the spec is as wanted. Administrators may set how much the exempt level lends. */
function hasWantedSpec(present: KubeObject, wanted: KubeObject): boolean {
  const spec = present['spec'] as PriorityLevelConfiguration['spec'];
  const isExempt = wanted.kind === 'PriorityLevelConfiguration' && wanted.metadata.name === 'exempt' && spec?.exempt !== undefined;
  return deepEqual(spec, isExempt ? { ...(wanted['spec'] as object), exempt: spec.exempt } : wanted['spec']);
}

/**
 * Sets the condition Dangling of each flow schema: true if its priority level does not exist. Upstream:
 * apiserver/pkg/util/flowcontrol/apf_controller.go.
 */
export async function updateFlowSchemaStatus(client: LoopbackClient): Promise<void> {
  const levels = new Set(client.peekAll(priorityLevels).map(({ metadata }) => metadata.name));
  await Promise.all(
    (client.peekAll(flowSchemas) as FlowSchema[]).map(async (schema) => {
      const level = schema.spec?.priorityLevelConfiguration?.name ?? '';
      const condition = levels.has(level)
        ? {
            type: 'Dangling',
            status: 'False',
            reason: 'Found',
            message: `This FlowSchema references the PriorityLevelConfiguration object named ${JSON.stringify(level)} and it exists`,
          }
        : {
            type: 'Dangling',
            status: 'True',
            reason: 'NotFound',
            message: `This FlowSchema references the PriorityLevelConfiguration object named ${JSON.stringify(level)} but there is no such object`,
          };
      const present = schema.status?.conditions?.find(({ type }) => type === 'Dangling');
      if (present && present.status === condition.status && present.reason === condition.reason && present.message === condition.message)
        return;
      await client.as(consumer).apply({ ...flowSchemas, subresource: 'status' }, {
        apiVersion,
        kind: 'FlowSchema',
        metadata: { name: schema.metadata.name ?? '' },
        status: { conditions: [{ ...condition, lastTransitionTime: now() }] },
      } as KubeObject);
    }),
  );
}

/** Updates the status of flow schemas when they or priority levels change. Changes of one event loop turn are batched. */
export function watchFlowSchemas(client: LoopbackClient, onError: (error: unknown) => void): Disposable {
  let pending = false;
  const update = (): void => {
    if (pending) return;
    pending = true;
    setImmediate(() => {
      pending = false;
      updateFlowSchemaStatus(client).catch(onError);
    });
  };
  const watches = new DisposableStack();
  watches.use(client.informer(priorityLevels).subscribe(update));
  watches.use(client.informer(flowSchemas).subscribe(update));
  return watches;
}
