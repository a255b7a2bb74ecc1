import type { AdmissionHandler } from '#apiserver/admission/attributes';
import type { Authorizer } from '#apiserver/authorization/authorizer';
import type { Informers } from '#apiserver/registry/informers';
import { NamespaceLifecycle } from '#plugins/admission/namespace-lifecycle';
import { AlwaysAllow, AlwaysDeny } from '#plugins/authorization/always';
import { RBAC } from '#plugins/authorization/rbac/rbac';
import type { AuthorizationMode } from './server-config.ts';

/** Admission plugins by name, in the order in which they run. */
export const admissionPlugins: ReadonlyMap<string, new (informers: Informers) => AdmissionHandler> = new Map([['NamespaceLifecycle', NamespaceLifecycle]]);

export const authorizers: Readonly<Record<AuthorizationMode, new (informers: Informers) => Authorizer>> = { AlwaysAllow, AlwaysDeny, RBAC };
