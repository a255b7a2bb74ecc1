import { createHash } from 'node:crypto';
import type { GroupVersionResource, KubeObject } from '#apimachinery/meta/types';
import type { PluginVerdict } from './object-scan.ts';
import type { VerdictResult } from './verdict.ts';

/** API group of reports. Both have the same members; viewers read one of them or both. */
export type ReportGroup = 'openreports.io' | 'wgpolicyk8s.io';

interface ReportKinds {
  readonly version: string;
  readonly namespaced: { readonly kind: string; readonly resource: string };
  readonly cluster: { readonly kind: string; readonly resource: string };
  /** True if reports have a member `source`. */
  readonly hasSource: boolean;
}

/** Kinds of reports. Upstream: openreports/reports-api (apis/openreports.io/v1alpha1), kubernetes-sigs/wg-policy-prototypes (v1alpha2). */
export const reportKinds: Readonly<Record<ReportGroup, ReportKinds>> = {
  'openreports.io': {
    version: 'v1alpha1',
    namespaced: { kind: 'Report', resource: 'reports' },
    cluster: { kind: 'ClusterReport', resource: 'clusterreports' },
    hasSource: true,
  },
  'wgpolicyk8s.io': {
    version: 'v1alpha2',
    namespaced: { kind: 'PolicyReport', resource: 'policyreports' },
    cluster: { kind: 'ClusterPolicyReport', resource: 'clusterpolicyreports' },
    hasSource: false,
  },
};

/** Label and value of the reports of scans. */
export const reportLabel = { key: 'app.kubernetes.io/managed-by', value: 'kubenest' } as const;
const source = 'kubenest';

/** A report of the policies that apply to one object. */
export interface PolicyReport extends KubeObject {
  readonly scope: {
    readonly apiVersion: string;
    readonly kind: string;
    readonly name: string;
    readonly namespace?: string;
    readonly uid: string;
  };
  readonly results: readonly ReportResult[];
  readonly summary: Readonly<Record<VerdictResult, number>>;
}

interface ReportResult {
  readonly policy: string;
  readonly rule?: string;
  readonly result: VerdictResult;
  readonly message?: string;
  readonly source: string;
  readonly scored: boolean;
  readonly timestamp: { readonly seconds: number; readonly nanos: number };
  readonly properties: Readonly<Record<string, string>>;
}

/** Returns the resource of reports about objects in a namespace, or outside of namespaces if it is empty. */
export function reportResource(group: ReportGroup, namespace: string): GroupVersionResource {
  const { version, namespaced, cluster } = reportKinds[group];
  return { group, version, resource: (namespace === '' ? cluster : namespaced).resource };
}

/** True if an object needs a report: one of its verdicts is not `pass`. */
export function needsReport(verdicts: readonly PluginVerdict[]): boolean {
  return verdicts.some(({ result }) => result !== 'pass');
}

/** Returns the name of the report about an object. */
export function reportName({ apiVersion, kind, metadata: { uid, namespace = '', name = '' } }: KubeObject): string {
  return uid ?? createHash('sha256').update(`${apiVersion}/${kind}/${namespace}/${name}`).digest('hex').slice(0, 32);
}

/**
 * Returns the report about an object. It is in the object's namespace, has the name of the object's uid, and belongs to the object, so that
 * the garbage collector deletes it with the object.
 */
export function policyReport(group: ReportGroup, object: KubeObject, verdicts: readonly PluginVerdict[], time: Date): PolicyReport {
  const { apiVersion, kind, metadata } = object;
  const { name = '', namespace = '', uid = '' } = metadata;
  const { version, namespaced, cluster, hasSource } = reportKinds[group];
  const summary: Record<VerdictResult, number> = { pass: 0, fail: 0, warn: 0, error: 0, skip: 0 };
  for (const { result } of verdicts) summary[result] += 1;
  const timestamp = { seconds: Math.floor(time.getTime() / 1_000), nanos: 0 };
  return {
    apiVersion: `${group}/${version}`,
    kind: (namespace === '' ? cluster : namespaced).kind,
    metadata: {
      name: reportName(object),
      ...(namespace !== '' && { namespace }),
      labels: { [reportLabel.key]: reportLabel.value },
      ownerReferences: [{ apiVersion, kind, name, uid }],
    },
    ...(hasSource && { source }),
    scope: { apiVersion, kind, name, ...(namespace !== '' && { namespace }), uid },
    results: verdicts.map(({ plugin, policy, rule, result, message }) => ({
      policy,
      ...(rule !== undefined && { rule }),
      result,
      ...(message !== undefined && { message }),
      source,
      scored: result !== 'warn',
      timestamp,
      properties: { plugin },
    })),
    summary,
  };
}
