import type { Registry } from 'prom-client';
import type { Installer } from '#apiserver/endpoints/installer';
import type { LoopbackClient } from '#apiserver/server/loopback-client';
import type { StorageFactory } from '#apiserver/registry/storage-factory';
import type { ApiServerTarget } from '#apiserver/server/api-server-target';
import type { GenericServer } from '#apiserver/server/generic-server';
import type { ServiceResolver } from '#apiserver/network/service-resolver';
import { ConversionMetrics } from '#apiextensions-apiserver/conversion/conversion-metrics';
import { webhookConverterOf } from '#apiextensions-apiserver/conversion/webhook-converter';
import { CustomDocuments } from '#apiextensions-apiserver/openapi/custom-documents';
import { rulesOf } from '#apiextensions-apiserver/cel/rules-of';
import { CustomResourceServer } from '#apiextensions-apiserver/server/custom-resource-server';
import { ServerPart } from '#cmd/modules/server-part';
import type { Log } from '#cmd/logging/log';
import type { Published } from '#cmd/serving/non-resource-routes';

export interface CustomResourcesParts {
  readonly target: ApiServerTarget;
  readonly installer: Installer;
  readonly storage: StorageFactory;
  readonly client: LoopbackClient;
  /** Resolves the conversion webhooks. */
  readonly services: ServiceResolver;
  readonly registry: Registry;
  /** Names (`plural.group`) of resources that packages add. */
  readonly contributed: ReadonlySet<string>;
  readonly log: Pick<Log, 'error'>;
}

/** Serves custom resources. The definitions that exist at startup are served before the server listens. */
@ServerPart()
export class CustomResources implements ServerPart, AsyncDisposable {
  readonly #metrics: ConversionMetrics;
  #server: CustomResourceServer | undefined;

  constructor(private readonly parts: CustomResourcesParts) {
    this.#metrics = new ConversionMetrics(parts.registry);
  }

  install({ hooks }: GenericServer, published: Published): void {
    const customResources = this.#newServer(published);
    this.#server = customResources;
    hooks.addPostStart({ name: 'start-apiextensions-controllers', run: () => customResources.start() });
    // Clients wait for upstream's hook by name. Here, the start of the controllers has already read the definitions.
    hooks.addPostStart({ name: 'crd-informer-synced', run: () => Promise.resolve() });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server?.[Symbol.asyncDispose]();
  }

  #newServer({ discovery, openApi }: Published): CustomResourceServer {
    const { client, contributed, installer, storage, target, services, log } = this.parts;
    const documents = new CustomDocuments();
    return new CustomResourceServer({
      client,
      contributed,
      installer,
      storage,
      endpoints: target.endpoints,
      rulesOf,
      converterOf: (crd) => webhookConverterOf(crd, services, this.#metrics),
      scale: installer.options.special.get('custom/scale') ?? {},
      onChange(groups, served) {
        discovery.set('custom-resources', groups);
        openApi.set(
          'custom-resources',
          documents.of(served.filter(({ isEstablished }) => isEstablished).flatMap(({ versions }) => versions)),
        );
      },
      onError: (error) => log.error({ reason: error instanceof Error ? error.message : String(error) }, 'cannot serve a custom resource'),
    });
  }
}
