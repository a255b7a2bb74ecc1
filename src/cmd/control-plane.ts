import type { Scheme } from '#apiserver/registry/scheme';
import type { GenericServer } from '#apiserver/server/generic-server';
import type { StorageFactory } from '#apiserver/registry/storage-factory';
import type { ServerConfig } from './server-config.ts';

export interface ControlPlaneParts {
  readonly server: GenericServer;
  readonly scheme: Scheme;
  readonly storage: StorageFactory;
  readonly config: ServerConfig;
}

/** The duties that the server has in its own cluster. */
export function installControlPlane(_parts: ControlPlaneParts): void {}
