import 'reflect-metadata';
import type { AddressInfo } from 'node:net';
import type { INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import type { AuditPolicy } from '#apiserver/audit/policy';
import { UnionAuthenticator } from '#apiserver/authentication/union';
import { UnionAuthorizer } from '#apiserver/authorization/union';
import { Scheme } from '#apiserver/registry/scheme';
import { StorageFactory } from '#apiserver/registry/storage-factory';
import { GenericServer } from '#apiserver/server/generic-server';
import type { TlsOptions } from '#apiserver/serving/secure-server';
import { Aggregation } from './apis/aggregation.ts';
import { ContributedGroups } from './apis/contributed-groups.ts';
import type { EncryptionRule } from './config/encryption-configuration.ts';
import { Log } from './logging/log.ts';
import { type AppExtensions, AppModule } from './modules/app.module.ts';
import { StrategyFactory } from './authentication/strategy-factory.ts';
import { AuthorizerFactory } from './authorization/authorizer-factory.ts';
import { Lifetime } from './modules/lifetime.ts';
import type { AggregationConfig, AuthenticationConfig, ServerConfig } from './server-config.ts';
import { ConfiguredAuditing } from './serving/auditing.ts';
import { ClientTrust } from './serving/client-trust.ts';
import { RunningFlowControl } from './serving/flow-control.ts';
import { OpenedStorage } from './storage/opened-storage.ts';

export type { AppExtensions } from './modules/app.module.ts';

/** A server that is put together and not yet started. */
export interface App {
  readonly server: GenericServer;
  readonly nest: INestApplication;
  readonly log: Log;
  readonly storage: StorageFactory;
  readonly scheme: Scheme;
  /** Listens, runs the post-start hooks, and resolves when /readyz would say ok. */
  start(): Promise<AddressInfo | undefined>;
  /** Serves with other certificates from the next handshake on, and trusts other authorities of clients at once. */
  reloadCertificates(tls: TlsOptions): void;
  /** Encrypts by other keys from the next write on; only where something is encrypted. Rejects if a key service is not well. */
  reloadEncryption(rules: readonly EncryptionRule[]): Promise<void>;
  /** Requests that come from now on are audited as this policy says. */
  reloadAudit(policy: AuditPolicy): void;
  /** Asks other authorizers from the next request on. */
  reloadAuthorization(config: ServerConfig['authorization']): void;
  /** Takes tokens of other issuers, and lets strangers in elsewhere, from the next request on. Throws for what needs a start. */
  reloadAuthentication(config: AuthenticationConfig): void;
  /** Shows the servers behind APIServices another certificate from the next connection on. */
  reloadAggregation(config: AggregationConfig): void;
  stop(): Promise<void>;
}

/** Creates a server. Rejects if anything of it cannot be created; nothing is left open then. */
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
    reloadAggregation: ({ clientCertificate }) => nest.get(Aggregation).reloadClientCertificate(clientCertificate),
    stop: () => server.shutDown(),
  };
}
