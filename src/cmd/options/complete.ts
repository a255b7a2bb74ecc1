import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { errorMessage, readText } from '#apiserver/base/system-error';
import type { AuditPolicy } from '#apiserver/audit/policy';
import { contributionsOf, type LoadedContribution } from '#apiserver/plugins/loaded-contribution';
import { compileOrigin } from '#apiserver/endpoints/filters/cors';
import type { ContributedGroupOptions } from '#apiserver/registry/contributed-group';
import type { FeatureGates } from '#apiserver/base/feature-gates';
import type { GroupVersionResource } from '#apimachinery/meta/types';
import { checkWritable, makeFolder } from '#apiserver/base/make-folder';
import type { Http2Implementation } from '#apiserver/serving/http2-server';
import type { TlsOptions } from '#apiserver/serving/secure-server';
import type { KeyPair } from '#cmd/certificates/issue';
import { lastCertificate, readKeyPair } from '#cmd/certificates/key-pair-files';
import {
  kubeletClientFiles,
  kubeletClientUser,
  kubeletServingCertificate,
  type OwnCertificates,
  ownCertificates,
  servingCertificateOf,
  requestSigner,
} from '#cmd/certificates/own-certificates';
import type { AggregationConfig, AuthenticationConfig, ServerConfig, StorageConfig, TracingConfig } from '#cmd/server-config';
import { storageVersions } from '#kubernetes/controlplane/storage-versions';
import { defaultControlPlaneOptions } from '#kubernetes/controlplane/control-plane-options';
import { isSelected, selectedControllers } from '#cmd/builtin-controllers';
import { readSchedulerConfiguration } from '#cmd/config/scheduler-configuration';
import type { SchedulerConfiguration } from '#plugins/scheduler/configuration/scheduler-configuration';
import { admissionPlugins } from '#cmd/builtin-plugins';
import { readAdmissionConfiguration } from '#cmd/config/admission-configuration';
import { ownBackends, type StorageOptions } from './storage-options.ts';
import type { Endpoint } from '#apiserver/network/endpoint';
import { type EgressRoutes, readEgressConfiguration } from '#cmd/config/egress-configuration';
import type { KubeletClientConfig } from '#kubernetes/apis/core/kubelet-connection';
import type { KubeletOptions } from './kubelet-options.ts';
import { type EncryptionRule, parseEncryptionConfiguration } from '#cmd/config/encryption-configuration';
import { metricsOf } from './complete-metrics.ts';
import { flagValues } from './flag-values.ts';
import { parseTracingConfiguration } from '#cmd/config/tracing-configuration';
import { auditOf, readAuditPolicy } from './complete-audit.ts';
import { authenticationOf, readBundle } from './complete-authentication.ts';
import { authenticationInfoWatch } from './complete-delegation.ts';
import { authorizersOf } from './complete-authorization.ts';
import type { PodOptions } from './pod-options.ts';
import { DefaultTolerationSecondsConfiguration } from '#plugins/admission/default-toleration-seconds';
import { parsePortRange } from './service-options.ts';
import type { ServerOptions } from './server-options.ts';
import { unknownDisabled } from './admission-options.ts';
import type { NodeOptions } from './node-options.ts';
import { loadConfiguredPlugins, readPluginOptions } from './configured-plugins.ts';
import { PluginReload, type PluginUpdate } from './plugin-reload.ts';
import { OptionsError } from './options-error.ts';
import type { TracingOptions } from './tracing-options.ts';
import { readTls, servingNames, tlsFilesOf, urlOf } from './complete-serving.ts';
import { serviceAccountFlag, serviceAccountsOf } from './complete-service-accounts.ts';
import { storageOf } from './complete-storage.ts';

/** Default of upstream's `--http2-max-streams-per-connection`. */
const defaultHttp2Streams = 100;
const drainMs = 60_000;
/** Upper limit of `--log-flush-frequency`: log lines are written at least this often. */
const longestLogFlushMs = 1_000;

