import { createHash } from 'node:crypto';
import type { GroupVersionResource, KubeObject } from '#apimachinery/meta/types';
import type { PluginVerdict } from './object-scan.ts';
import {
  needsReport,
  type PolicyReport,
  policyReport,
  type ReportGroup,
  reportLabel,
  reportName,
  reportResource,
} from './policy-report.ts';

/** The requests that reports need; a part of RequestClient. */
export interface ReportClient {
  list(target: GroupVersionResource, namespace: string, options: { readonly labelSelector: string }): Promise<readonly KubeObject[]>;
  apply(target: GroupVersionResource, object: KubeObject, options: { readonly force: boolean }): Promise<unknown>;
  remove(target: GroupVersionResource, namespace: string, name: string): Promise<unknown>;
}

interface Known {
  readonly namespace: string;
  readonly name: string;
  /** Digest of the results. */
  readonly digest: string;
  /** True if the object was evaluated since `begin`. */
  isCurrent: boolean;
}

/**
 * The reports of a cluster about the objects that have a verdict other than `pass`: one for each object. Unchanged reports are not written.
 */
export class PolicyReports {
  /** Reports that could not be written or removed since `begin`. The others are right nevertheless. */
  readonly failures: { readonly namespace: string; readonly name: string; readonly error: Error }[] = [];
  /** Stored reports by namespace and name. */
  readonly #known = new Map<string, Known>();

  constructor(
    readonly group: ReportGroup,
    private readonly client: ReportClient,
    private readonly now: () => Date,
  ) {}

  /** Reads the stored reports, before an evaluation of all objects. */
  async begin(): Promise<void> {
    this.failures.length = 0;
    this.#known.clear();
    for (const sample of ['', 'any']) {
      const reports = await this.client.list(reportResource(this.group, sample), '', {
        labelSelector: `${reportLabel.key}=${reportLabel.value}`,
      });
      for (const report of reports) {
        const { namespace = '', name = '' } = report.metadata;
        this.#known.set(`${namespace}/${name}`, { namespace, name, digest: digestOf(report as PolicyReport), isCurrent: false });
      }
    }
  }

  /** Writes or removes the report about an object that was evaluated. Adds to `failures` if it cannot. */
  async update(object: KubeObject, verdicts: readonly PluginVerdict[]): Promise<void> {
    const { namespace = '' } = object.metadata;
    const name = reportName(object);
    const key = `${namespace}/${name}`;
    const known = this.#known.get(key);
    if (!needsReport(verdicts)) return known && this.#remove(key, known);
    const report = policyReport(this.group, object, verdicts, this.now());
    const digest = digestOf(report);
    if (known?.digest === digest) {
      known.isCurrent = true;
      return;
    }
    await this.#tried(namespace, name, async () => {
      await this.client.apply(reportResource(this.group, namespace), report, { force: true });
      this.#known.set(key, { namespace, name, digest, isCurrent: true });
    });
  }

  /** Removes the reports about objects that were not evaluated since `begin`, because they do not exist any more. */
  async removeStale(): Promise<void> {
    const stale = [...this.#known].filter(([, { isCurrent }]) => !isCurrent);
    for (const [key, known] of stale) await this.#remove(key, known);
  }

  #remove(key: string, { namespace, name }: Known): Promise<void> {
    return this.#tried(namespace, name, async () => {
      await this.client.remove(reportResource(this.group, namespace), namespace, name);
      this.#known.delete(key);
    });
  }

  /** A request may fail for one object, for example while its namespace is being deleted. */
  async #tried(namespace: string, name: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.failures.push({ namespace, name, error: error as Error });
    }
  }
}

/** Returns a digest of the scope and results without their times, in a fixed order of members. */
function digestOf({ scope, results = [] }: PolicyReport): string {
  const { apiVersion, kind, name } = scope ?? {};
  const rows = results.map(({ policy, rule, result, message, properties }) => [
    policy,
    rule ?? '',
    result,
    message ?? '',
    properties?.['plugin'],
  ]);
  return createHash('sha256')
    .update(JSON.stringify([apiVersion, kind, name, rows]))
    .digest('base64');
}
