import assert from 'node:assert/strict';
import type { GroupResource, GroupVersionKind, KubeObject } from '#apimachinery/meta/types';
import { parseGroupVersion } from '#apimachinery/meta/types';
import { StatusError } from '#apimachinery/api/errors';
import { AdmissionChain } from '#apiserver/admission/admission-chain';
import { admissionPluginOptions } from '#apiserver/admission/admission-plugin';
import type { AdmissionHandler, AdmissionPluginClass, Attributes } from '#apiserver/admission/attributes';
import type { Operation } from '#apiserver/request/admission-context';
import { newPlugin } from '#apiserver/plugins/new-plugin';
import { newServiceContainer, type PluginServices } from '#apiserver/plugins/plugin-services';
import type { ConnectionOptions } from '#apiserver/registry/kind';
import type { ObjectForms } from '#apiserver/admission/object-forms';
import { Reinvocation } from '#apiserver/admission/reinvocation';
import type { UserInfo } from '#apiserver/request/user-info';
import { readPluginConfiguration } from '#apiserver/plugins/read-configuration';
import { asJson, assertEqual, assertMatches } from './assert-matches.ts';
import { fakeServices } from './fake-services.ts';
import { runner } from './runner.ts';

/** One request and its expected outcome: admitted unchanged, changed to `want`, `denied`, or `fails`. */
export interface AdmissionRow {
  readonly name: string;
  /** The object; for CONNECT, the options of the connection. */
  readonly object?: KubeObject | ConnectionOptions;
  readonly oldObject?: KubeObject;
  /** Default: UPDATE if there is an old object, else CREATE. */
  readonly operation?: Operation;
  /** Default: the resource of the object's kind. `widgets`, or with a group if it differs from the kind's. */
  readonly resource?: string | GroupResource;
  readonly subresource?: string;
  readonly user?: UserInfo;
  readonly dryRun?: boolean;
  /**
   * Members that the admitted object must have, at any depth; lists have as many items, and a member that is null or undefined must be
   * absent.
   */
  readonly want?: object;
  /** Pattern of the denial's message. */
  readonly denied?: RegExp;
  /** Pattern of the message of an error that is not an API Status, which the client receives as 500. */
  readonly fails?: RegExp;
  /** Expected warnings, all of them and in order. Default: none. */
  readonly warnings?: readonly string[];
  /** Expected annotations of the audit event; not checked if undefined. */
  readonly annotations?: Readonly<Record<string, string>>;
}

/** Services that the plugin under test gets by injection; the others are those of `fakeServices`. */
export interface AdmissionTableOptions extends Partial<PluginServices> {
  readonly configuration?: object;
}

/**
 * Runs a plugin over a table through the admission chain, so that its `match` applies. Each row becomes a test of the runner that runs the
 * file, vitest or `node --test`.
 */
export function admissionTable(
  plugin: AdmissionHandler | AdmissionPluginClass,
  rows: readonly AdmissionRow[],
  { configuration, ...services }: AdmissionTableOptions = {},
): void {
  const instance = typeof plugin === 'function' ? newInstance(plugin, services, configuration) : plugin;
  const chain = new AdmissionChain([instance]);
  void runner.describe(instance.constructor.name, () => {
    for (const row of rows) void runner.it(row.name, () => runRow(chain, row));
  });
}

async function runRow(chain: AdmissionChain, row: AdmissionRow): Promise<void> {
  const object = structuredClone(row.object ?? row.oldObject) as KubeObject;
  const warnings: string[] = [];
  const annotations: Record<string, string> = {};
  const request = attributesOf(row, object, warnings, annotations);
  const { mutating, validating } = chain.for(request.resource.group, request.resource.resource, request.subresource, request.operation);
  const run = async (): Promise<void> => {
    for (const step of [...mutating.steps, ...validating.steps]) await step.run(request);
  };
  if (row.fails) {
    const { fails } = row;
    await assert.rejects(run, (error) => {
      assert.ok(error instanceof Error && !(error instanceof StatusError), `a StatusError: ${String(error)}`);
      assert.match(error.message, fails);
      return true;
    });
  } else if (row.denied) {
    const { denied } = row;
    await assert.rejects(run, (error) => {
      assert.ok(error instanceof StatusError, `denied by ${String(error)}, which is not a StatusError`);
      assert.match(error.status.message ?? '', denied);
      return true;
    });
  } else {
    await run();
    if (row.want) assertMatches(row.want, object);
    else assert.deepEqual(asJson(object), asJson(row.object ?? row.oldObject));
  }
  assertEqual('warnings', warnings, row.warnings ?? []);
  if (row.annotations) assertEqual('annotations', annotations, row.annotations);
}

function newInstance(Plugin: AdmissionPluginClass, services: Partial<PluginServices>, configuration: object | undefined): AdmissionHandler {
  const options = admissionPluginOptions(Plugin);
  const own = { configuration: readPluginConfiguration(options, configuration) };
  return newPlugin(newServiceContainer(fakeServices(services)), options.name, Plugin, own);
}

/** Conversions of kinds with one version. */
const plainForms: ObjectForms = {
  equivalents: [],
  convert: (object) => object,
  encode: (object) => JSON.stringify(object),
  decode: (document) => document as KubeObject,
  complete: (object) => object,
  revise: (object) => object,
  shape: () => undefined,
};

function attributesOf(row: AdmissionRow, object: KubeObject, warnings: string[], annotations: Record<string, string>): Attributes {
  // Options of a connection have no metadata.
  const { namespace = '', name = '' } = (object as Partial<KubeObject>).metadata ?? {};
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
    namespace,
    name,
    object,
    oldObject: row.oldObject,
    options: {},
    dryRun: row.dryRun ?? false,
    user: row.user ?? { name: 'jane', groups: ['system:authenticated'] },
    forms: plainForms,
    reinvocation: new Reinvocation(),
    deadline: 0,
    addAnnotation(key, value) {
      annotations[key] = value;
    },
    addWarning(text) {
      warnings.push(text);
    },
  };
}

function pluralOf(kind: string): string {
  const lower = kind.toLowerCase();
  return lower.endsWith('s') || lower.endsWith('x') ? `${lower}es` : lower.endsWith('y') ? `${lower.slice(0, -1)}ies` : `${lower}s`;
}
