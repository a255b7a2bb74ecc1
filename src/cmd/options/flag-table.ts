import type { ServerName } from './server-name.ts';
import { defaultServingWorkers } from './serving-options.ts';
import { readTable } from './tables.ts';

/** A command-line flag; `type` and `default` are written as in pflag's help. */
export interface FlagSpec {
  readonly section: string;
  readonly type: string;
  readonly default: string;
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

/** Flags that upstream does not have. */
const own: Readonly<Record<string, FlagSpec>> = {
  'authentication-kubeconfig': { section: 'Delegation', type: 'string', default: '' },
  'authentication-skip-lookup': { section: 'Delegation', type: 'bool', default: 'false' },
  'authentication-tolerate-lookup-failure': { section: 'Delegation', type: 'bool', default: 'false' },
  'authorization-always-allow-paths': { section: 'Delegation', type: 'strings', default: '[/healthz,/readyz,/livez]' },
  'authorization-kubeconfig': { section: 'Delegation', type: 'string', default: '' },
  'basic-auth-file': { section: 'Authentication', type: 'string', default: '', deprecated: true },
  config: { section: 'Kubenest', type: 'string', default: '' },
  'data-dir': { section: 'Kubenest', type: 'string', default: './.kubenest' },
  ephemeral: { section: 'Kubenest', type: 'bool', default: 'false' },
  'exit-with-parent': { section: 'Kubenest', type: 'bool', default: 'false' },
  'http2-server': { section: 'Kubenest', type: 'string', default: 'own' },
  'kubeconfig-out': { section: 'Kubenest', type: 'string', default: '' },
  'redis-accept-data-loss': { section: 'Kubenest', type: 'bool', default: 'false' },
  'redis-cafile': { section: 'Kubenest', type: 'string', default: '' },
  'redis-certfile': { section: 'Kubenest', type: 'string', default: '' },
  'redis-key-prefix': { section: 'Kubenest', type: 'string', default: 'kubenest' },
  'redis-keyfile': { section: 'Kubenest', type: 'string', default: '' },
  'redis-synced-replicas': { section: 'Kubenest', type: 'int', default: '0' },
  'redis-url': { section: 'Kubenest', type: 'string', default: '' },
  'request-traces': { section: 'Kubenest', type: 'int', default: '0' },
  'serving-workers': { section: 'Kubenest', type: 'int', default: String(defaultServingWorkers()) },
};

/** Defaults that differ from upstream's, as --help shows them. Upstream's default remains a valid value with its usual meaning. */
const ownDefaults: Readonly<Record<string, string>> = {
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

/** Returns all flags by name: upstream's, those of earlier versions, and our own. */
export function flagTable(): ReadonlyMap<string, FlagSpec> {
  const flags = new Map<string, FlagSpec>();
  for (const [name, { section, type, ...spec }] of Object.entries(readTable<Record<string, Recorded>>('flags'))) {
    flags.set(name, { ...spec, section: section ?? 'Hidden', type: type ?? hiddenTypes[name] ?? 'int' });
  }
  for (const name of removed) flags.set(name, { section: 'Hidden', type: 'string', default: '', hidden: true, deprecated: true });
  for (const [name, spec] of Object.entries(own)) flags.set(name, spec);
  return flags;
}

/** Returns the effective default of a flag, as help shows it. */
export function shownDefault(name: string, spec: FlagSpec, command: ServerName): string {
  return name === 'bind-address' && command === 'kube-apiserver' ? spec.default : (ownDefaults[name] ?? spec.default);
}
