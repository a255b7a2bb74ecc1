import { setTimeout } from 'node:timers/promises';
import { isAlreadyExists, isNotFound } from '#apimachinery/api/errors';
import type { GroupVersionResource, KubeObject } from '#apimachinery/meta/types';
import { type ReportGroup, reportResource } from '#apiserver/admission/scan/policy-report';
import type { ReportClient } from '#apiserver/admission/scan/policy-reports';
import { reportDefinitions } from '#apiserver/admission/scan/report-definitions';
import { type Cluster, pathOf } from './cluster.ts';

const manager = 'kubenest-audit';
const definitions = { group: 'apiextensions.k8s.io', version: 'v1', resource: 'customresourcedefinitions' };
/** Time until a new definition is served, in milliseconds. */
const servedMs = 30_000;
const pollMs = 200;

/** Writes the reports of an audit to its cluster by server-side apply. */
export class ClusterReportClient implements ReportClient {
  constructor(private readonly cluster: Cluster) {}

  async list(
    target: GroupVersionResource,
    namespace: string,
    { labelSelector }: { readonly labelSelector: string },
  ): Promise<KubeObject[]> {
    const found: KubeObject[] = [];
    for await (const report of this.cluster.objects(target, namespace, labelSelector)) found.push(report);
    return found;
  }

  apply(target: GroupVersionResource, object: KubeObject, { force }: { readonly force: boolean }): Promise<unknown> {
    const { namespace, name } = object.metadata;
    return this.cluster.send({
      method: 'PATCH',
      path: `${pathOf(target, namespace, name)}?fieldManager=${manager}&force=${force}`,
      headers: { 'content-type': 'application/apply-patch+yaml' },
      body: object,
    });
  }

  async remove(target: GroupVersionResource, namespace: string, name: string): Promise<void> {
    try {
      await this.cluster.send({ method: 'DELETE', path: pathOf(target, namespace, name) });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }

  /** Creates the definitions of reports that do not exist. Resolves once their kinds are served. */
  async install(group: ReportGroup): Promise<void> {
    for (const definition of reportDefinitions(group)) await this.#create(definition);
    for (const namespace of ['', 'any']) await this.#served(reportResource(group, namespace));
  }

  async #create(definition: KubeObject): Promise<void> {
    try {
      await this.cluster.send({ method: 'POST', path: pathOf(definitions), body: definition });
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
    }
  }

  async #served(resource: GroupVersionResource): Promise<void> {
    for (const until = performance.now() + servedMs; ; await setTimeout(pollMs)) {
      try {
        await this.cluster.read(`${pathOf(resource)}?limit=1`);
        return;
      } catch (error) {
        if (!isNotFound(error) || performance.now() > until) throw error;
      }
    }
  }
}
