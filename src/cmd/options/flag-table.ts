import { readTable } from './tables.ts';

/** A command-line flag; `type` and `default` are written as in pflag's help. */
export interface FlagSpec {
  readonly section: string;
  readonly type: string;
  /** Upstream's default; empty for flags that upstream does not have. */
  readonly default: string;
  /** Default as --help words it, if it depends on the machine. */
  readonly defaultText?: string;
  /** One-letter short form. */
  readonly short?: string;
  readonly deprecated?: true;
  /** True if --help omits the flag. */
  readonly hidden?: true;
  /** Value that /flagz shows for an unset flag, if it is not the default. */
  readonly flagz?: string;
  /** Value of the flag when it is given without one; a bool flag is then true. */
  readonly noValue?: string;
}

/** Flags that upstream does not have. Their defaults are those of the properties of the options classes. */
const own: Readonly<Record<string, Omit<FlagSpec, 'default'>>> = {
  'allocate-node-cidrs': { section: 'Kubenest', type: 'bool' },
  'authentication-kubeconfig': { section: 'Delegation', type: 'string' },
  'authentication-skip-lookup': { section: 'Delegation', type: 'bool' },
  'authentication-tolerate-lookup-failure': { section: 'Delegation', type: 'bool' },
  'authorization-always-allow-paths': { section: 'Delegation', type: 'strings' },
  'authorization-kubeconfig': { section: 'Delegation', type: 'string' },
  'basic-auth-file': { section: 'Authentication', type: 'string', deprecated: true },
  'cluster-cidr': { section: 'Kubenest', type: 'string' },
  config: { section: 'Kubenest', type: 'string' },
  controllers: { section: 'Kubenest', type: 'strings' },
  'data-dir': { section: 'Kubenest', type: 'string' },
  ephemeral: { section: 'Kubenest', type: 'bool' },
  'exit-with-parent': { section: 'Kubenest', type: 'bool' },
  'http2-server': { section: 'Kubenest', type: 'string' },
  'kubeconfig-out': { section: 'Kubenest', type: 'string' },
  'node-cidr-mask-size-ipv4': { section: 'Kubenest', type: 'int' },
  'node-cidr-mask-size-ipv6': { section: 'Kubenest', type: 'int' },
  'node-forward-ports': { section: 'Kubenest', type: 'strings' },
  nodes: { section: 'Kubenest', type: 'int' },
  'redis-accept-data-loss': { section: 'Kubenest', type: 'bool' },
  'redis-cafile': { section: 'Kubenest', type: 'string' },
  'redis-certfile': { section: 'Kubenest', type: 'string' },
  'redis-key-prefix': { section: 'Kubenest', type: 'string' },
  'redis-keyfile': { section: 'Kubenest', type: 'string' },
  'redis-synced-replicas': { section: 'Kubenest', type: 'int' },
  'redis-url': { section: 'Kubenest', type: 'string' },
  'request-traces': { section: 'Kubenest', type: 'int' },
  'scheduler-config': { section: 'Kubenest', type: 'string' },
  'serving-workers': { section: 'Kubenest', type: 'int', defaultText: 'cores - 2, at most 4' },
};

/** Defaults that differ from upstream's, as --help shows them. Upstream's default remains a valid value with its usual meaning. */
export const ownDefaults: Readonly<Record<string, string>> = {
  'authorization-mode': '[RBAC]',
  'bind-address': '127.0.0.1',
  'cert-dir': 'DATA-DIR/pki',
  'service-account-issuer': '[https://kubernetes.default.svc]',
  'service-cluster-ip-range': '10.0.0.0/24',
  'storage-backend': 'embedded',
};

/** Flags of earlier versions that launchers still pass without a value. */
const removed = ['cloud-config', 'cloud-provider'] as const;

/** Types of hidden flags, which upstream's help omits. */
const hiddenTypes: Readonly<Record<string, string>> = { 'audit-webhook-batch-initial-backoff': 'duration' };

type Recorded = Omit<FlagSpec, 'section' | 'type'> & {
  readonly section: string | null;
  readonly type: string | null;
};

/** True for a flag that upstream does not have. */
export function isOwnFlag(name: string): boolean {
  return Object.hasOwn(own, name);
}

/** Returns all flags by name: upstream's, those of earlier versions, and our own. */
export function flagTable(): ReadonlyMap<string, FlagSpec> {
  const flags = new Map<string, FlagSpec>();
  for (const [name, { section, type, ...spec }] of Object.entries(readTable<Record<string, Recorded>>('flags'))) {
    flags.set(name, { ...spec, section: section ?? 'Hidden', type: type ?? hiddenTypes[name] ?? 'int' });
  }
  for (const name of removed) flags.set(name, { section: 'Hidden', type: 'string', default: '', hidden: true, deprecated: true });
  for (const [name, spec] of Object.entries(own)) flags.set(name, { ...spec, default: '' });
  return flags;
}