/** Configuration of a server, with the files and reload functions that its owner uses. */
export interface CompletedOptions {
  readonly config: ServerConfig;
  /** URL of the server for clients on this machine. */
  readonly url: string;
  /** Credentials of the administrator, if the server creates its own client certificates. */
  readonly admin: { readonly kubeconfig: string; readonly ca: string; readonly client: KeyPair } | undefined;
  /** Files that `readTls` reads; the owner reloads them when they change. */
  readonly tlsFiles: readonly string[];
  /** Reads the TLS files in their present state. Rejects if they are invalid. */
  readTls(): Promise<TlsOptions>;
  /** Files of the authentication configuration. */
  readonly authenticationFiles: readonly string[];
  readAuthentication(): Promise<AuthenticationConfig>;
  /** Watches the authentication information of another server; undefined without such a server. */
  readonly watchAuthentication: ReturnType<typeof authenticationInfoWatch>;
  /** Files of the encryption configuration. */
  readonly encryptionFiles: readonly string[];
  readEncryption(): Promise<EncryptionRule[]>;
  /** Files of the audit policy; empty if nothing is audited. */
  readonly auditFiles: readonly string[];
  readAudit(): Promise<AuditPolicy>;
  /** Files of the aggregation configuration. */
  readonly aggregationFiles: readonly string[];
  readAggregation(): Promise<AggregationConfig>;
  /** Files of the authorization configuration. */
  readonly authorizationFiles: readonly string[];
  readAuthorization(): Promise<ServerConfig['authorization']>;
  /** The configuration file and the files to which it refers, if it names packages. */
  readonly pluginFiles: readonly string[];
  /** Reads changes of the packages' policies and configurations. */
  readPlugins(): Promise<PluginUpdate>;
  /** Warnings about requested behaviour that the server does not have. */
  readonly warnings: readonly string[];
  /** Removes the files that were created for this process only. */
  dispose(): Promise<void>;
}

/**
 * Reads the files that the options name, and creates certificates where the options name none. Rejects with an OptionsError that contains
 * all problems.
 */
