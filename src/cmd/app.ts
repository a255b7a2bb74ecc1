import 'reflect-metadata';
import type { AddressInfo } from 'node:net';
import type { INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { AdmissionChain } from '#apiserver/admission/admission-chain';
import type { AuditPolicy } from '#apiserver/audit/policy';
import { UnionAuthenticator } from '#apiserver/authentication/union';
import { UnionAuthorizer } from '#apiserver/authorization/union';
import type { LoadedContribution } from '#apiserver/plugins/loaded-contribution';
import { Scheme } from '#apiserver/registry/scheme';
import { StorageFactory } from '#apiserver/registry/storage-factory';
import { GenericServer } from '#apiserver/server/generic-server';
import type { TlsOptions } from '#apiserver/serving/secure-server';
import { Aggregation } from './apis/aggregation.ts';
import { PeerServers } from './apis/peer-servers.ts';
import { ContributedGroups } from './apis/contributed-groups.ts';
import type { EncryptionRule } from './config/encryption-configuration.ts';
import { Log } from './logging/log.ts';
import { type AppExtensions, AppModule } from './modules/app.module.ts';
import { StrategyFactory } from './authentication/strategy-factory.ts';
import { AuthorizerFactory } from './authorization/authorizer-factory.ts';
import { Controllers } from './controllers/controllers.ts';
import { Lifetime } from './modules/lifetime.ts';
import { PackageAdmission } from './modules/package-admission.ts';
import type { AggregationConfig, AuthenticationConfig, ServerConfig } from './server-config.ts';
import { ConfiguredAuditing } from './serving/auditing.ts';
import { ClientTrust } from './serving/client-trust.ts';
import { RunningFlowControl } from './serving/flow-control.ts';
import { OpenedStorage } from './storage/opened-storage.ts';

export type { AppExtensions } from './modules/app.module.ts';

/** A server that is created but not yet started. */
export interface App {
  readonly server: GenericServer;
  readonly nest: INestApplication;
  readonly log: Log;
  readonly storage: StorageFactory;
  readonly scheme: Scheme;
  /** Listens, runs the post-start hooks, and resolves once /readyz succeeds. */
  start(): Promise<AddressInfo | undefined>;
  /** Runs the controllers until the server stops; called once the server is ready. */
  startControllers(): void;
  /** Uses new certificates from the next handshake on, and new client authorities at once. */
  reloadCertificates(tls: TlsOptions): void;
  /** Uses new encryption keys from the next write on; only for a store with encryption. Rejects if a key service is unhealthy. */
  reloadEncryption(rules: readonly EncryptionRule[]): Promise<void>;
  /** Applies a new audit policy to subsequent requests. */
  reloadAudit(policy: AuditPolicy): void;
  /** Applies new authorizers to subsequent requests. */
  reloadAuthorization(config: ServerConfig['authorization']): void;
  /** Applies new token issuers and anonymous paths to subsequent requests. Throws for changes that require a restart. */
  reloadAuthentication(config: AuthenticationConfig): void;
  /** Presents a new client certificate to the servers behind APIServices on subsequent connections. */
  reloadAggregation(config: AggregationConfig): void;
  /**
   * Applies changed policies and configurations of packages' admission plugins to subsequent requests. Throws, and changes nothing, if a
   * plugin cannot be created.
   */
  reloadPlugins(contributions: readonly LoadedContribution[]): void;
  stop(): Promise<void>;
}

/** Creates a server. Rejects, and leaves nothing open, if a part of it cannot be created. */
export async function createApp(config: ServerConfig, extensions: AppExtensions = {}): Promise<App> {
  const lifetime = new Lifetime();
  try {
    return await assemble(config, extensions, lifetime);
  } catch (error) {
    await lifetime.end();
    throw error;
  }
}

async function assemble(config: ServerConfig, extensions: AppExtensions, lifetime: Lifetime): Promise<App> {
  const root = AppModule.register(config, extensions, lifetime);
  const nest: INestApplication = await NestFactory.create(root, new ExpressAdapter(), { logger: false, abortOnError: false });
  lifetime.belongTo(nest);
  await nest.init();
  const server = nest.get(GenericServer);
  const storage = nest.get(StorageFactory);
  const trust = nest.get(ClientTrust);
  let tls: TlsOptions | undefined = config.serving;
  return {
    server,
    nest,
    storage,
    log: nest.get<Log>(Log),
    scheme: nest.get(Scheme),
    async start() {
      await Promise.all([storage.whenTried(), nest.get(ContributedGroups).whenTried()]);
      nest.get<RunningFlowControl | undefined>(RunningFlowControl)?.follow();
      return server.start();
    },
    startControllers: () => nest.get(Controllers).start(),
    reloadCertificates(next) {
      tls = next;
      trust.readFiles(next);
      server.reloadCertificates(trust.asking(next));
    },
    reloadEncryption: async (rules) => nest.get(OpenedStorage).encryption?.replace(rules),
    reloadAudit: (policy) => nest.get<ConfiguredAuditing>(ConfiguredAuditing)?.policy.replace(policy),
    reloadAuthorization: ({ authorizers }) => nest.get(UnionAuthorizer).replace(nest.get(AuthorizerFactory).make(authorizers)),
    reloadAuthentication(next) {
      trust.follow(next);
      nest.get(UnionAuthenticator).replace(nest.get(StrategyFactory).make(next));
      if (tls) server.reloadCertificates(trust.asking(tls));
    },
    reloadAggregation(next) {
      nest.get(Aggregation).reloadClientCertificate(next.clientCertificate);
      nest.get(PeerServers).reload(next);
    },
    reloadPlugins(contributions) {
      const chain = nest.get(AdmissionChain);
      nest.get(PackageAdmission).replace(
        contributions,
        (replacements) => {
          chain.replace(chain.plugins.map((plugin) => replacements.get(plugin) ?? plugin));
        },
        () => server.requests.earlier(),
      );
    },
    stop: () => server.shutDown(),
  };
}
