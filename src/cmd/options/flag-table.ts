import { flagDescriptions } from './flag-descriptions.ts';
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

/**
 * A flag that upstream does not have. `description` is a sentence for --help and docs/reference/flag-list.md; deprecated flags are not
 * shown there.
 */
type OwnFlag = Omit<FlagSpec, 'default'> & { readonly description?: string };

/**
 * Flags that upstream does not have. A row and a property of an options class, with its default, declare such a flag: --help, the reference
 * and the schema of the configuration file follow from these.
 */
const own: Readonly<Record<string, OwnFlag>> = {
  'allocate-node-cidrs': {
    section: 'Kubenest',
    type: 'bool',
    description: 'Gives each node without addresses for its pods a part of `--cluster-cidr`.',
  },
  'authentication-kubeconfig': {
    section: 'Delegation',
    type: 'string',
    description: 'Kubeconfig of an API server that reviews tokens for this one.',
  },
  'authentication-skip-lookup': {
    section: 'Delegation',
    type: 'bool',
    description: 'Does not read the authentication settings of that API server.',
  },
  'authentication-tolerate-lookup-failure': {
    section: 'Delegation',
    type: 'bool',
    description: 'Starts although these settings cannot be read.',
  },
  'authorization-always-allow-paths': {
    section: 'Delegation',
    type: 'strings',
    description: 'Paths that are served without a review by the other API server.',
  },
  'authorization-kubeconfig': {
    section: 'Delegation',
    type: 'string',
    description: 'Kubeconfig of an API server that decides on requests to this one.',
  },
  'basic-auth-file': { section: 'Authentication', type: 'string', deprecated: true },
  'cluster-cidr': {
    section: 'Kubenest',
    type: 'string',
    description: 'Range of the addresses of pods, for `--allocate-node-cidrs`; one for each address family.',
  },
  config: { section: 'Kubenest', type: 'string', description: 'File of kind ServerConfiguration; flags take precedence over it.' },
  controllers: {
    section: 'Kubenest',
    type: 'strings',
    description:
      'Controllers that run in the server: `*` all that run by default, `NAME` this one too, `-NAME` all but this one, `-*` none.',
  },
  'data-dir': { section: 'Kubenest', type: 'string', description: 'Folder of the store, the generated certificates and the kubeconfig.' },
  ephemeral: {
    section: 'Kubenest',
    type: 'bool',
    description: 'Keeps the objects in memory, and generated certificates in a folder that is removed at the end.',
  },
  'exit-with-parent': { section: 'Kubenest', type: 'bool', description: 'Stops the server when the process that started it ends.' },
  'http2-server': { section: 'Kubenest', type: 'string', description: 'Implementation of HTTP/2: `own`, or `node` for node:http2.' },
  'kubeconfig-out': { section: 'Kubenest', type: 'string', description: "Also writes the administrator's kubeconfig to this file." },
  'node-cidr-mask-size-ipv4': {
    section: 'Kubenest',
    type: 'int',
    description: "Prefix length of a node's part of the IPv4 range of `--cluster-cidr`.",
  },
  'node-cidr-mask-size-ipv6': {
    section: 'Kubenest',
    type: 'int',
    description: "Prefix length of a node's part of the IPv6 range of `--cluster-cidr`.",
  },
  'node-forward-ports': {
    section: 'Kubenest',
    type: 'strings',
    description: 'Local ports to which pods on simulated nodes may forward by their annotation.',
  },
  nodes: { section: 'Kubenest', type: 'int', description: 'Number of simulated nodes, on which the server runs pods without containers.' },
  'redis-accept-data-loss': {
    section: 'Kubenest',
    type: 'bool',
    description: 'Starts on a Redis whose settings can lose acknowledged writes.',
  },
  'redis-cafile': { section: 'Kubenest', type: 'string', description: 'Bundle of authorities for the certificate of Redis.' },
  'redis-certfile': { section: 'Kubenest', type: 'string', description: 'Client certificate for Redis.' },
  'redis-key-prefix': { section: 'Kubenest', type: 'string', description: 'Prefix of all keys in Redis.' },
  'redis-keyfile': { section: 'Kubenest', type: 'string', description: 'Private key of the client certificate for Redis.' },
  'redis-synced-replicas': {
    section: 'Kubenest',
    type: 'int',
    description: 'Replicas that must have synced a write before it is acknowledged.',
  },
  'redis-url': { section: 'Kubenest', type: 'string', description: 'URL of Redis: `redis://` or `rediss://`.' },
  'request-traces': { section: 'Kubenest', type: 'int', description: 'Number of writes whose traces are kept at /debug/traces.' },
  'scheduler-config': {
    section: 'Kubenest',
    type: 'string',
    description: 'File of kind KubeSchedulerConfiguration with the profiles of the scheduler that runs with simulated nodes.',
  },
  'serving-workers': {
    section: 'Kubenest',
    type: 'int',
    defaultText: 'cores - 2, at most 4',
    description: 'Threads that terminate connections; 0: the main thread does.',
  },
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

/** Returns the sentence about a flag; empty for one that --help omits. */
export function describeFlag(name: string): string {
  return own[name]?.description ?? flagDescriptions[name] ?? '';
}

/** Returns all flags by name: upstream's, those of earlier versions, and our own. */
export function flagTable(): ReadonlyMap<string, FlagSpec> {
  const flags = new Map<string, FlagSpec>();
  for (const [name, { section, type, ...spec }] of Object.entries(readTable<Record<string, Recorded>>('flags'))) {
    flags.set(name, { ...spec, section: section ?? 'Hidden', type: type ?? hiddenTypes[name] ?? 'int' });
  }
  for (const name of removed) flags.set(name, { section: 'Hidden', type: 'string', default: '', hidden: true, deprecated: true });
  for (const [name, { description: _, ...spec }] of Object.entries(own)) flags.set(name, { ...spec, default: '' });
  return flags;
}