export async function completeOptions(options: ServerOptions): Promise<CompletedOptions> {
  const { serving, data, authentication, requests, shutdown, services, leadership } = options;
  const inMemory = data.ephemeral || options.storage.storageBackend === 'memory';
  const needsOwn = needsOwnCertificates(options);
  const keepsObjects = options.storage.storageBackend === 'embedded' && !inMemory;
  const folder = await dataFolder(options, { inMemory, isUsed: needsOwn || keepsObjects });
  const names = servingNames(options);
  const problems: string[] = [];
  /** Collects the problems of `work`. `what`: prefix of each problem; undefined if the problems name their subject. */
  const collect = async <T>(what: string | undefined, work: Promise<T>): Promise<T | undefined> =>
    work.catch((error: unknown) => {
      for (const line of errorMessage(error).split('\n')) problems.push(what === undefined ? line : `${what}: ${line}`);
      return undefined;
    });

  const ownFolder = join(folder.path, 'pki');
  const scheduler = await collect('--scheduler-config', schedulerOf(options.nodes));
  const own = needsOwn ? await collect(`server certificates in ${ownFolder}`, ownCertificates(ownFolder, names)) : undefined;
  if (serving.certDir !== '' && serving.tlsCertFile === '') await collect('--cert-dir', servingCertificateOf(serving.certDir, names));
  const files = tlsFilesOf(options, ownFolder);
  const tls = own || !needsOwn ? await collect('serving certificates', readTls(serving, files)) : undefined;
  const serviceAccounts = await collect(serviceAccountFlag(options), serviceAccountsOf(options, own?.serviceAccountKey));
  const loaded = await collect('--config', loadConfiguredPlugins(options.plugins));
  if (loaded) problems.push(...unknownDisabled(options.admission, namesOf(loaded)));
  const plugins = loaded && withoutDisabled(loaded, options.admission);
  const pluginReload = new PluginReload(options.plugins, loaded ?? [], () => readPluginOptions(options.plugins.file));
  const groups = contributionsOf(plugins ?? [], 'ApiGroup').map(({ described }) => described.options as ContributedGroupOptions);
  problems.push(...options.apis.errors(groups));
  const frontProxy = usesOwnFrontProxy(options) ? own?.frontProxy : undefined;
  const readAuthentication = (clientCa: string | undefined): Promise<AuthenticationConfig> =>
    authenticationOf(options, { clientCa, issuer: serviceAccounts, frontProxyCa: frontProxy?.ca });
  const authenticated = await collect(undefined, readAuthentication(tls?.clientCa));
  const authorizers = await collect(undefined, authorizersOf(options.authorization, options.delegation));
  const features = withoutApis(options.features.gates(), options);
  if (features.enabled('StorageVersionAPI') && !options.apis.isEnabled(storageVersions))
    problems.push('--feature-gates StorageVersionAPI=true needs --runtime-config=internal.apiserver.k8s.io/v1alpha1=true');
  const { admissionControlConfigFile } = options.admission;
  const admissionConfigurations =
    admissionControlConfigFile === ''
      ? undefined
      : await collect(
          '--admission-control-config-file',
          readAdmissionConfiguration(resolve(admissionControlConfigFile), admissionPlugins, features),
        );
  const audit = await collect(undefined, auditOf(options));
  const tracing = await collect('--tracing-config-file', tracingOf(options.tracing));
  const metrics = await collect(undefined, metricsOf(options));
  const readEncryption = (): Promise<EncryptionRule[] | undefined> => encryptionOf(options.storage);
  const readAggregation = (): Promise<AggregationConfig> => aggregationOf(options.aggregator, frontProxy?.client);
  const aggregation = await collect('--proxy-client-cert-file', readAggregation());
  if (own && options.nodes.areAny && options.kubelet.kubeletClientCertificate === '') {
    const { cert, key } = kubeletClientFiles(ownFolder);
    Object.assign(options.kubelet, { kubeletClientCertificate: cert, kubeletClientKey: key });
  }
  const kubeletPorts = new Set<number>();
  const kubelet = await collect(
    '--kubelet-certificate-authority, --kubelet-client-certificate, --kubelet-client-key',
    kubeletOf(options.kubelet, kubeletPorts),
  );
  const egress = await collect('--egress-selector-config-file', egressOf(options.kubelet));
  const encryption = await collect('--encryption-provider-config', readEncryption());
  const storage = await collect(
    !ownBackends.includes(options.storage.storageBackend)
      ? '--storage-backend'
      : options.storage.storageBackend === 'redis'
        ? '--redis-cafile, --redis-certfile, --redis-keyfile'
        : '--etcd-cafile, --etcd-certfile, --etcd-keyfile',
    storageOf(options.storage, inMemory ? undefined : join(folder.path, 'kubenest.db'), plugins),
  );
  if (serving.kubeconfigOut !== '' && authentication.clientCaFile !== '')
    problems.push("--kubeconfig-out needs a client certificate of the server's own authority; --client-ca-file names another one");
  if (!tls || !authenticated || !authorizers || !storage || problems.length > 0) {
    if (typeof serviceAccounts?.signingKey === 'object') serviceAccounts.signingKey[Symbol.dispose]();
    await folder.dispose();
    throw new OptionsError(problems);
  }

  return {
    config: {
      controllers: selectedControllers(options.controllers.controllers),
      nodeCidrs: options.controllers.nodeCidrs(options.services.serviceClusterIpRange),
      rootCertificateAuthority: own && lastCertificate(String(tls.certificate.cert)),
      signCertificateRequest: own && authentication.clientCaFile === '' ? requestSigner(ownFolder) : undefined,
      storage: {
        ...storage,
        encryption: encryption && { rules: encryption, reloads: options.storage.encryptionProviderConfigAutomaticReload },
      },
      storageInitializationTimeoutMs: options.storage.storageInitializationTimeout,
      serving: {
        ...tls,
        bindAddress: serving.bindAddress,
        port: serving.securePort,
        disableHttp2: serving.disableHttp2Serving,
        http2Server: serving.http2Server as Http2Implementation,
        sharesPort: serving.permitPortSharing,
        workers: serving.servingWorkers,
        maxConcurrentStreams: serving.http2MaxStreamsPerConnection > 0 ? serving.http2MaxStreamsPerConnection : defaultHttp2Streams,
      },
      authentication: authenticated,
      serviceAccounts,
      authorization: { authorizers },
      audit,
      metrics,
      tracing,
      admission: options.admission.enabledPlugins(isStandalone(options)),
      admissionConfigurations: new Map([...defaultTolerations(options.pods), ...(admissionConfigurations ?? [])]),
      disabledPlugins: namesOf(loaded ?? []).filter((name) => options.admission.disableAdmissionPlugins.includes(name)),
      plugins: [...(plugins ?? []), ...(await simulatedNodesOf(options, ownFolder, own, scheduler, kubeletPorts))],
      requests: {
        timeoutMs: requests.requestTimeout,
        minTimeoutSeconds: requests.minRequestTimeout,
        maxInFlight: requests.maxRequestsInflight,
        maxMutatingInFlight: requests.maxMutatingRequestsInflight,
        priorityAndFairness: requests.enablePriorityAndFairness,
        goawayChance: requests.goawayChance,
        traces: requests.requestTraces,
        hstsDirectives: requests.strictTransportSecurityDirectives,
        corsAllowedOrigins: requests.corsAllowedOrigins.map(compileOrigin),
      },
      shutdown: {
        shutdownDelayMs: shutdown.shutdownDelayDuration,
        sendRetryAfter: shutdown.shutdownSendRetryAfter,
        watchGraceMs: shutdown.shutdownWatchTerminationGracePeriod,
        drainMs,
      },
      verbosity: options.logging.v,
      debugging: { profiling: options.features.profiling, flags: () => flagValues(options) },
      allowPrivileged: options.pods.allowPrivileged,
      eventTtlSeconds: Math.round(options.events.eventTtl / 1_000),
      hasGarbageCollection: options.storage.enableGarbageCollector,
      logFlushMs: Math.min(options.logging.logFlushFrequency, longestLogFlushMs),
      serviceClusterIpRange: services.serviceClusterIpRange,
      resourceConfig: options.apis.resourceConfig(),
      features,
      emulation: options.versions.effective(),
      routesToEndpoints: services.enableAggregatorRouting,
      aggregation,
      kubelet,
      egress,
      livezGraceMs: requests.livezGracePeriod,
      externalHostname: serving.externalHostname || undefined,
      controlPlane: {
        serviceNodePortRange: parsePortRange(services.serviceNodePortRange) ?? defaultControlPlaneOptions.serviceNodePortRange,
        advertiseAddress: services.advertiseAddress === '' ? undefined : services.advertiseAddress,
        peerEndpoint: peerEndpointOf(options.aggregator),
        host: defaultControlPlaneOptions.host,
        kubernetesServiceNodePort: services.kubernetesServiceNodePort,
        endpointReconcilerType: services.endpointReconcilerType,
        apiserverCount: services.apiserverCount,
        requestHeader: authenticated.requestHeader,
        leadership: {
          leaseMs: leadership.coordinatedLeadershipLeaseDuration,
          renewMs: leadership.coordinatedLeadershipRenewDeadline,
          retryMs: leadership.coordinatedLeadershipRetryPeriod,
        },
      },
    },
    url: urlOf(serving),
    admin:
      own && authentication.clientCaFile === ''
        ? { kubeconfig: join(folder.path, 'kubeconfig'), ca: lastCertificate(String(tls.certificate.cert)), client: own.admin }
        : undefined,
    tlsFiles: [files.cert, files.key, files.clientCa, ...files.sni.flatMap(({ certFile, keyFile }) => [certFile, keyFile])],
    readTls: () => readTls(serving, files),
    authenticationFiles: [authentication.authenticationConfig].filter(Boolean),
    readAuthentication: () => readAuthentication(tls.clientCa),
    watchAuthentication: authenticationInfoWatch(options.delegation),
    encryptionFiles: options.storage.encryptionProviderConfigAutomaticReload ? [options.storage.encryptionProviderConfig] : [],
    readEncryption: async () => (await readEncryption()) ?? [],
    auditFiles: audit ? [options.audit.auditPolicyFile] : [],
    readAudit: () => readAuditPolicy(options.audit.auditPolicyFile),
    authorizationFiles: [options.authorization.authorizationConfig].filter(Boolean),
    readAuthorization: async () => ({ authorizers: await authorizersOf(options.authorization, options.delegation) }),
    aggregationFiles: aggregationFilesOf(options.aggregator),
    readAggregation,
    pluginFiles: options.plugins.packages.length > 0 ? [options.plugins.file, ...options.plugins.referencedFiles] : [],
    readPlugins: () => pluginReload.read(),
    warnings: options.warnings(),
    async dispose() {
      if (typeof serviceAccounts?.signingKey === 'object') serviceAccounts.signingKey[Symbol.dispose]();
      await folder.dispose();
    },
  };
}

