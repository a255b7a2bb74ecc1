import { validateSync } from 'class-validator';
import { AdmissionOptions } from './admission-options.ts';
import { AggregatorOptions } from './aggregator-options.ts';
import { ApiEnablementOptions } from './api-enablement-options.ts';
import { AuditLogDeliveryOptions, AuditWebhookDeliveryOptions } from './audit-delivery-options.ts';
import { AuditOptions } from './audit-options.ts';
import { AuthenticationOptions } from './authentication-options.ts';
import { AuthorizationOptions } from './authorization-options.ts';
import { combinationProblems } from './combinations.ts';
import { DataOptions } from './data-options.ts';
import { DelegationOptions } from './delegation-options.ts';
import { EventOptions } from './event-options.ts';
import { FeatureOptions } from './feature-options.ts';
import { flagProperties, warningsOf } from './flag.ts';
import { type FlagSpec, flagTable } from './flag-table.ts';
import { type FlagValue, parseFlagValue } from './flag-value.ts';
import { inertFlags, isUnusual } from './inert-flags.ts';
import { KubeletOptions } from './kubelet-options.ts';
import { LeadershipOptions } from './leadership-options.ts';
import { LoggingOptions } from './logging-options.ts';
import { MetricsOptions } from './metrics-options.ts';
import { OidcOptions } from './oidc-options.ts';
import { parseArguments } from './parse-arguments.ts';
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

/** Everything that is wrong with the options, one sentence each. */
export class OptionsError extends Error {
  constructor(readonly problems: readonly string[]) {
    super(problems.join('\n'));
    this.name = 'OptionsError';
  }
}

/** The options of a server, by concern. A file of kind ServerConfiguration has the same members. */
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
  readonly leadership = new LeadershipOptions();
  readonly versions = new VersionOptions();

  readonly #given = new Set<string>();

  /** Notes that a command line or a configuration file sets the flag, whatever its value. */
  markGiven(flag: string): void {
    this.#given.add(flag);
  }

  /** True for a flag that somebody has set: some defaults depend on others. */
  isGiven(flag: string): boolean {
    return this.#given.has(flag);
  }

  readonly #inert = new Map<string, FlagValue>();

  /** Keeps the value of a flag that changes nothing. */
  setInert(flag: string, value: FlagValue): void {
    this.#inert.set(flag, value);
  }

  /** The value of a flag that changes nothing; undefined if nobody set it. */
  inert(flag: string): FlagValue | undefined {
    return this.#inert.get(flag);
  }

  /** What was asked for and is not done, one sentence each. */
  warnings(): string[] {
    const flags = flagTable();
    const inert = [...this.#inert].filter(([flag, value]) => isUnusual(flags.get(flag) as FlagSpec, value));
    return [
      ...inert.map(([flag]) => `--${flag} has no effect: ${inertFlags.get(flag)?.reason}`),
      ...this.concerns().flatMap(([, concern]) => warningsOf(concern)),
    ];
  }

  /** The parts with their names. */
  concerns(): [name: string, options: object][] {
    return Object.entries(this);
  }
}

/** The names of the command that starts a server. */
export type ServerName = 'kubenest serve' | 'kube-apiserver';

/** The options without flags. Launchers that know `kube-apiserver` expect it on all addresses of the host. */
export function defaultOptions(name: ServerName): ServerOptions {
  const options = new ServerOptions();
  if (name === 'kube-apiserver') options.serving.bindAddress = '0.0.0.0';
  return options;
}

/** The property that a flag sets. */
interface Target {
  readonly options: Record<string, unknown>;
  readonly property: string;
}

/** What a command line asks for beside a server. */
export type ServerCommand = { readonly help: true } | { readonly version: true } | { readonly options: ServerOptions };

/**
 * The options that a command line makes, on top of those of its `--config` file. Throws an OptionsError with all problems
 * at once, of the syntax and of the values. `name`: what the server was
 * started as.
 */
export async function readServerOptions(args: readonly string[], name: ServerName = 'kubenest serve'): Promise<ServerCommand> {
  const flags = flagTable();
  const { texts, errors } = parseArguments(args, flags);
  const isAsked = (name: string): boolean => texts.has(name) && texts.get(name)?.at(-1) !== 'false';
  if (isAsked('help')) return { help: true };
  if (isAsked('version')) return { version: true };

  const options = defaultOptions(name);
  const problems = [...errors];
  const file = texts.get('config')?.at(-1) ?? '';
  if (file !== '') {
    const { readConfigFile } = await import('./config-file.ts');
    problems.push(...(await readConfigFile(file, options, flags)));
  }
  const targets = targetsOf(options);
  for (const [flag, all] of texts) {
    // What is empty was not set: launchers pass all their flags, those without a value too.
    const given = all.filter((text) => text !== '');
    if (given.length === 0 || flag === 'config') continue;
    problems.push(...setFlag(options, { name: flag, spec: flags.get(flag) as FlagSpec, texts: given }, targets.get(flag)));
    options.markGiven(flag);
  }
  // Whoever names an etcd and no backend means that etcd, as with upstream's default backend.
  if (options.storage.etcdServers.length > 0 && !options.isGiven('storage-backend')) options.storage.storageBackend = 'etcd3';
  problems.push(...validate(options), ...combinationProblems(options));
  if (problems.length > 0) throw new OptionsError([...new Set(problems)]);
  return { options };
}

/** The flags that do something, with what they set; each other one is among the refusals. */
export function targetsOf(options: ServerOptions): ReadonlyMap<string, Target> {
  const targets = new Map<string, Target>();
  for (const [, concern] of options.concerns()) {
    for (const [flag, property] of flagProperties(concern)) targets.set(flag, { options: concern as Record<string, unknown>, property });
  }
  return targets;
}

interface GivenFlag {
  readonly name: string;
  readonly spec: FlagSpec;
  readonly texts: readonly string[];
}

/** Sets what the flag sets; returns what is wrong. `target` is undefined for a flag that changes nothing. */
function setFlag(options: ServerOptions, { name, spec, texts }: GivenFlag, target: Target | undefined): string[] {
  let value: FlagValue;
  try {
    value = parseFlagValue(spec.type, texts);
  } catch (error) {
    return [`invalid argument ${JSON.stringify(texts.at(-1))} for --${name}: ${(error as Error).message}`];
  }
  if (target) {
    target.options[target.property] = value;
    return [];
  }
  options.setInert(name, value);
  const problem = inertFlags.get(name)?.problemOf?.(String(value));
  return problem === undefined ? [] : [problem];
}

function validate(options: ServerOptions): string[] {
  return options.concerns().flatMap(([, concern]) => {
    return validateSync(concern, { forbidUnknownValues: false }).flatMap(({ constraints }) =>
      Object.values(constraints ?? {}).flatMap((message) => message.split('\n')),
    );
  });
}
