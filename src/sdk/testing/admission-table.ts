import { describe, expect, it } from 'vitest';
import type { GroupResource, GroupVersionKind, KubeObject } from '#apimachinery/meta/types';
import { parseGroupVersion } from '#apimachinery/meta/types';
import { StatusError } from '#apimachinery/api/errors';
import { AdmissionChain } from '#apiserver/admission/admission-chain';
import { admissionPluginOptions } from '#apiserver/admission/admission-plugin';
import type { AdmissionHandler, AdmissionPluginClass, Attributes, Operation } from '#apiserver/admission/attributes';
import { newPlugin } from '#apiserver/plugins/new-plugin';
import { newServiceContainer, type PluginServices } from '#apiserver/plugins/plugin-services';
import type { UserInfo } from '#apiserver/authentication/authenticator';
import { fakeServices } from './fake-services.ts';

/** One request: a sentence, and what becomes of it: admitted as it is, changed into `want`, or `denied`. */
export interface AdmissionRow {
  readonly name: string;
  readonly object?: KubeObject;
  readonly oldObject?: KubeObject;
  /** CREATE, or UPDATE where there is an old object. */
  readonly operation?: Operation;
  /** Of the object's kind unless named: `widgets`, or with a group where that is another one than the kind's. */
  readonly resource?: string | GroupResource;
  readonly subresource?: string;
  readonly user?: UserInfo;
  readonly dryRun?: boolean;
  /** What the object is afterwards, in part. */
  readonly want?: object;
  /** What the denial says. */
  readonly denied?: RegExp;
  readonly warnings?: readonly string[];
}

/** What the plugin under test gets by injection; the rest are `fakeServices`. */
export interface AdmissionTableOptions extends Partial<PluginServices> {
  readonly configuration?: object;
}

/** Runs a plugin over a table, through the chain: rows that its `match` leaves out pass it by. */
export function admissionTable(
  plugin: AdmissionHandler | AdmissionPluginClass,
  rows: readonly AdmissionRow[],
  { configuration, ...services }: AdmissionTableOptions = {},
): void {
  const instance = typeof plugin === 'function' ? newInstance(plugin, services, configuration) : plugin;
  const chain = new AdmissionChain([instance]);
  describe(instance.constructor.name, () => {
    it.each(rows)('$name', async (row) => {
      const object = structuredClone(row.object ?? row.oldObject) as KubeObject;
      const warnings: string[] = [];
      const request = attributesOf(row, object, warnings);
      const { mutating, validating } = chain.for(request.resource.group, request.resource.resource, request.subresource, request.operation);
      const run = async (): Promise<void> => {
        for (const step of [...mutating, ...validating]) await step.run(request);
      };
      if (row.denied) {
        const error: unknown = await run().then(
          () => undefined,
          (thrown: unknown) => thrown,
        );
        expect(error).toBeInstanceOf(StatusError);
        expect((error as StatusError).status.message).toMatch(row.denied);
      } else {
        await run();
        expect(object).toEqual(row.want ? expect.objectContaining(row.want) : (row.object ?? row.oldObject));
      }
      expect(warnings).toEqual(row.warnings ?? []);
    });
  });
}

function newInstance(Plugin: AdmissionPluginClass, services: Partial<PluginServices>, configuration: object | undefined): AdmissionHandler {
  const { name, configuration: ConfigurationClass } = admissionPluginOptions(Plugin);
  return newPlugin(
    newServiceContainer(fakeServices(services)),
    name,
    Plugin,
    ConfigurationClass && Object.assign(new ConfigurationClass(), configuration),
  );
}

function attributesOf(row: AdmissionRow, object: KubeObject, warnings: string[]): Attributes {
  const kind: GroupVersionKind = { ...parseGroupVersion(object.apiVersion), kind: object.kind };
  return {
    operation: row.operation ?? (row.oldObject ? 'UPDATE' : 'CREATE'),
    kind,
    resource: {
      group: typeof row.resource === 'object' ? row.resource.group : kind.group,
      version: kind.version,
      resource: typeof row.resource === 'object' ? row.resource.resource : (row.resource ?? pluralOf(kind.kind)),
    },
    subresource: row.subresource ?? '',
    namespace: object.metadata.namespace ?? '',
    name: object.metadata.name ?? '',
    object,
    oldObject: row.oldObject,
    options: {},
    dryRun: row.dryRun ?? false,
    user: row.user ?? { name: 'jane', groups: ['system:authenticated'] },
    addAnnotation() {},
    addWarning(text) {
      warnings.push(text);
    },
  };
}

function pluralOf(kind: string): string {
  const lower = kind.toLowerCase();
  return lower.endsWith('s') || lower.endsWith('x') ? `${lower}es` : lower.endsWith('y') ? `${lower.slice(0, -1)}ies` : `${lower}s`;
}