async function schedulerOf({ schedulerConfig }: NodeOptions): Promise<SchedulerConfiguration | undefined> {
  return schedulerConfig === '' ? undefined : readSchedulerConfiguration(resolve(schedulerConfig));
}

/** Loads the simulated nodes. `own`: certificates of the folder; without them, the nodes have no kubelets. */
async function simulatedNodesOf(
  { nodes }: ServerOptions,
  folder: string,
  own: OwnCertificates | undefined,
  scheduler: SchedulerConfiguration | undefined,
  ports: Set<number>,
): Promise<LoadedContribution[]> {
  if (!nodes.areAny) return [];
  const { loadSimulatedNodes } = await import('#cmd/simulated-nodes');
  const kubelet = own && { ...(await kubeletServingCertificate(folder)), clientAuthorities: own.ca, clientName: kubeletClientUser, ports };
  return loadSimulatedNodes({
    nodes: await nodes.all(),
    stages: nodes.stages,
    forwardPorts: nodes.nodeForwardPorts.map(Number),
    kubelet,
    scheduler,
  });
}

/** True if nothing creates service accounts: no controller of this server, and no kube-controller-manager, which needs the key's file. */
function isStandalone({ serviceAccounts, controllers }: ServerOptions): boolean {
  return serviceAccounts.serviceAccountSigningKeyFile === '' && !isSelected(controllers.controllers, 'serviceaccount-controller');
}

