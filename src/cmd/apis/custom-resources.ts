import type { Registry } from 'prom-client';
import type { Installer } from '#apiserver/endpoints/installer';
import type { LoopbackClient } from '#apiserver/registry/loopback-client';
import type { StorageFactory } from '#apiserver/registry/storage-factory';
import type { ApiServerTarget } from '#apiserver/server/api-server-target';
import type { GenericServer } from '#apiserver/server/generic-server';
import type { ServiceResolver } from '#apiserver/server/service-resolver';
import { ConversionMetrics } from '#apiextensions-apiserver/conversion/conversion-metrics';
import { webhookConverterOf } from '#apiextensions-apiserver/conversion/webhook-converter';
import { CustomDocuments } from '#apiextensions-apiserver/openapi/custom-documents';
import { rulesOf } from '#apiextensions-apiserver/cel/rules-of';
import { CustomResourceServer } from '#apiextensions-apiserver/server/custom-resource-server';
import type { Log } from '#cmd/logging/log';
import type { Published } from '#cmd/serving/non-resource-routes';

export interface CustomResourcesParts extends Published {
  readonly server: GenericServer;
  readonly target: ApiServerTarget;
  readonly installer: Installer;
  readonly storage: StorageFactory;
  readonly client: LoopbackClient;
  /** Where webhooks that convert versions are. */
  readonly services: ServiceResolver;
  readonly registry: Registry;
  /** Names (`plural.group`) of resources that packages add. */
  readonly contributed: ReadonlySet<string>;
  readonly log: Pick<Log, 'error'>;
}

/** Serves custom resources from the first moment on: what is defined when the server starts is there before it listens. */
export function installCustomResources(parts: CustomResourcesParts): AsyncDisposable {
  const { server, target, installer, storage, client, services, registry, contributed, log, discovery, openApi } = parts;
  const documents = new CustomDocuments();
  const metrics = new ConversionMetrics(registry);
  const customResources = new CustomResourceServer({
    client,
    contributed,
    installer,
    storage,
    endpoints: target.endpoints,
    rulesOf,
    converterOf: (crd) => webhookConverterOf(crd, services, metrics),
    scale: installer.options.special.get('custom/scale') ?? {},
    onChange(groups, served) {
      discovery.set('custom-resources', groups);
      openApi.set(
        'custom-resources',
        documents.of(served.filter(({ isEstablished }) => isEstablished).flatMap(({ versions }) => versions)),
      );
    },
    onError: (error) =>
      log.error({ reason: error instanceof Error ? error.message : String(error) }, 'a custom resource could not be served'),
  });
  server.hooks.addPostStart({ name: 'start-apiextensions-controllers', run: () => customResources.start() });
  server.hooks.addPostStart({ name: 'crd-informer-synced', run: () => Promise.resolve() });
  return customResources;
}
