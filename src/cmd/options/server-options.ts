import { AdmissionOptions } from './admission-options.ts';
import { AggregatorOptions } from './aggregator-options.ts';
import { ApiEnablementOptions } from './api-enablement-options.ts';
import { AuditLogDeliveryOptions, AuditWebhookDeliveryOptions } from './audit-delivery-options.ts';
import { AuditOptions } from './audit-options.ts';
import { AuthenticationOptions } from './authentication-options.ts';
import { AuthorizationOptions } from './authorization-options.ts';
import { ControllerOptions } from './controller-options.ts';
import { DataOptions } from './data-options.ts';
import { DelegationOptions } from './delegation-options.ts';
import { EventOptions } from './event-options.ts';
import { FeatureOptions } from './feature-options.ts';
import { warningsOf } from './flag.ts';
import { type FlagSpec, flagTable } from './flag-table.ts';
import type { FlagValue } from './flag-value.ts';
import { inertFlags, isUnusual } from './inert-flags.ts';
import { KubeletOptions } from './kubelet-options.ts';
import { LeadershipOptions } from './leadership-options.ts';
import { LoggingOptions } from './logging-options.ts';
import { MetricsOptions } from './metrics-options.ts';
import { NodeOptions } from './node-options.ts';
import { OidcOptions } from './oidc-options.ts';
import { PluginOptions } from './plugin-options.ts';
import { PodOptions } from './pod-options.ts';
import { RequestOptions } from './request-options.ts';
import { ServiceAccountOptions } from './service-account-options.ts';
import { ServiceOptions } from './service-options.ts';
import { ServingOptions } from './serving-options.ts';
import { ShutdownOptions } from './shutdown-options.ts';
import { StorageOptions } from './storage-options.ts';
import { TracingOptions } from './tracing-options.ts';
import { VersionOptions } from './version-options.ts';

/** Options of a server, grouped by concern. A file of kind ServerConfiguration has the same members. */
export class ServerOptions {
  readonly data = new DataOptions();
  readonly serving = new ServingOptions();
  readonly storage = new StorageOptions();
  readonly authentication = new AuthenticationOptions();
  readonly oidc = new OidcOptions();
  readonly serviceAccounts = new ServiceAccountOptions();
  readonly authorization = new AuthorizationOptions();
  readonly delegation = new DelegationOptions();
  readonly audit = new AuditOptions();
  readonly auditLog = new AuditLogDeliveryOptions();
  readonly auditWebhook = new AuditWebhookDeliveryOptions();
  readonly admission = new AdmissionOptions();
  readonly plugins = new PluginOptions();
  readonly requests = new RequestOptions();
  readonly shutdown = new ShutdownOptions();
  readonly logging = new LoggingOptions();
  readonly metrics = new MetricsOptions();
  readonly tracing = new TracingOptions();
  readonly events = new EventOptions();
  readonly services = new ServiceOptions();
  readonly aggregator = new AggregatorOptions();
  readonly kubelet = new KubeletOptions();
  readonly pods = new PodOptions();
  readonly features = new FeatureOptions();
  readonly apis = new ApiEnablementOptions();
  readonly controllers = new ControllerOptions();
  readonly nodes = new NodeOptions();
  readonly leadership = new LeadershipOptions();
  readonly versions = new VersionOptions();

  readonly #given = new Set<string>();

  /** Records that a command line or a configuration file sets the flag, whatever its value. */
  markGiven(flag: string): void {
    this.#given.add(flag);
  }

  /** True if the flag was set explicitly: some defaults depend on others. */
  isGiven(flag: string): boolean {
    return this.#given.has(flag);
  }

  readonly #secret = new Set<string>();

  /** Records that the value of the flag must not be printed. */
  markSecret(flag: string): void {
    this.#secret.add(flag);
  }

  isSecret(flag: string): boolean {
    return this.#secret.has(flag);
  }

  readonly #inert = new Map<string, FlagValue>();

  /** Stores the value of a flag without an effect. */
  setInert(flag: string, value: FlagValue): void {
    this.#inert.set(flag, value);
  }

  /** Returns the value of a flag without an effect; undefined if it is not set. */
  inert(flag: string): FlagValue | undefined {
    return this.#inert.get(flag);
  }

  /** Returns one sentence for each requested behaviour that the server does not have. */
  warnings(): string[] {
    const flags = flagTable();
    const inert = [...this.#inert].filter(([flag, value]) => isUnusual(flags.get(flag) as FlagSpec, value));
    return [
      ...inert.map(([flag]) => `--${flag} has no effect: ${inertFlags.get(flag)?.reason}`),
      ...this.concerns().flatMap(([, concern]) => warningsOf(concern)),
    ];
  }

  /** Returns the option groups with their names. */
  concerns(): [name: string, options: object][] {
    return Object.entries(this);
  }
}