/** True if the server creates a key or a certificate for itself. */
function needsOwnCertificates({ authentication, serving, serviceAccounts }: ServerOptions): boolean {
  return (
    authentication.clientCaFile === '' ||
    (serving.tlsCertFile === '' && serving.certDir === '') ||
    (serviceAccounts.serviceAccountSigningKeyFile === '' && serviceAccounts.serviceAccountSigningEndpoint === '')
  );
}

/** Gates that require a served resource whose API is disabled by default. */
const gateApis: Readonly<Record<string, GroupVersionResource>> = {
  CoordinatedLeaderElection: { group: 'coordination.k8s.io', version: 'v1beta1', resource: 'leasecandidates' },
  StorageVersionAPI: storageVersions,
};

/** Disables gates that only the setting of their stage enables and whose API is not served. */
function withoutApis(gates: FeatureGates, { features, apis }: ServerOptions): FeatureGates {
  const isIdle = (name: string): boolean => {
    const api = Object.hasOwn(gateApis, name) ? gateApis[name] : undefined;
    return api !== undefined && !features.isNamed(name) && !apis.isEnabled(api);
  };
  return { enabled: (name) => gates.enabled(name) && !isIdle(name) };
}

/** True if the server's own authority signs front proxies. This requires that the server also creates the client authority. */
function usesOwnFrontProxy({ authentication }: ServerOptions): boolean {
  return authentication.clientCaFile === '' && authentication.requestheaderClientCaFile === '';
}

/** Completes only the store, for commands that use it without a server. Rejects with an OptionsError, also for a store in memory. */
export async function completeStorage({
  data,
  storage,
}: ServerOptions): Promise<{ readonly config: StorageConfig; readonly rules: readonly EncryptionRule[] | undefined }> {
  if (data.ephemeral || storage.storageBackend === 'memory')
    throw new OptionsError(['a store in memory exists only while its server runs']);
  try {
    return {
      config: await storageOf(storage, join(resolve(data.dataDir), 'kubenest.db')),
      rules: await encryptionOf(storage),
    };
  } catch (error) {
    throw new OptionsError([errorMessage(error)]);
  }
}

/** Configurations of the admission plugins that have their own flags. */
function defaultTolerations(options: PodOptions): [name: string, configuration: object][] {
  const configuration = new DefaultTolerationSecondsConfiguration();
  configuration.notReadySeconds = options.defaultNotReadyTolerationSeconds;
  configuration.unreachableSeconds = options.defaultUnreachableTolerationSeconds;
  return [['DefaultTolerationSeconds', configuration]];
}

/** Returns the kubelet client configuration. `ownPorts`: those of the simulated kubelets. Rejects if a file cannot be read. */
async function kubeletOf(options: KubeletOptions, ownPorts: ReadonlySet<number>): Promise<KubeletClientConfig> {
  const { kubeletCertificateAuthority: ca, kubeletClientCertificate: cert, kubeletClientKey: key } = options;
  return {
    ca: ca === '' ? undefined : await readBundle(ca),
    certificate: cert === '' ? undefined : await readKeyPair(cert, key),
    port: options.kubeletPort,
    preferredAddressTypes: options.kubeletPreferredAddressTypes,
    maxBytesPerSecond: options.maxConnectionBytesPerSec || undefined,
    ownPorts,
  };
}

async function egressOf({ egressSelectorConfigFile: file }: KubeletOptions): Promise<EgressRoutes | undefined> {
  return file === '' ? undefined : readEgressConfiguration(await readText(file));
}

async function tracingOf({ tracingConfigFile: file }: TracingOptions): Promise<TracingConfig | undefined> {
  return file === '' ? undefined : parseTracingConfiguration(await readText(file));
}

/** Returns the endpoint of this server for others on the same store; undefined unless both flags are given. */
function peerEndpointOf({ peerAdvertiseIp: host, peerAdvertisePort: port }: ServerOptions['aggregator']): Endpoint | undefined {
  return host === '' || port === '' ? undefined : { host, port: Number(port) };
}

/** Returns the aggregation configuration. `own`: the client certificate to present if the options name none. */
async function aggregationOf(
  { proxyClientCertFile, proxyClientKeyFile, aggregatorRejectForwardingRedirect, peerCaFile }: ServerOptions['aggregator'],
  own: KeyPair | undefined,
): Promise<AggregationConfig> {
  const clientCertificate = proxyClientCertFile === '' ? own : await readKeyPair(proxyClientCertFile, proxyClientKeyFile);
  if (peerCaFile !== '' && !clientCertificate) throw new Error('error building peer proxy handler, proxy-cert-file not specified');
  return {
    clientCertificate,
    rejectsRedirects: aggregatorRejectForwardingRedirect,
    peerCa: peerCaFile === '' ? undefined : await readBundle(peerCaFile),
  };
}

function aggregationFilesOf({ proxyClientCertFile, proxyClientKeyFile, peerCaFile }: ServerOptions['aggregator']): string[] {
  return [proxyClientCertFile, proxyClientKeyFile, peerCaFile].filter(Boolean);
}

/** Returns the names of the admission plugins. */
function namesOf(contributions: readonly LoadedContribution[]): string[] {
  return contributionsOf(contributions, 'AdmissionPlugin').map(({ described }) => described.options.name);
}

/** Removes the admission plugins that `--disable-admission-plugins` names. */
function withoutDisabled(
  contributions: readonly LoadedContribution[],
  { disableAdmissionPlugins }: ServerOptions['admission'],
): LoadedContribution[] {
  return contributions.filter(
    ({ described: { kind, options } }) => kind !== 'AdmissionPlugin' || !disableAdmissionPlugins.includes(options.name),
  );
}

/**
 * Returns the data folder; `path` is absolute. An unused folder is not created. A temporary folder of `--ephemeral` is removed when the
 * process ends.
 */
async function dataFolder(
  { data }: ServerOptions,
  { inMemory, isUsed }: { readonly inMemory: boolean; readonly isUsed: boolean },
): Promise<{ readonly path: string; dispose(): Promise<void> }> {
  if (!isUsed) return { path: resolve(data.dataDir), dispose: async () => {} };
  if (inMemory && data.dataDir === './.kubenest') {
    const path = await mkdtemp(join(tmpdir(), 'kubenest-'));
    return { path, dispose: () => rm(path, { recursive: true, force: true }) };
  }
  const path = resolve(data.dataDir);
  try {
    makeFolder(path, 0o700);
    checkWritable(path);
  } catch (error) {
    throw new OptionsError([`--data-dir ${path}: ${errorMessage(error)}`]);
  }
  return { path, dispose: async () => {} };
}

async function encryptionOf({ encryptionProviderConfig: file }: StorageOptions): Promise<EncryptionRule[] | undefined> {
  return file === '' ? undefined : parseEncryptionConfiguration(await readText(file));
}
